"""The views of attention on graphs, from explanations to values of the widgets: pure functions of
records, no model and no Gradio."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from explorer.components import change_panel, input_bar
from explorer.contract.control_kinds import (
    ChoiceControl,
    Item,
    ItemsControl,
    SeedControl,
    SliderControl,
    TextControl,
    Value,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, Thumbnail
from explorer.contract.labels import Text, fill_text, write_change_sentence
from explorer.figures.curves import Curve
from explorer.figures.graph_places import place_nodes
from explorer.labs.graph_attention import about, texts
from explorer.page import runs
from explorer.page.curves import draw_curve_figure
from explorer.page.guided_steps import Shown, build_steps
from explorer.panels.heads import make_heads_control
from explorer.values.packing import pack_array
from models.graph_attention.records import (
    EXAMPLES,
    SIZES,
    TASKS,
    Array,
    Explanation,
    Measured,
    Request,
)
from models.media.graphs import MOST_EDGES, MOST_NODES
from models.media.notices import describe_changes

GRAPHS = ("cora", "distance", "own")  # tasks with a graph that is drawn
MOST_CUTS = 24  # neighbours beyond which a shift-click in the picture alone cuts an edge
FAR = 7  # stands for every distance above 6

first = runs.load_first_once("graph_attention", EXAMPLES[0], Explanation)


def _describe_cut(nodes: tuple[int, ...]) -> Text:
    return fill_text(texts.CUT_TO, nodes=", ".join(map(str, nodes)))


CONTROLS = (
    ChoiceControl("task", texts.TASK, names=texts.TASKS),
    *(
        ChoiceControl("model", texts.MODEL, names=names, when={"task": tasks})
        for names, tasks in (
            ({name: texts.MODELS[name] for name in ("gat", "gatv2")}, ("cora",)),
            (texts.MODELS, ("dictionary", "own")),
        )
    ),
    ChoiceControl("network", texts.NETWORK, names=texts.NETWORKS, when={"task": ("distance",)}),
    SliderControl("paper", texts.PAPER, when={"task": ("cora",)}),
    ChoiceControl("shape", texts.SHAPE, names=texts.SHAPES, when={"task": ("distance",)}),
    SliderControl("node", texts.NODE, when={"task": ("distance", "own")}),
    SliderControl(
        "nodes",
        texts.NODES,
        when={"task": ("distance",), "shape": ("tree", "path", "ring")},
    ),
    SeedControl("seed", texts.SEED, when={"task": ("dictionary", "distance")}),
    *(
        TextControl(
            "graph",
            texts.GRAPH,
            hint=fill_text(texts.GRAPH_HINT, nodes=MOST_NODES, edges=f"{MOST_EDGES:,}"),
            placeholder="a, b",
            when=when,
        )
        for when in ({"task": ("own",)}, {"task": ("distance",), "shape": ("own",)})
    ),
    ChoiceControl(
        "uniform",
        texts.UNIFORM,
        names=texts.PLACES,
        change=True,
        says=lambda place: fill_text(texts.UNIFORM_IN, place=texts.PLACES[place]),
    ),
    *(
        control
        for task, size in SIZES.items()
        for control in make_heads_control(
            {task: texts.TASKS[task]}, {task: size}, texts.HEAD, when={"task": (task,)}
        )
    ),
    ItemsControl("cut", texts.CUT, change=True, says=_describe_cut, when={"task": GRAPHS}),
    SliderControl(
        "join",
        texts.JOIN,
        names={0: texts.NOTHING},
        change=True,
        says=lambda node: fill_text(texts.JOINED, node=node),
        when={"task": GRAPHS},
    ),
    SliderControl(
        "bias",
        texts.BIAS,
        step=0.25,
        change=True,
        says=lambda factor: fill_text(texts.BIASED, factor=f"{factor:g}"),
        when={"task": ("distance",)},
    ),
)


def items(explanation: Explanation, request: Request) -> dict[str, tuple[Item, ...]]:
    """Return the nodes that are joined to the one in question, whose edges can be cut."""
    if request.task not in GRAPHS:
        return {"cut": ()}
    joined = (
        explanation.pairs[(explanation.pairs == explanation.focus).any(1)].sum(1)
        - explanation.focus
    )
    nodes = sorted({*(joined.tolist() if len(joined) <= MOST_CUTS else ()), *explanation.lost})
    labels = [
        name_answer(explanation, int(explanation.answers[at]))
        if request.task == "cora"
        else explanation.names[at]
        for at in nodes
    ]
    numbers = [str(explanation.ids[at]) for at in nodes]
    return {"cut": tuple(map(Item, numbers, labels))}


# ---- a run


def name_answer(explanation: Explanation, at: int) -> str:
    """Return the name of a class, "–" for none."""
    return explanation.classes[at] if at >= 0 else "–"


def answer(explanation: Explanation, request: Request) -> Value:
    """Return the answer at the node in question; where no network answers, the node that it attends
    to most."""
    given, entropy = explanation.names[explanation.focus], float(explanation.entropy.mean())
    facts = [(fill_text(texts.EVEN, h=f"{entropy:.3f}"), texts.EVEN_MEANS)]
    if not explanation.classes:
        row = explanation.edges[:, 0] == explanation.focus
        most = explanation.edges[row, 1][explanation.weights[:, row].mean(0).argmax()]
        said = explanation.names[most]
        return input_bar.describe_answer(given, said, right=None, expected="", facts=facts)
    at, label = (
        int(explanation.answers[explanation.focus]),
        int(explanation.labels[explanation.focus]),
    )
    p = float(explanation.probabilities[explanation.focus, at])
    sure = fill_text(texts.SURE, p="> 0.99" if 0.995 < p < 1 else f"{p:.2f}")
    return input_bar.describe_answer(
        f"paper {given}" if request.task == "cora" else given,
        name_answer(explanation, at),
        right=explanation.is_right,
        expected=name_answer(explanation, label),
        facts=[(sure, texts.SURE_MEANS), *facts],
    )


def notice(request: Request, explanation: Explanation) -> Text | None:
    """Return how an own graph was read, and that its layer is not trained."""
    said = describe_changes(dict(texts.READ), list(explanation.notices))
    if request.task != "own":
        return said
    parts = [texts.UNTRAINED, *([said] if said else [])]
    return {
        "en": " ".join(each["en"] for each in parts),
        "zh": "".join(each["zh"] for each in parts),
    }


def pick(explanation: Explanation, _request: Request) -> Value:
    """Return the head in view on arrival: on Cora that of the last layer, which decides."""
    return {"head": name_heads(explanation)[-1 if explanation.task == "cora" else 0]}


# ---- the graph


def name_heads(explanation: Explanation) -> list[str]:
    """Return the heads of all layers, "1.3", in the order of the rows of α."""
    return [f"{at + 1}.{head + 1}" for at, n in enumerate(explanation.sizes) for head in range(n)]


def draw_neighbours(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the graph with the attention of the node in question."""
    row = explanation.edges[:, 0] == explanation.focus
    places = place_nodes(explanation.pairs, explanation.focus, explanation.answers)
    distances = explanation.distances[row].tolist() if len(explanation.distances) else []
    label = int(explanation.labels[explanation.focus])
    return {
        "query": spell_query(request),
        "state": state,
        "task": explanation.task,
        "field": "paper" if explanation.task == "cora" else "node",
        "names": list(explanation.names),
        "ids": explanation.ids.tolist(),
        "focus": explanation.focus,
        "classes": list(explanation.classes),
        "label": label,
        "answers": explanation.answers.tolist(),
        "colours": (
            explanation.colours if len(explanation.colours) else explanation.answers
        ).tolist(),
        "x": places[:, 0].round(3).tolist(),
        "y": places[:, 1].round(3).tolist(),
        "pairs": explanation.pairs.tolist(),
        "keys": explanation.edges[row, 1].tolist(),
        "heads": name_heads(explanation),
        "scores": [line.round(4).tolist() for line in explanation.scores[:, row]],
        "weights": [line.round(6).tolist() for line in explanation.weights[:, row]],
        "votes": explanation.votes.round(4).tolist(),
        "entropy": explanation.entropy.round(4).tolist(),
        "chance": explanation.probabilities[explanation.focus].round(4).tolist(),
        "distances": distances,
        "lost": list(explanation.lost),
        "cut": list(request.cut),
        "edges": pack_array(explanation.edges),
        "all": pack_array(explanation.weights),
    }


def draw_ranking(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the rank of each key for each query, and the weights, both in the order of letters, so
    that key i is the right one of query i."""
    half = len(explanation.names) // 2
    letters = np.array([name[0] for name in explanation.names])
    keys, queries = letters[:half].argsort(), half + letters[half:].argsort()

    def order(values: Array) -> list[list[list[float]]]:
        by_query = values.reshape(-1, half, half)[:, queries - half][:, :, keys]
        return by_query.astype(float).round(5).tolist()  # type: ignore[no-any-return]

    return {
        "query": spell_query(request),
        "state": state,
        "keys": [explanation.names[at] for at in keys],
        "queries": [explanation.names[at] for at in queries],
        "heads": name_heads(explanation),
        "answers": (explanation.answers[queries] + 1).tolist(),
        "labels": (explanation.labels[queries] + 1).tolist(),
        "scores": order(explanation.scores),
        "weights": order(explanation.weights),
    }


def draw_bias(explanation: Explanation, _request: Request, _state: str) -> Value | None:
    """Draw the bias that each head learned for each distance; None for a network without one."""
    if not len(explanation.bias):
        return None
    places, names = range(explanation.bias.shape[1]), name_heads(explanation)
    lines = [
        Curve(fill_text(texts.HEAD, name=name), places, row.tolist(), f"var(--cat-{at + 1})")
        for at, (name, row) in enumerate(zip(names, explanation.bias, strict=True))
    ]
    head, at = (
        int(each) for each in np.unravel_index(explanation.bias.argmax(), explanation.bias.shape)
    )
    says = fill_text(
        texts.LEARNED_SAYS,
        head=names[head],
        value=f"{explanation.bias[head, at]:.2f}",
        at=texts.FAR if at == FAR else at,
        mean=f"{np.delete(explanation.bias[head], at).mean():.2f}".replace("-", "−"),
    )
    return draw_curve_figure(
        "distance-bias",
        lines,
        texts.LEARNED_AXES,
        (texts.LEARNED, texts.LEARNED_UNITS, says),
        (texts.DISTANCE,),
        ticks=places,
        names=[*map(str, range(FAR)), texts.FAR["en"]],
    )


def thumbnail(explanation: Explanation) -> Thumbnail:
    """Draw α of all heads for the neighbours of the stored first paper, over the largest."""
    views_of_steps = explanation.weights[: explanation.sizes[0]]
    return Thumbnail((views_of_steps / views_of_steps.max()).astype(np.float32))


# ---- changes


def difference(
    explanations: tuple[Explanation, Explanation],
    measured: tuple[Measured, Measured],
    request: Request,
    what: Text,
) -> change_panel.Difference:
    """Return the effect of a change.

    explanations: the runs without and with it. measured: the network on held-out nodes, without and
        with it.
    """
    was, now = explanations
    entropies = [float(each.entropy.mean()) for each in explanations]
    entropy = change_panel.Row(
        texts.HERE,
        texts.ENTROPY,
        "entropy",
        entropies[0],
        entropies[1],
        digits=4,
    )
    if not was.classes:
        number = change_panel.ChangedNumber(entropies[0], entropies[1], digits=4)
        said = write_change_sentence(
            texts.OWN_MOVES,
            texts.OWN_STAYS,
            *entropies,
            show=lambda value: f"{value:.4f}",
            what=what,
        )
        return change_panel.Difference(number, texts.ENTROPY, (entropy,), said)
    right = int(was.labels[was.focus])
    right = right if right >= 0 else int(was.answers[was.focus])
    before, after = (float(each.probabilities[each.focus, right]) for each in explanations)
    answers = tuple(name_answer(each, int(each.answers[each.focus])) for each in explanations)
    held_was, held_now = measured
    kind = (
        "same"
        if answers[0] == answers[1]
        else "lost"
        if was.is_right
        else "won"
        if now.is_right
        else "other"
    )
    held = fill_text(texts.HELD_OUT, n=held_was.sample)
    answered = change_panel.Row(
        texts.HERE,
        texts.ANSWER,
        "answer",
        answers[0],
        answers[1],
        right=None if was.is_right is None else (bool(was.is_right), bool(now.is_right)),
        verdict=texts.VERDICTS[kind],
        kind=kind,
    )
    said = write_change_sentence(
        texts.MOVES,
        texts.STAYS,
        before,
        after,
        show=lambda value: f"{100 * value:.1f} %",
        what=what,
        n=f"{held_now.sample:,}",
        flips=f"{100 * held_now.flips:.1f} %",
    )
    return change_panel.Difference(
        change_panel.ChangedNumber(before, after, scale=100, digits=2, suffix=" %"),
        texts.POINTS,
        (
            answered,
            _share_row(texts.HERE, texts.CHANCE, "chance", before, after),
            _share_row(held, texts.RIGHT, "heldout_accuracy", held_was.accuracy, held_now.accuracy),
            _share_row(held, texts.FLIPS, "heldout_flips", held_was.flips, held_now.flips),
            entropy,
        ),
        said,
    )


def _share_row(head: Text, name: Text, key: str, before: float, after: float) -> change_panel.Row:
    return change_panel.Row(head, name, key, before, after, scale=100, digits=1)


# ---- guided steps


def list_interventions() -> dict[str, Request]:
    """Return each knob at a telling value, by its name."""
    paper = EXAMPLES[0]
    return {
        "uniform": replace(paper, uniform="all"),
        "silenced": replace(paper, silenced=(("cora", 0, 0),)),
        "cut": replace(paper, cut=(1359,)),
        "join": replace(paper, join=1),
        "bias": replace(EXAMPLES[3], bias=0.0),
    }


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views in which the stored run shows
    the point."""
    by_task = {each.task: each for each in reversed(EXAMPLES)}
    assert set(by_task) == set(TASKS)
    gat, gatv2, distance, path = (spell_query(each) for each in EXAMPLES[1:5])
    views_of_steps: dict[str, Shown] = {
        "paper": ("", {"head": "1.1"}, "neighbours"),
        "sum": ("", {"head": "2.1"}, "neighbours"),
        "uniform": (spell_query(replace(EXAMPLES[0], uniform="all")), {}, "change", "neighbours"),
        "stare": (gat, {}, "ranking"),
        "lookup": (gatv2, {}, "ranking"),
        "distance": (distance, {}, "bias"),
        "path": (path, {}, "neighbours"),
        "own": (spell_query(by_task["own"]), {}, "neighbours"),
    }
    flips = about.facts()["cora"]["figure"]["uniform_flips"]
    return build_steps(texts, views_of_steps, flips=f"{100 * flips:.1f} %")
