"""From what the picture models explain to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer import runs
from explorer.controls import Control, Drawings, query
from explorer.lab import GuidedStep, Picture
from explorer.labels import Text, filled
from explorer.labs import about, passages
from explorer.labs.guided import Shown, guided
from explorer.labs.image_transformer import drawn, texts
from explorer.labs.image_transformer.change import sizes
from explorer.looks import Look, looks
from models.image_transformer.records import (
    COLOUR,
    EXAMPLES,
    FLANGE,
    LARGE,
    LEVELS,
    MEMORY_ROWS,
    MODELS,
    SIDE,
    SMALL,
    Explanation,
    Made,
    Request,
    Step,
    modes,
    offered,
)
from models.image_transformer.weights import weights
from models.pixels import SHIPPED, read_picture, shipped

Value = dict[str, object]

ASSETS = Path(__file__).parents[3] / "assets" / "image_transformer"
LOOK = 3  # the layer that is looked at on arrival
TOP_K = (1, 4, 16, 64, LEVELS)  # numbers of levels that are offered
# How a picture is laid out while it grows, before its result brings the layout along.
LAYOUTS: Mapping[str, tuple[drawn.Layout, ...]] = {
    "grey": (drawn.in_rows(SIDE, SIDE, 2, MEMORY_ROWS), drawn.in_tiles(SIDE, SIDE, 7, FLANGE)),
    "colour": (drawn.in_rows(LARGE, LARGE, 2, 4, channels=3, pattern=COLOUR),),
}


first = runs.kept("image_transformer", offered()[0], Explanation)


@cache
def held_out() -> dict[str, tuple[NDArray[np.uint8], list[Text]]]:
    """The pictures to begin with, "grey" and "colour", none of which a model has learned from, and what each shows; small blanks where
    none are shipped."""
    ours = shipped("image_transformer")
    if not ours:
        return {"grey": (np.zeros((0, SIDE, SIDE), np.uint8), [])}
    sets = {key: (ours[key], ours[f"{key}_kinds"]) for key in ("grey", "colour") if key in ours}
    names = {"grey": texts.KINDS, "colour": texts.COLOURED}
    if "grey" not in ours:  # somebody's own pictures are of no kind
        return {key: (levels, [filled(texts.MINE, n=n + 1) for n in range(len(levels))]) for key, (levels, _) in sets.items()}
    return {key: (levels, [filled(texts.NUMBERED, kind=names[key][int(kind)]) for kind in kinds]) for key, (levels, kinds) in sets.items()}


# ---- the input bar -----------------------------------------------------------------------------------------------------------------


def asked() -> tuple[Control, ...]:
    """The controls of a picture that is made: of a kind, the rest of a given one, a small one larger; and of how it is drawn."""
    ours = held_out()
    there = [mode for mode in modes() if mode != "enlarge" or "colour" in ours]
    kinds = dict(enumerate((*texts.KINDS, texts.UNTOLD)))
    offered = {k: texts.ALL if k == LEVELS else dict.fromkeys(("en", "zh"), str(k)) for k in TOP_K}
    # What is chosen stands apart in each mode: a class may be told of one picture and not of another.
    only: dict[str, Mapping[str, Sequence[str]]] = {mode: {"mode": (mode,)} for mode in there}
    complete, enlarge = only.get("complete"), only.get("enlarge")
    return (
        Control("mode", texts.MAKE, "choice", names={mode: texts.MODES[mode] for mode in there}),
        *(
            [
                Control("picture", texts.PICTURE, "drawing", drawings=Drawings(*ours["grey"], rows="keep", ink=False), when=complete),
                *(Control("kind", texts.KIND, "select", names=kinds, when=only[mode]) for mode in ("generate", "complete")),
                Control("keep", texts.KEPT, "select", when=complete),
            ]
            if complete
            else []
        ),
        *(
            [Control("picture", texts.PICTURE, "drawing", drawings=Drawings(*ours["colour"], ink=False, small=SMALL), when=enlarge)]
            if enlarge
            else []
        ),
        Control("temperature", passages.TEMPERATURE, "number", hint=texts.TEMPERATURE_HINT, step=0.1),
        Control("top_k", texts.TOP_K, "select", names=offered, hint=texts.TOP_K_HINT),
        Control("seed", passages.SEED, "seed", hint=texts.SEED_HINT),
        *(Control("count", texts.COUNT, "number", when=when) for when in only.values()),
    )


def given(request: Request) -> NDArray[np.uint8] | None:
    """The picture that a request begins with, or None: it has none, or one that only the model knows."""
    if request.mode == "generate":
        return None
    mode, shape = ("colour", (LARGE, LARGE, 3)) if request.mode == "enlarge" else ("grey", (SIDE, SIDE))
    if not request.picture.startswith(SHIPPED):
        return read_picture(request.picture, shape)
    ours, _ = held_out().get(mode, ((), ()))
    number = request.picture.removeprefix(SHIPPED)
    return ours[int(number)] if number.isdigit() and int(number) < len(ours) else None


def _plain(request: Request) -> Request:
    return replace(request, silenced=(), memory_rows=MEMORY_ROWS, flange=FLANGE)


def warning(_request: Request, seen: Explanation) -> Text | None:
    """What to say of a picture that is unlike what the models learned from."""
    return texts.UNUSUAL if seen.unusual else None


def notice(request: Request, _seen: Explanation) -> Text | None:
    """What to say where the picture is not drawn from the model's own distribution; None for small changes."""
    return passages.heated(request.temperature, texts.HOT)


# ---- a run under way ---------------------------------------------------------------------------------------------------------------


def _layouts(request: Request) -> tuple[drawn.Layout, ...]:
    """Of the patterns that make what is asked for, with the memory that a request leaves them."""
    if request == _plain(request):
        return LAYOUTS["colour" if request.mode == "enlarge" else "grey"]
    if request.mode == "enlarge":
        return (drawn.in_rows(LARGE, LARGE, 2, request.memory_rows, channels=3, pattern=COLOUR),)
    return (drawn.in_rows(SIDE, SIDE, 2, request.memory_rows), drawn.in_tiles(SIDE, SIDE, 7, request.flange))


def _at(steps: Sequence[Step]) -> int:
    return max((step.first + step.levels.shape[-1] for step in steps), default=0)


def progress(steps: Sequence[Step], request: Request) -> Text:
    """How far the pictures have come."""
    layout = _layouts(request)[0]
    return filled(texts.AT_PIXEL, at=_at(steps) // layout.channels, of=layout.length // layout.channels)


def spans_growing(steps: Sequence[Step], request: Request) -> Value:
    """What the spans draw while a picture is made. steps: all so far."""
    layouts = _layouts(request)
    layers, heads = sizes()[layouts[0].pattern]
    complete = request.mode == "complete"
    return drawn.growing(
        layouts,
        steps,
        count=request.count,
        query=query(request),
        same=query(_plain(request)),
        kept=request.keep if complete else 0,
        truth=given(request) if complete else None,
        layers=layers,
        heads=heads,
    )


# ---- a finished run ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A run with what its pictures need: by pattern, where weights come from; and the pixel that is locked on arrival."""

    seen: Explanation
    looks: Mapping[str, str]
    place: Mapping[str, Any]


def prepare(seen: Explanation, _request: Request) -> Run:
    """A run with what its pictures need."""
    return Run(seen, {made.pattern: _look(made) for made in seen.made}, _telling(seen))


def _telling(seen: Explanation) -> Mapping[str, Any]:
    return drawn.telling(seen.made, {made.pattern: weights(made, min(LOOK, len(made.queries) - 1)) for made in seen.made}, LOOK)


def _look(made: Made) -> str:
    """The address of its weights: a row for each position, head after head."""

    def rows(layer: int, _head: int, which: range) -> NDArray[np.float32]:
        return weights(made, layer, which).swapaxes(0, 1).reshape(len(which), -1)

    layers, _, length, _ = made.queries.shape
    made_of = b"".join(array.tobytes() for array in (made.queries, made.keys, made.starts, made.memory, made.ends))
    return looks().put(Look(rows, layers, 1, length, made.queries.nbytes + made.keys.nbytes), made_of)


def pick(run: Run, _request: Request) -> Value:
    """What is looked at on arrival, as the address says it."""
    place = run.place
    return {"pattern": place["pattern"], "head": f"{place['layer'] + 1}.{place['head'] + 1}", "pos": place["position"]}


def spans(run: Run, request: Request, state: str) -> Value:
    """What the mechanism draws of one finished run."""
    seen = run.seen
    return drawn.value(
        seen.made,
        state=state,
        query=query(request),
        same=query(_plain(request)),
        silenced=request.silenced,
        kept=request.keep if request.mode == "complete" else 0,
        truth=seen.given if request.mode != "generate" else None,
        small=seen.small,
        looks=run.looks,
        pick=run.place,
    )


def surprise(run: Run, request: Request, state: str) -> Value:
    """How much each model was surprised by the picture in view; a coloured one has no map."""
    seen = run.seen
    if seen.read is None or seen.surprise is None:
        return drawn.no_surprise(texts.NO_SURPRISE)
    return drawn.surprise(seen.read, dict(zip(MODELS, seen.surprise, strict=True)), state=state, query=query(request), unusual=seen.unusual)


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


@cache
def telling() -> Mapping[str, Any]:
    """The telling pixel of the stored first result: {"pattern", "position", "layer", "head"} from 0; a middle one where none is stored."""
    kept = first()
    if kept is None:
        return {"pattern": "local_2d", "position": 530, "layer": LOOK, "head": 0}
    return _telling(kept.seen)


def thumbnail(seen: Explanation) -> Picture | None:
    """The first picture, half made, with the block that asks and the block it may see in 1D, for the family map."""
    made = seen.made[0]
    if made.pattern == COLOUR:
        return None
    layout = drawn.laid_out(made)
    position = int(layout.length * 0.7)
    block = layout.block(position)
    row = np.arange(SIDE)

    def rows_of(positions: NDArray[np.int32]) -> tuple[int, int]:
        pixels = layout.order[positions] // SIDE
        return int(pixels.min()), int(pixels.max()) + 1

    asks = rows_of(np.arange(layout.starts[block], layout.starts[block + 1], dtype=np.int32))
    sees = rows_of(np.concatenate((layout.memory[block], np.arange(layout.starts[block], position + 1, dtype=np.int32))))
    shown = np.where((np.argsort(layout.order) <= position).reshape(SIDE, SIDE), made.pictures[0], 0).astype(np.uint8)
    return Picture(
        shown,
        made=np.broadcast_to((row < asks[1])[:, None], shown.shape),
        outlines=(("key", (sees[0], 0, sees[1], SIDE)), ("query", (asks[0], 0, asks[1], SIDE))),
    )


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, views that show what the stored run has to tell."""
    place = telling()
    head = f"{place['layer'] + 1}.{place['head'] + 1}"
    here = {"pattern": "local_2d", "head": head, "pos": str(place["position"])}
    start = EXAMPLES[0]
    half = replace(next(example for example in EXAMPLES if example.mode == "complete"), count=1)
    shown: dict[str, Shown] = {
        "grow": ("", {"whole": "1", "head": head}, "spans"),
        "query": ("", {**here, "pattern": "local_1d"}, "spans"),
        "memory": ("", here, "spans"),
        "order": ("", {"pattern": "local_2d", "head": head, "pos": "465", "field": "1"}, "spans"),
        "surprise": (query(half), {"pattern": "local_2d", "head": head, "whole": "1"}, "surprise"),
        "cut": (query(replace(start, flange=0)), here, "spans", "change"),
    }
    figure = about.facts("image_transformer", "colour").get("figure")
    if figure is not None:
        shown["enlarge"] = (query(next(example for example in EXAMPLES if example.mode == "enlarge")), {"whole": "1"}, "spans")
    bits = "–" if figure is None else f"{figure['value']:.2f}"
    return guided(texts, shown, bits=bits)
