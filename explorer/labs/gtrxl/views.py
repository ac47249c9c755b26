"""The views of the agent with a memory, from explanations to values of the widgets: pure functions
of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from explorer.components import change_panel, input_bar
from explorer.contract import shared_texts as shared
from explorer.contract.control_kinds import (
    Control,
    ItemsControl,
    LettersControl,
    MenuControl,
    SeedControl,
    SliderControl,
    StopsControl,
    SwitchControl,
    Value,
    spell_value,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, Thumbnail
from explorer.contract.labels import Text, fill_text, write_change_sentence
from explorer.contract.labels import text as _
from explorer.figures.theme import WEIGHTS, colorscale
from explorer.labs.gtrxl import about, texts
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.panels import heads
from explorer.values.packing import convert_to_json, pack_array
from models.gtrxl.records import (
    ALL,
    EXAMPLES,
    PLACES,
    WITH_HEADS,
    Explanation,
    MeasuredSuccess,
    Request,
)

STOPS = (0, 2, 4, 6, 8, 10, 11, 12, 13, 14, 16, 20, 32, 48, 60, 100, ALL)  # of the slider of k
TRAINED = 12  # N of the longest corridor in training
OWN = {"gtrxl": ("gtrxl",)}


def _describe_memory(k: int) -> Text:
    return fill_text(texts.MEMORY_SAYS, n=k)


def _describe_forced(places: Sequence[str]) -> Text:
    return fill_text(texts.FORCED_SAYS, n=len(places))


def list_controls() -> tuple[Control, ...]:
    """Return the controls of all fields."""
    number = {str(k): _(str(k), str(k)) for k in STOPS}
    stops = {k: texts.WHOLE if k == ALL else number[str(k)] for k in STOPS}
    sizes = about.list_sizes()
    return (
        MenuControl("network", texts.NETWORK, names=texts.NETWORKS),
        SliderControl("length", texts.LENGTH),
        MenuControl("above", texts.LAMP, names=texts.LAMPS),
        SliderControl("decoys", texts.DECOYS, step=0.1),
        LettersControl("below", texts.BELOW, hint=texts.BELOW_HINT, placeholder="..B.A"),
        SeedControl("seed", texts.SEED),
        MenuControl("sampled", texts.SAMPLED, names=texts.SAMPLED_NAMES),
        SwitchControl(
            "covered",
            texts.COVERED,
            names=texts.COVERED_NAMES,
            change=True,
            says=lambda _covered: texts.COVERED_SAYS,
        ),
        StopsControl("memory", texts.MEMORY, names=stops, change=True, says=_describe_memory),
        *heads.make_heads_control(
            {name: texts.BRIEF[name] for name in sizes},
            sizes,
            texts.HEAD,
            when={"network": WITH_HEADS},
        ),
        ItemsControl(
            "forced",
            texts.FORCED,
            names=texts.PLACES,
            kept=True,
            change=True,
            says=_describe_forced,
            when={"network": ("gtrxl",)},
        ),
        SliderControl(
            "z",
            texts.LEVEL,
            step=0.01,
            change=True,
            says=lambda z: fill_text(texts.LEVEL_SAYS, z=f"{z:g}"),
            when={"network": ("gtrxl",)},
        ),
    )


first = runs.load_first_once("gtrxl", EXAMPLES[0], Explanation)


def pick(explanation: Explanation, _request: Request) -> Value:
    """Return the head in view on arrival: the one that decides, as silencing has found."""
    if not len(explanation.weights):
        return {}
    layer, head = about.find_deciding_head(explanation.network) or (len(explanation.weights) - 1, 0)
    return {"model": explanation.network, "head": f"{layer + 1}.{head + 1}"}


# ---- a run


def answer(explanation: Explanation, request: Request) -> Value:
    """Return the turn that the agent took, beside the right one."""
    return input_bar.describe_answer(
        f"N = {explanation.length}, {explanation.above.strip('.') or '–'}",
        texts.TURNS[explanation.turn],
        right=explanation.right,
        expected=texts.TURNS[explanation.answer],
        facts=(
            (fill_text(texts.STEPS_TAKEN, n=len(explanation.place)), texts.STEPS_MEAN),
            (
                fill_text(
                    texts.SURE, p=f"{explanation.probability[-1][explanation.action[-1]]:.2f}"
                ),
                texts.SURE_MEANS,
            ),
        ),
    )


def describe_warning(request: Request, explanation: Explanation) -> Text | None:
    """Return what to expect of a run that training did not prepare for."""
    silenced_here = {
        (layer, head) for name, layer, head in request.silenced if name == request.network
    }
    if (
        len(explanation.weights)
        and len(silenced_here) >= explanation.weights.shape[0] * explanation.weights.shape[1]
    ):
        return texts.ALL_OFF
    if not explanation.cue and not request.covered:
        return texts.NO_CUE
    return fill_text(texts.FAR, n=explanation.length) if explanation.length > TRAINED else None


def describe_run(explanation: Explanation, request: Request, state: str) -> Value:
    """Return what every picture of a run holds."""
    silenced_here = [
        [layer, head] for name, layer, head in request.silenced if name == request.network
    ]
    return {
        "query": spell_query(request),
        "state": state,
        "network": request.network,
        "name": dict(texts.BRIEF[request.network]),
        "steps": len(explanation.place),
        "layers": explanation.weights.shape[0],
        "heads": explanation.weights.shape[1],
        "silenced": silenced_here,
        "scale": colorscale(WEIGHTS),
        "pick": pick(explanation, request),
        **{name: getattr(explanation, name) for name in ("length", "cue", "answer", "turn")},
    }


def draw_walk(explanation: Explanation, request: Request, state: str) -> Value:
    """Return the walk from above, with the weights of all heads at every step."""
    return {
        **describe_run(explanation, request, state),
        "above": explanation.above,
        "below": explanation.below,
        "covered": request.covered,
        "memory": request.memory,
        "right": explanation.right,
        "late": explanation.late,
        "place": explanation.place.tolist(),
        "action": explanation.action.tolist(),
        "probability": pack_array(explanation.probability),
        "value": pack_array(explanation.value, unit=False),
        "weights": pack_array(explanation.weights.astype(np.float32), rows=True),
    }


def draw_own(explanation: Explanation, request: Request, state: str) -> Value:
    """Return corridors for a visitor to walk, with the agent's turns."""
    return {
        **describe_run(explanation, request, state),
        "games": convert_to_json(explanation.games),
    }


def draw_gates(explanation: Explanation, request: Request, state: str) -> Value:
    """Return z of every gate, unit and step; no gates where the agent has none."""
    return {
        **describe_run(explanation, request, state),
        "born": about.BORN,
        "names": [dict(texts.PLACES[place]) for place in PLACES[: 2 * len(explanation.gates)]],
        "places": list(PLACES[: 2 * len(explanation.gates)]),
        "forced": list(request.forced),
        "place": explanation.place.tolist(),
        "gates": pack_array(explanation.gates.astype(np.float32)),
    }


def draw_switches(explanation: Explanation, request: Request, state: str) -> Value:
    """Return for each head and gate what it does in this run, and the stored success without it."""
    stored = about.read_stored("switches.json") or {}
    known = stored.get("agents", {}).get(request.network, {})
    silenced_here = {
        (layer, head) for name, layer, head in request.silenced if name == request.network
    }
    rows: list[Value] = []
    layers, count = explanation.weights.shape[:2]
    for at, row in enumerate(known.get("heads", ())[: layers * count]):
        layer, head = divmod(at, count)
        silenced = silenced_here ^ {(layer, head)}
        others = [triple for triple in request.silenced if triple[0] != request.network]
        triples = (*others, *((request.network, *each) for each in sorted(silenced)))
        rows.append(
            {
                "kind": "head",
                "key": f"{layer + 1}.{head + 1}",
                "shown": float(explanation.weights[layer, head, -1, :2].sum()),
                "off": (layer, head) in silenced_here,
                "set": {"silenced": spell_value(triples)},
                **row,
            }
        )
    for at, levels in enumerate(known.get("gates", ())[: 2 * len(explanation.gates)]):
        place = PLACES[at]
        forced = tuple(row for row in PLACES if (row in request.forced) != (row == place))
        rows.append(
            {
                "kind": "gate",
                "key": place,
                "name": dict(texts.PLACES[place]),
                "shown": float(explanation.gates[at // 2, at % 2].mean()),
                "off": place in request.forced,
                "set": {"forced": spell_value(forced)},
                **levels[0],
            }
        )
    return {
        **describe_run(explanation, request, state),
        "rows": rows,
        "n": stored.get("n", 0),
        "cells": stored.get("length", 0),
    }


def draw_cliff(_seen: Explanation, request: Request, _state: str) -> Value | None:
    """Draw success against memory, with the k of the run in view."""
    return about.draw_cliff(request.network, request.memory)


def draw_rates(_found: Any, _question: Any) -> dict[str, object]:
    """Draw the comparison of networks and rates."""
    rates = sorted({row["rate"] for row in about.read_runs()})
    figures = [about.draw_rates(), *map(about.draw_rate, rates)]
    return {
        "figures": [{"figure": row, "when": {}} for row in figures if row],
        "notes": [dict(texts.RATES_NOTE)],
    }


def draw_difference(
    explanations: tuple[Explanation, Explanation],
    measured: tuple[MeasuredSuccess, MeasuredSuccess],
    request: Request,
    changes: Text,
) -> change_panel.Difference:
    """Return the effect of a change: success in other corridors of the same length, before and
    after."""
    (was, now), (held_was, held_now) = explanations, measured
    held = fill_text(texts.CORRIDORS, n=held_was.sample, length=request.length)
    kind = "same" if was.turn == now.turn else "won" if now.right else "lost"
    verdicts = {"same": shared.THE_SAME, "won": shared.NOW_RIGHT}
    verdict = verdicts.get(kind, shared.NOW_WRONG)
    before, after = texts.TURNS[was.turn], texts.TURNS[now.turn]
    return change_panel.Difference(
        change_panel.ChangedNumber(
            held_was.right, held_now.right, scale=100, digits=0, suffix=" %"
        ),
        texts.POINTS,
        (
            change_panel.Row(
                texts.OWN_CORRIDOR,
                texts.TURN,
                "turn",
                before,
                after,
                right=(was.right, now.right),
                verdict=verdict,
                kind=kind,
            ),
            change_panel.Row(
                held, texts.SUCCESS, "success", held_was.right, held_now.right, 100, 0
            ),
            change_panel.Row(held, texts.LATE, "late", held_was.late, held_now.late, 100, 0),
        ),
        write_change_sentence(
            texts.MOVED,
            texts.STAYED,
            held_was.right,
            held_now.right,
            show=lambda share: f"{100 * share:.0f} %",
            changes=changes,
            n=held_was.sample,
        ),
    )


# ---- the family map and the guided steps


def thumbnail(explanation: Explanation) -> Thumbnail:
    """Draw where the heads of the last layer look at the junction of the first result."""
    return Thumbnail(explanation.weights[-1, :, -1].astype(np.float32))


def find_guided_head() -> tuple[int, int]:
    """Return the head of which the steps speak; the last layer's first where nothing is stored."""
    return about.find_deciding_head("gtrxl") or (1, 0)


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views in which the stored run shows
    the point."""
    start, (layer, head) = EXAMPLES[0], find_guided_head()
    deciding = f"{layer + 1}.{head + 1}"
    views_of_steps: dict[str, Shown] = {
        "play": ("", {}, "own"),
        "covered": (spell_query(replace(start, covered=True)), {}, "change", "walk"),
        "lstm": (spell_query(replace(start, network="lstm")), {}, "walk"),
        "lookup": ("", {"head": deciding}, "walk"),
        "cliff": (spell_query(replace(start, memory=11)), {}, "cliff"),
        "silence": (
            spell_query(replace(start, silenced=(("gtrxl", layer, head),))),
            {"head": deciding},
            "switches",
        ),
        "gates": ("", {"gate": "2a"}, "gates"),
        "rates": ("", {"rates": "open"}, ""),
    }
    return build_steps(texts, views_of_steps, deciding=deciding.replace(".", "·"))
