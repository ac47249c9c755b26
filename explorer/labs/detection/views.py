"""The views of the detector, from explanations to values of the widgets: pure functions of records,
no model and no Gradio."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from explorer.components.change_panel import ChangedNumber, Difference, Row, show_number_change
from explorer.contract.control_kinds import Control, KnobControl, SceneControl, SwitchControl, Value
from explorer.contract.controls import spell_query
from explorer.contract.knobs import Range
from explorer.contract.lab import GuidedStep, MapPicture, Text
from explorer.contract.labels import build_sentence, fill_text
from explorer.figures.theme import WEIGHTS, colorscale
from explorer.labs.detection import about, texts
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.panels.heads import make_heads_control
from explorer.values.packing import pack_array, pack_inline
from models.data.pixels import load_shipped_pictures
from models.detection.boxes import Answers, find_corners, judge_answers
from models.detection.records import (
    EXAMPLES,
    HEADS,
    LAYERS,
    MAX_ITEMS,
    PARTS,
    QUERIES,
    STROKES,
    Explanation,
    Request,
)
from models.detection.scenes import DARK, DIGITS, LARGEST, LIGHT, MOST, SIDE, SMALLEST

FILE = 5 << 20  # bytes of a visitor's picture
SIZES = 5  # place of the size among the parts of an object's text

first = runs.load_first_once("detection", EXAMPLES[0], Explanation)


# ---- the input bar


def list_controls() -> tuple[Control, ...]:
    """Return the control that composes scenes, and those that change the network."""
    pool = load_shipped_pictures("detection", "pool")
    pool_values: Value = {
        "side": SIDE,
        "strokes": STROKES,
        "most": MAX_ITEMS,
        "ink": [DARK, LIGHT],
        "digits": len(DIGITS),
        "names": about.NAMES,
        "sizes": [SMALLEST, LARGEST],
        "file": FILE,
        "upload": "/picture/texture",
        **{name: pack_inline(pool[name]) for name in ("samples", "grounds") if name in pool},
    }
    knob = partial(KnobControl, change=True)
    depth = Range("depth", texts.DEPTH, range(1, LAYERS + 1), LAYERS, texts.LAYERS)
    queries = Range("queries", texts.QUERIES, range(1, QUERIES + 1), QUERIES, texts.QUERIES_UNIT)
    return (
        SceneControl("scene", texts.COMPOSE, script="labs/detection/composer.js", own=pool_values),
        SwitchControl(
            "agree",
            texts.AGREE,
            names=texts.ON_OFF,
            change=True,
            says=lambda _on: texts.ALONE,
        ),
        knob("depth", texts.DEPTH, knob=depth, says=lambda n: fill_text(texts.SHALLOW, n=n)),
        knob("queries", texts.QUERIES, knob=queries, says=lambda n: fill_text(texts.FEWER, n=n)),
        *make_heads_control(texts.PARTS, dict.fromkeys(PARTS, (LAYERS, HEADS))),
    )


def describe_warning(request: Request, _seen: Explanation) -> Text | None:
    """Return a warning for a scene that is unlike those of training."""
    if request.picture:
        return texts.UNSEEN
    items = request.scene.split(",")[1:]
    if len(items) > MOST:
        return fill_text(texts.CROWDED, n=len(items), most=MOST)
    sizes = [int(entry.split(".")[SIZES - 1]) for entry in items]
    odd = [size for size in sizes if not SMALLEST <= size <= LARGEST]
    if odd:
        return fill_text(texts.ODD_SIZE, n=odd[0], least=SMALLEST, most=LARGEST)
    return None


def notice(_request: Request, run: Explanation) -> Text | None:
    """Return how a visitor's picture was changed."""
    return dict(zip(("en", "zh"), run.notice, strict=True)) if run.notice else None


# ---- a run


def find_surest_query(run: Explanation) -> int:
    """Return the query in view on arrival: the one with the highest probability in the end."""
    return int(run.answers[1][-1].argmax())


def find_inner_head(run: Explanation) -> str:
    """Return the head of the decoder's last layer that looks most into that query's box, "3.2"."""
    query, side = find_surest_query(run), round(run.cross.shape[-1] ** 0.5)
    x, y, width, height = run.found[-1, query]
    place = (np.arange(side) + 0.5) / side
    inside = (abs(place - y) <= height / 2)[:, None] & (abs(place - x) <= width / 2)
    weight = run.cross[-1, :, query][:, inside.ravel()].sum(-1)
    return f"{len(run.cross)}.{int(weight.argmax()) + 1}"


def pick(run: Explanation, _request: Request) -> Value:
    """Return the selection on arrival, as an address names it."""
    return {"query": find_surest_query(run), "head": find_inner_head(run)}


def _describe_run(run: Explanation, request: Request, state: str) -> Value:
    return {
        "query": spell_query(request),
        "state": state,
        "pick": pick(run, request),
        "names": about.NAMES,
        "picture": pack_inline(run.picture),
        "chances": pack_array(run.chances),
        "found": pack_array(run.found),
        "silenced": [list(entry) for entry in request.silenced],
        "agree": request.agree,
        "scale": colorscale(WEIGHTS),
    }


def draw_scene(run: Explanation, request: Request, state: str) -> Value:
    """Draw the scene with its boxes, and who looks where."""
    return _describe_run(run, request, state) | {
        "placed": run.kinds.tolist(),
        "boxes": np.round(run.boxes, 4).tolist(),
        "encoder": pack_array(run.encoder),
        "cross": pack_array(run.cross),
    }


def draw_agreement(run: Explanation, request: Request, state: str) -> Value:
    """Draw the answers of all queries after each layer, and what they see of each other."""
    return _describe_run(run, request, state) | {"among": pack_array(run.among)}


def draw_matching(run: Explanation, request: Request, state: str) -> Value:
    """Draw the cost of each query for each object, and the matching of least cost."""
    return _describe_run(run, request, state) | {
        "placed": run.kinds.tolist(),
        "boxes": np.round(run.boxes, 4).tolist(),
    }


# ---- the effect of a change


def difference(
    run: tuple[Explanation, Explanation],
    _measured: tuple[None, None],
    _request: Request,
    what: Text,
) -> Difference:
    """Compare two runs of a scene: how sure the network is of the objects that are there."""
    before, after = (judge_answers(entry) for entry in run)
    unit = texts.SURE if len(run[0].kinds) else texts.SUREST

    def row(key: str, name: str, digits: int = 0) -> Row:
        was, now = (float(getattr(entry, name)) for entry in (before, after))
        return Row(texts.THIS_SCENE, texts.JUDGED[key], key, was, now, 1, digits)

    rows = [
        row("answers", "count"),
        row("duplicates", "duplicates"),
        row("overlap", "overlap", digits=2),
    ]
    number = ChangedNumber(before.sure, after.sure, 100, 1)
    said = show_number_change(
        number,
        unit,
        rows,
        fill_text(texts.MOVES, what=what, unit=unit),
        fill_text(texts.STAYS, what=what, unit=unit),
        show=lambda value: f"{100 * value:.1f}",
    )
    return replace(said, sentence=build_sentence([said.sentence, _describe_answers(before, after)]))


def _describe_answers(before: Answers, after: Answers) -> Text:
    values = {"before": before.count, "after": after.count, "twice": after.duplicates}
    return fill_text(texts.COUNTS if after.duplicates else texts.COUNTS_ONCE, **values)


# ---- the family map and the guided steps


def thumbnail(run: Explanation) -> MapPicture:
    """Draw the stored scene with the true boxes and those that were found, for the family map."""
    answering = run.found[-1, run.answers[1][-1] >= 0.5]
    outlines = [
        (role, tuple(np.clip(np.rint(edges), 0, SIDE).astype(int)[[1, 0, 3, 2]].tolist()))
        for role, boxes in (("key", run.boxes), ("query", answering))
        for edges in find_corners(boxes) * SIDE
    ]
    return MapPicture(run.picture, np.ones_like(run.picture, bool), tuple(outlines))


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views in which the stored run shows
    the point."""
    kept = first()
    query, head, cell = 0, "3.1", "5,5"
    if kept is not None:
        query, head = find_surest_query(kept.seen), find_inner_head(kept.seen)
        x, y = kept.seen.found[-1, query, :2] * round(kept.seen.encoder.shape[-1] ** 0.5)
        cell = f"{int(y)},{int(x)}"
    step_views: dict[str, Shown] = {
        "guesses": ("", {"query": str(query), "head": head}, "scene"),
        "owner": ("", {"object": "0"}, "matching"),
        "territory": ("", {"query": str(query)}, "territories"),
        "tokens": ("", {"cell": cell, "head": "2.1"}, "scene"),
        "inside": ("", {"query": str(query), "head": head}, "scene"),
        "alone": (spell_query(replace(EXAMPLES[2], agree=False)), {}, "agreement", "change"),
        "layers": ("", {"after": "1", "query": str(query)}, "scene"),
        "empty": (spell_query(EXAMPLES[3]), {}, "agreement"),
    }
    figure = about.find_figure()
    alone = figure.get("queries_alone", {})
    values = {
        name: f"{value:.2f}"
        for name, value in (
            ("duplicates", figure.get("duplicates", 0)),
            ("alone", alone.get("duplicates", 0)),
        )
    }
    return build_steps(texts, step_views, **values)
