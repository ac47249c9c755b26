"""The views of the encoders, from explanations to values of the widgets: pure functions of records,
no model and no Gradio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from explorer.components import input_bar
from explorer.components.figure import describe_drawn_figure
from explorer.contract.control_kinds import (
    ChoiceControl,
    Control,
    ItemsControl,
    MenuControl,
    QuestionControl,
    SeedControl,
    SentenceControl,
    SwitchControl,
    Value,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, Thumbnail
from explorer.contract.labels import Text, fill_text, format_two_digits
from explorer.figures import attention, head_jobs, theme
from explorer.figures.curves import Curve
from explorer.labs.bert import about, texts
from explorer.page import runs
from explorer.page.card_facts import list_sizes
from explorer.page.curves import draw_curve_figure
from explorer.page.guided_steps import build_steps
from explorer.panels.heads import address_cell, draw_thumbnail, make_heads_control
from explorer.values.packing import pack_array
from models.bert.records import (
    EXAMPLES,
    MAX_PIECES,
    OFFERED,
    PATTERNS,
    SIDES,
    Array,
    Explanation,
    Guess,
    Request,
    list_shipped,
)
from models.explaining.request_fields import LAST_SEED

first = runs.load_first_once("bert", EXAMPLES[0], Explanation)


# ---- the input bar


def controls() -> tuple[Control, ...]:
    """Return the controls of the input, then of what may be changed; only for shipped networks."""
    names = {variant: texts.NAMES[variant] for variant in list_shipped() or texts.NAMES}
    ours, theirs = {"variant": ("mlm",)}, {"variant": ("minilm",)}
    return (
        ChoiceControl("variant", texts.VARIANT, names={name: texts.OFFERS[name] for name in names}),
        SentenceControl(
            "text",
            texts.SENTENCE,
            hint=fill_text(texts.LIMIT, n=MAX_PIECES - 2),
            placeholder=EXAMPLES[0].text,
        ),
        QuestionControl("other", texts.OTHER, placeholder=OFFERED[-2].other, when=theirs),
        MenuControl("way", texts.WAY, names=texts.WAYS, when=ours),
        SeedControl("seed", texts.SEED, hint=texts.SEED_HINT, when={**ours, "way": ("draw",)}),
        ItemsControl("hidden", texts.HIDDEN),
        ChoiceControl(
            "side",
            texts.SIDES,
            names=texts.SIDE,
            change=True,
            says=texts.SIDE_SAYS.__getitem__,
            when=ours,
        ),
        SwitchControl(
            "positions",
            texts.POSITIONS,
            names=texts.ON_OFF,
            change=True,
            says=lambda _on: texts.NO_POSITIONS,
        ),
        *make_heads_control(names, list_sizes(about.facts()), texts.HEAD),
    )


def answer(explanation: Explanation, request: Request) -> Value:
    """Return the best guesses, as they stand beside the sentence; for MiniLM the similarity of two
    sentences."""
    given = _join_pieces(explanation.read)
    if explanation.variant == "minilm":
        alike = (
            texts.NO_HEAD
            if explanation.similarity is None
            else fill_text(texts.COSINE, value=format_two_digits(explanation.similarity))
        )
        return input_bar.describe_answer(given, alike, right=None, expected="")
    facts = (
        (
            fill_text(texts.LIKELIHOOD, value=format_two_digits(-float(explanation.nats.sum()))),
            texts.LIKELIHOOD_IS,
        ),
    )
    if not explanation.guesses:
        return input_bar.describe_answer(given, texts.NOTHING, right=None, expected="", facts=facts)
    at = SIDES.index(request.side)
    said, truth = (
        ", ".join(words)
        for words in (
            [one.best[at][0] for one in explanation.guesses],
            [one.truth for one in explanation.guesses],
        )
    )
    return input_bar.describe_answer(
        given,
        said,
        right=all(one.right[at, 0] for one in explanation.guesses),
        expected=truth,
        facts=facts,
    )


def _join_pieces(pieces: Sequence[str]) -> str:
    """Join pieces to a text, without [CLS] and [SEP]."""
    return " ".join(pieces[1:-1]).replace(" ##", "")


def describe_warning(_request: Request, explanation: Explanation) -> Text | None:
    """Return a warning where a sentence lies outside the networks' training data."""
    unknown = int(explanation.unknown.sum())
    return fill_text(texts.RARE, unknown=unknown) if unknown else None


def notice(request: Request, explanation: Explanation) -> Text | None:
    """Return a note that the networks read no capitals, where there are some inside of a
    sentence."""
    inside = any(letter.isupper() for letter in request.text[1:] + request.other[1:])
    return texts.FOLDED if explanation.folded and inside else None


def lines(explanation: Explanation, request: Request) -> tuple[Text, ...]:
    """Return the lines of a run's text file: the sentence as it is read, and the best guess for
    each hidden piece."""
    at = SIDES.index(request.side)
    best = ", ".join(
        f"{one.truth}: {one.best[at][0]} {one.p[at, 0]:.2f}" for one in explanation.guesses
    )
    return tuple({"en": one, "zh": one} for one in (_join_pieces(explanation.read), best) if one)


# ---- the attention of the hidden word


def draw_arrows(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw where each hidden piece looks, and the guesses for it from both sides and from one."""
    hidden = [one.position for one in explanation.guesses]
    side = "right" if request.side == "right" else "left"
    asked = {
        "query": spell_query(request),
        "source": request.text,
        "way": request.way,
        "seed": request.seed,
        "last": LAST_SEED,
        "side": side,
    }
    asked["alone"] = request.side != "both"  # the run itself reads one side
    pieces = {
        "pieces": list(explanation.pieces),
        "read": list(explanation.read),
        "words": explanation.word.tolist(),
        "fates": explanation.drawn.tolist(),
    }
    weights = pack_array(np.moveaxis(explanation.weights[:, :, hidden], 2, 0))
    run = {
        **asked,
        **pieces,
        "allowed": explanation.allowed.tolist(),
        "weights": weights,
        "guesses": [_describe_guess(one, side) for one in explanation.guesses],
    }
    return {
        "state": state,
        **run,
        "pick": {"pos": hidden[0] if hidden else None, "layer": str(len(explanation.weights))},
    }


def _describe_guess(one: Guess, side: str) -> Value:
    """Return the guesses for one hidden piece."""
    sides = [0, SIDES.index(side)]
    both, alone = (
        {
            "pieces": list(one.best[at]),
            "right": one.right[at].tolist(),
            "p": np.round(one.p[at].astype(float), 5).tolist(),
        }
        for at in sides
    )
    true = np.round(one.truth_p[sides].astype(float), 5).tolist()
    return {"pos": one.position, "truth": one.truth, "both": both, "side": alone, "true": true}


# ---- heads


def draw_finder(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw all heads of the pretrained encoder, and what was found in them."""
    rows = [
        {
            **vars(one),
            "name": dict(one.name),
            "here": measure_live(explanation, one),
            "points": one.points_ahead,
        }
        for one in about.list_found()
    ]
    read = {"pieces": list(explanation.pieces), "weights": pack_array(explanation.weights)}
    return {
        "state": state,
        "query": spell_query(request),
        **read,
        "rows": rows,
        "pick": {"head": find_telling_head()},
    }


def find_telling_head() -> str:
    """Return the head in view on arrival: the one that finds its relation best, beyond a fixed
    distance."""
    return max(
        about.list_found(),
        key=lambda one: one.points_ahead or 0,
        default=about.Found("", texts.SINK, "1.1", 0),
    ).head


def measure_live(explanation: Explanation, one: about.Found) -> float | None:
    """Return the mean weight that a head gives to the place of its pattern, over the pieces of the
    sentence in view; None for a relation."""
    layer, head = (int(n) - 1 for n in one.head.split("."))
    return (
        round(float(explanation.patterns[layer, head, PATTERNS.index(one.key)]), 4)
        if one.key in PATTERNS
        else None
    )


def list_attentions(explanation: Explanation) -> list[attention.Kind]:
    """Return the attention of the requested network, plain and times the norm of the values."""
    name, plain = explanation.variant, explanation.weights.astype(np.float32)
    own = attention.Kind(
        name,
        texts.NAMES[name],
        plain,
        explanation.read,
        explanation.read,
        question=texts.QUESTION,
        roles=texts.ROLES,
    )
    label = fill_text(texts.NORM, name=texts.NAMES[name])
    return [
        own,
        replace(
            own, key=f"{name}.norm", label=label, weights=multiply_by_norm(plain, explanation.norms)
        ),
    ]


def multiply_by_norm(weights: Array, norms: Array) -> Array:
    """Return α‖v W_o‖ (Kobayashi et al., 2020), (layer, head, query, key), each row scaled to sum
    to 1. norms: (layer, head, key)."""
    taken = weights * norms[:, :, None, :].astype(np.float32)
    return np.asarray(taken / taken.sum(-1, keepdims=True), np.float32)


def draw_attention(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the attention widget. state: "stored" or "live"."""
    found, jobs = list_attentions(explanation), head_jobs.find_jobs(list_attentions(explanation)[0])
    return attention.draw_attention(
        found,
        pick=_find_first_cell(explanation),
        found=jobs,
        silenced=request.silenced,
        query=spell_query(request),
        state=state,
    )


def _find_first_cell(explanation: Explanation) -> dict[str, Any]:
    """Return the cell that is locked on arrival: for MiniLM in the head that knows most grammar,
    else where a hidden piece looks most."""
    kind = list_attentions(explanation)[0]
    if explanation.variant == "minilm":
        layer, head = (int(one) - 1 for one in find_telling_head().split("."))
        inside = attention.find_telling_cell(
            replace(kind, weights=kind.weights[layer : layer + 1, head : head + 1])
        )
        return {**inside, "layer": layer, "head": head}
    if not explanation.guesses:
        return attention.find_telling_cell(kind)
    row = explanation.guesses[0].position
    looks = kind.weights[:, :, row].copy()
    looks[:, :, [0, row, -1]] = 0
    places = map(int, np.unravel_index(int(looks.argmax()), looks.shape))
    return {
        "kind": kind.key,
        "row": row,
        **dict(zip(("layer", "head", "col"), places, strict=True)),
    }


def pick(explanation: Explanation, _request: Request) -> Value:
    """Return the selection on arrival, as an address names it."""
    return address_cell(_find_first_cell(explanation)) | (
        {"pos": explanation.guesses[0].position} if explanation.guesses else {}
    )


def draw_sink(explanation: Explanation, _request: Request, _state: str) -> Value:
    """Draw the weight that rests on [CLS] in each layer, plain and times the norm of its value."""
    plain = explanation.weights.astype(np.float32)
    each = plain[..., 1:, 0].mean(2)  # (layer, head), [CLS] itself left out
    shares = (each.mean(1), multiply_by_norm(plain, explanation.norms)[..., 1:, 0].mean((1, 2)))
    layer, head = (int(n) for n in np.unravel_index(int(each.argmax()), each.shape))
    at = list(range(1, len(each) + 1))
    looks = ((texts.SINK_WEIGHT, "var(--control)"), (texts.SINK_NORM, "var(--accent)"))
    both = [
        Curve(name, at, values.tolist(), colour)
        for (name, colour), values in zip(looks, shares, strict=True)
    ]
    mean, norm = (f"{one.mean():.2f}" for one in shares)
    told = {
        "mean": mean,
        "norm": norm,
        "head": f"{layer + 1}·{head + 1}",
        "most": f"{each[layer, head]:.2f}",
    }
    says = texts.SINK_SAYS if shares[1].mean() < 0.8 * shares[0].mean() else texts.SINK_SAYS_ALSO
    words = (texts.SINK, texts.SINK_UNITS, fill_text(says, **told))
    return draw_curve_figure(
        "sink",
        both,
        texts.SINK_AXES,
        words,
        texts.SINK_COLUMNS[:1],
        ticks=at,
        up="zero",
        height=210,
    )


def draw_similarity(explanation: Explanation, _request: Request, _state: str) -> Value:
    """Draw the cosine of two sentences, and what each piece of both adds to it."""
    bare = {
        **theme.make_titled_layout(("", "")),
        "margin": {"l": 90, "r": 12, "t": 24, "b": 24},
        "bargap": 0.2,
    }
    if explanation.similarity is None:
        bare |= {"xaxis": {"visible": False}, "yaxis": {"visible": False}}
        words = (texts.SIMILAR, texts.SIMILAR_UNITS, texts.SIMILAR_NONE)
        return describe_drawn_figure(
            "similarity",
            lambda _: {"data": [], "layout": bare},
            words,
            texts.SIMILAR_COLUMNS,
            [],
            height=16,
        )
    sides = [
        (explanation.pieces, explanation.shares.sum(1).astype(float)),
        (explanation.other, explanation.shares.sum(0).astype(float)),
    ]
    most = max(float(np.abs(adds).max()) for _, adds in sides)

    def draw_(language: str) -> Value:
        frame, data = dict(bare), []
        for n, ((pieces, adds), title) in enumerate(
            zip(sides, texts.SIMILAR_AXES[language], strict=True)
        ):
            end, names = "2" if n else "", [f"{piece}·{at}" for at, piece in enumerate(pieces)]
            across = {
                "domain": [0.58 * n, 0.58 * n + 0.42],
                "range": [min(0.0, adds.min()) * 1.2, 1.3 * most],
            }
            top = {"nticks": 4, "anchor": f"y{end}", "side": "top", "fixedrange": True}
            frame |= {
                f"xaxis{end}": {**theme.make_titled_layout((title, ""))["xaxis"], **across, **top}
            }
            frame |= {f"yaxis{end}": {**theme.make_row_axis(names), "anchor": f"x{end}"}}
            bars = {
                "type": "bar",
                "x": adds.tolist(),
                "orientation": "h",
                "xaxis": f"x{end}",
                "yaxis": f"y{end}",
            }
            said = {
                "text": list(map(format_two_digits, adds)),
                "textposition": "outside",
                "cliponaxis": False,
            }
            look = {
                "marker": {"color": ("var(--query)", "var(--key)")[n]},
                "textfont": {"size": 11, "color": "var(--ink2)"},
            }
            data.append(
                {
                    **bars,
                    **said,
                    **look,
                    "customdata": names,
                    "hovertemplate": "%{customdata}: %{x:.3f}<extra></extra>",
                }
            )
        return {"data": data, "layout": frame}

    one, other = (f"“{pieces[adds.argmax()]}” ({adds.argmax()})" for pieces, adds in sides)
    words = (
        texts.SIMILAR,
        texts.SIMILAR_UNITS,
        fill_text(
            texts.SIMILAR_SAYS,
            cosine=format_two_digits(explanation.similarity),
            one=one,
            other=other,
        ),
    )
    table = [
        (name, at, piece, round(float(adds[at]), 4))
        for name, (pieces, adds) in zip((texts.FIRST, texts.SECOND), sides, strict=True)
        for at, piece in enumerate(pieces)
    ]
    return describe_drawn_figure(
        "similarity",
        draw_,
        words,
        texts.SIMILAR_COLUMNS,
        table,
        height=60 + 22 * max(len(explanation.pieces), len(explanation.other)),
    )


# ---- the family map and the guided steps


def thumbnail(explanation: Explanation) -> Thumbnail:
    """Draw the telling head on the stored first sentence, for the family map."""
    return draw_thumbnail(list_attentions(explanation)[0], _find_first_cell(explanation))


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views in which the stored run shows
    the point; none for a network that is not shipped."""
    heads = {one.key: one.head for one in about.list_found()}
    shown_: dict[str, tuple[str, Mapping[str, str], str]] = {
        "left": (spell_query(replace(OFFERED[0], side="left")), {}, "arrows"),
        "both": ("", {}, "arrows"),
        "draw": (spell_query(OFFERED[2]), {}, "arrows"),
        "patterns": (
            spell_query(OFFERED[3]),
            {"head": heads.get("previous", "1.1"), "job": "pattern"},
            "finder",
        ),
        "sink": (spell_query(OFFERED[3]), {"head": heads.get("first", "1.1")}, "sink"),
        "grammar": (
            spell_query(OFFERED[3]),
            {"head": find_telling_head(), "job": "relation"},
            "finder",
        ),
        "vectors": (spell_query(OFFERED[4]), {}, "similarity"),
        "labels": ("", {}, "labelled"),
    }
    there = {"arrows": "mlm" in list_shipped(), "labelled": about.draw_judging() is not None}
    return build_steps(
        texts,
        {key: one for key, one in shown_.items() if there.get(one[2], "minilm" in list_shipped())},
    )
