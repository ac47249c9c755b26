"""The views of the training laboratory, from explanations and stored studies to values of the
widgets: pure functions of records, no model and no Gradio."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from explorer.components.change_panel import ChangedNumber, Difference, Row, show_number_change
from explorer.contract.control_kinds import (
    ChoiceControl,
    Control,
    MenuControl,
    SeedControl,
    StopsControl,
    Value,
    spell_value,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, Thumbnail
from explorer.contract.labels import Text, fill_text
from explorer.figures.theme import WEIGHTS, colorscale
from explorer.labs.twins import about, texts
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.values.packing import convert_to_json, pack_raw
from models.twins.records import (
    EXAMPLES,
    FACTORS,
    HEADS,
    Explanation,
    Frame,
    Request,
)
from models.twins.script import can_be_written, export_parameters, write_script
from models.twins.study_plan import (
    FIELD,
    FIELD_LAYERS,
    FIELD_RATES,
    FIELD_WARMUPS,
    name_band,
)

first = runs.load_first_once("twins", EXAMPLES[0], Explanation)
others = tuple(
    runs.load_first_once("twins", example, Explanation, f"example{at}.npz")
    for at, example in enumerate(EXAMPLES[1:], 1)
)
RATES = (0.0003, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03, 0.1, 0.3)


# ---- the input bar


def _numbers(*values: float) -> dict[float, Text]:
    return {value: dict.fromkeys(("en", "zh"), f"{value:,g}") for value in values}


def controls() -> tuple[Control, ...]:
    """Return the controls of both runs, and of the technique that the twin changes."""
    return (
        ChoiceControl("task", texts.TASK, names=texts.TASKS),
        MenuControl("length", texts.LENGTH, names=_numbers(2, 4, 6, 8, 10, 12, 16)),
        MenuControl("layers", texts.LAYERS, names=_numbers(*range(1, 7))),
        MenuControl("width", texts.WIDTH, names=_numbers(16, 32, 64)),
        MenuControl("rate", texts.RATE, names=_numbers(*RATES)),
        MenuControl("schedule", texts.SCHEDULE, names=texts.SCHEDULES),
        MenuControl("warmup", texts.WARMUP, names=_numbers(0, 20, 50, 100)),
        MenuControl("norm", texts.NORM, names=texts.NORMS),
        MenuControl("batch", texts.BATCH, names=_numbers(4, 8, 16, 32)),
        MenuControl("few", texts.FEW, names=texts.FEWS),
        MenuControl("steps", texts.STEPS_LABEL, names=_numbers(50, 100, 200, 300)),
        MenuControl("seeds", texts.SEEDS, names=_numbers(1, 5)),
        SeedControl("seed", texts.SEED),
        MenuControl(
            "change",
            texts.CHANGE,
            names=texts.CHANGES,
            change=True,
            says=lambda value: texts.CHANGES[value],
        ),
        StopsControl(
            "factor",
            texts.FACTOR,
            names=_numbers(*FACTORS),
            change=True,
            says=lambda value: fill_text(texts.FACTOR_SAYS, n=f"{value:g}"),
        ),
    )


# ---- a run


def name_runs(request: Request) -> list[Text]:
    """Return the names of both runs, or of the only one."""
    if not request.is_twin:
        return [texts.ALONE]
    name = texts.CHANGES[request.change]
    if request.change == "none":
        name = fill_text(texts.FACTOR_SAYS, n=f"{request.factor:g}")
    return [texts.OWN, fill_text(texts.TWIN, name=name)]


def _list_bands(request: Request) -> list[Value | None]:
    """Return the stored bands of the runs, None for a run that no study has trained."""
    known = about.load_studies()["bands"]
    bands: list[Value | None] = []
    alone = replace(request, change="none", factor=1.0)
    for side in (alone, request)[: len(request.list_techniques())]:
        losses = known.get(name_band(side))
        if losses is None:
            bands.append(None)
            continue
        steps = [round(at * side.steps / (len(losses) - 1)) for at in range(len(losses))]
        bands.append(
            {"steps": steps, "low": list(map(min, losses)), "high": list(map(max, losses))}
        )
    return bands


def _without_nan(values: Any) -> Any:
    """Return nested lists of numbers, None for what is no number."""
    if isinstance(values, np.ndarray):
        return _without_nan(values.tolist())
    if isinstance(values, list):
        return [_without_nan(value) for value in values]
    return None if math.isnan(values) else round(values, 5)


def _frame(request: Request, state: str, **values: Any) -> Value:
    value: Value = convert_to_json(values)
    return {"query": spell_query(request), "state": state, **value}


def _stack(frames: Sequence[Frame], name: str) -> Any:
    return np.stack([getattr(frame, name) for frame in frames])


def _draw_losses(run: Mapping[str, Any], request: Request, state: str, **more: Any) -> Value:
    return _frame(
        request,
        state,
        names=name_runs(request),
        bands=_list_bands(request),
        of=request.steps,
        **{key: _without_nan(run[key]) for key in ("loss", "right", "rate")},
        steps=[int(step) for step in run["steps"]],
        **more,
    )


def draw_curves(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw both losses over their bands, and the rates; with the weights and the scripts."""
    run = {key: getattr(explanation, key) for key in ("steps", "loss", "right", "rate")}
    scripts = [
        write_script(run_, request.shape, request.steps, request.seed)
        if can_be_written(run_)
        else None
        for run_ in request.list_techniques()
    ]
    weights, names = export_parameters(explanation.state, request.shape)
    return _draw_losses(
        run,
        request,
        state,
        broke=explanation.broke.tolist(),
        stopped=explanation.stopped,
        scripts=scripts,
        parameters=names,
    ) | {"trained": pack_raw(np.nan_to_num(weights))}


def draw_partial_curves(frames: Sequence[Frame], request: Request) -> Value:
    """Draw both losses while they grow."""
    run = {key: _stack(frames, key) for key in ("loss", "right", "rate")}
    broke = [[frames[-1].step] * request.seeds for _ in request.list_techniques()]
    run["steps"] = [frame.step for frame in frames]
    return _draw_losses(run, request, "running", broke=broke, stopped=False)


def find_telling_head(weights: Any, task: str) -> str:
    """Return the head to look at first, "2.3": of reversing the one with most weight on the
    anti-diagonal, else the sharpest. weights: (layer, head, query, key)."""
    mirrored = np.trace(weights[..., ::-1], axis1=2, axis2=3)
    telling = mirrored if task == "reverse" else weights.max(-1).mean(-1)
    layer, head = np.unravel_index(int(telling.argmax()), telling.shape)
    return f"{layer + 1}.{head + 1}"


def _draw_inside(
    request: Request, state: str, steps: Sequence[int], norms: Any, weights: Any
) -> Value:
    given, answers = about.find_shown_sequence(request.task, request.length)
    parts = [
        texts.EMBEDDING,
        *(fill_text(texts.LAYER, n=at + 1) for at in range(request.layers)),
        texts.OUTPUT,
    ]
    return _frame(
        request,
        state,
        names=name_runs(request),
        steps=[int(step) for step in steps],
        norms=np.nan_to_num(norms, posinf=1e9).round(9).tolist(),
        parts=parts,
        layers=request.layers,
        heads=HEADS,
        kept=len(weights),
        task=request.task,
        pick=find_telling_head(weights[-1, 0], request.task),
        digits=given,
        wanted=answers,
        scale=colorscale(WEIGHTS),
    ) | {"weights": pack_raw((weights * 255).round().astype(np.uint8), 1 / 255)}


def draw_inside(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the gradient norms and the head's maps."""
    weights = explanation.weights.astype(np.float32)
    return _draw_inside(request, state, explanation.steps.tolist(), explanation.norms, weights)


def draw_partial_inside(frames: Sequence[Frame], request: Request) -> Value:
    """Draw the gradient norms so far, and the newest maps."""
    weights = frames[-1].weights[None].astype(np.float32)
    steps = [frame.step for frame in frames]
    return _draw_inside(request, "running", steps, _stack(frames, "norms"), weights)


def draw_field(_seen: Any, request: Request, state: str) -> Value:
    """Draw the stored outcomes; a cell asks for its own run."""
    right = np.array(about.load_studies()["field"]["right"]).mean(-1)
    panels = right.reshape(-1, *right.shape[2:])
    asked = {
        **{name: getattr(FIELD, name) for name in ("task", "length", "width", "schedule")},
        **{name: getattr(FIELD, name) for name in ("batch", "few", "steps", "change", "factor")},
    }
    sets = [
        {name: spell_value(value) for name, value in (asked | panel).items()}
        for norm in ("post", "pre")
        for panel in ({"norm": norm, "warmup": warmup} for warmup in FIELD_WARMUPS)
    ]
    near = [abs(math.log(rate / request.rate)) for rate in FIELD_RATES]
    deep = [abs(layers - request.layers) for layers in FIELD_LAYERS]
    cell = deep.index(min(deep)) * len(FIELD_RATES) + near.index(min(near))
    inks = [
        [["var(--panel)" if x < 0.55 else "var(--ink)" for x in row] for row in p] for p in panels
    ]
    return _frame(
        request,
        state,
        right=panels.round(4).tolist(),
        rates=list(FIELD_RATES),
        layers=list(FIELD_LAYERS),
        set=sets,
        pick=cell,
        inks=inks,
        scale=colorscale(WEIGHTS),
    )


# ---- in words


def progress(frames: Sequence[Frame], request: Request) -> Text:
    """Return the sentence that says how far the training has come."""
    return fill_text(texts.PROGRESS, n=frames[-1].step if frames else 0, of=request.steps)


def notice(request: Request, explanation: Explanation) -> Text | None:
    """Return the sentence about a run that broke."""
    for kind, steps in enumerate(explanation.broke.tolist()):
        if any(steps):
            return fill_text(texts.BROKE, run=kind + 1, n=max(steps))
    return None


def describe_change(
    explanations: tuple[Explanation, Explanation],
    _measured: tuple[Any, Any],
    _request: Request,
    what: Text,
) -> Difference:
    """Return what the technique did: both runs were trained in one program, so both results of
    `explanations` are that program's."""
    run = explanations[1]
    means = {
        "right": np.nan_to_num(run.right[-1]).mean(-1),
        "whole": run.whole.mean(-1),
        "calibration": run.calibration.mean(-1),
    }
    sides = {key: [float(x) for x in each] for key, each in means.items()}
    rows = [
        Row(texts.ROWS, texts.ROW[key], key, *_scale(sides[key], scale), digits=digits)
        for key, scale, digits in (("right", 100, 1), ("whole", 100, 1), ("calibration", 1, 3))
    ]
    before, after = sides["right"]
    number = ChangedNumber(before, after, scale=100, digits=1, suffix=" %")
    return show_number_change(
        number, texts.POINTS, rows, texts.MOVES, texts.STAYS, show=about.format_percent, what=what
    )


def _scale(both: Sequence[float], scale: float) -> tuple[float, float]:
    before, after = both
    return before * scale, after * scale


# ---- the family map and the guided steps

SIDE = 48  # cells along an edge of the picture on the family map


def thumbnail(explanation: Explanation) -> Thumbnail:
    """Draw the stored run: both losses as curves."""
    picture = np.full((SIDE, SIDE), np.nan, np.float32)
    across = np.arange(SIDE)
    top = float(np.nanmax(explanation.loss))
    for kind in range(explanation.loss.shape[1]):
        places = explanation.steps / explanation.steps[-1] * (SIDE - 1)
        losses = np.interp(across, places, np.nan_to_num(explanation.loss[:, kind, 0], nan=top))
        up = np.round(losses / top * (SIDE - 4)).astype(int)
        for thick in (0, 1):
            picture[SIDE - 2 - up + thick, across] = 0.95 if kind else 0.35
    return Thumbnail(picture)


@cache
def _spell_examples() -> list[str]:
    return [spell_query(example) for example in EXAMPLES]


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: runs as links, and the figure that each speaks about."""
    first(), about.load_studies()  # a lab whose files cannot be read has no steps, and is closed
    _, constant, reverse, deep, few = _spell_examples()
    places: dict[str, Shown] = {
        "falls": (constant, {}, "curves"),
        "rate": ("", {}, "field"),
        "deep": ("", {"cell": "17"}, "field"),
        "pre": (deep, {}, "curves"),
        "inside": (deep, {}, "inside"),
        "residual": (reverse, {}, "inside"),
        "few": (few, {}, "curves"),
        "knobs": ("", {}, "knobs"),
    }
    return build_steps(texts, places)
