"""From what the picture models explain to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer import permalink
from explorer.figures import image
from explorer.lab import GuidedStep, Picture
from explorer.labels import filled
from explorer.labs import runs
from explorer.labs.image_transformer import texts
from explorer.labs.runs import Stored
from explorer.widgets import maker, remake
from models.errors import reading
from models.image_transformer.records import (
    EXAMPLES,
    FLANGE,
    LARGE,
    MAX_COUNT,
    MEMORY_ROWS,
    MODELS,
    PATTERNS,
    ROWS_KEPT,
    SIDE,
    SMALL,
    Comparison,
    Explanation,
    Made,
    Request,
    Step,
    read_picture,
)
from models.image_transformer.weights import weights

Text = Mapping[str, str]
Value = dict[str, object]

ASSETS = Path(__file__).parents[3] / "assets" / "image_transformer"
HEADS: Mapping[str, tuple[int, int]] = {"local_1d": (6, 4), "local_2d": (6, 4), "colour": (4, 4)}  # layers and heads of each pattern
LOOK = 3  # the layer whose weights come with every stored result
LIMITS = maker.Limits(side=SIDE, large=LARGE, small=SMALL, rows_kept=ROWS_KEPT, count=MAX_COUNT)
KNOBS = (
    remake.Knob("memory_rows", texts.MEMORY, texts.ROWS, MEMORY_ROWS, ("local_1d", "colour")),
    remake.Knob("flange", texts.FLANGE, texts.PIXELS, FLANGE, ("local_2d",)),
)
# How a picture is laid out while it grows, before its result brings the layout along.
LAYOUTS: Mapping[str, tuple[image.Layout, ...]] = {
    "grey": (image.in_rows(SIDE, SIDE, 2, MEMORY_ROWS), image.in_tiles(SIDE, SIDE, 7, FLANGE)),
    "colour": (image.in_rows(LARGE, LARGE, 2, 4, channels=3, pattern="colour"),),
}


@cache
def first() -> Stored[Request, Explanation] | None:
    """The stored first example, or None where none is shipped."""
    return runs.first("image_transformer", EXAMPLES[0], Explanation)


@cache
def held_out() -> dict[str, maker.Pictures]:
    """The pictures to begin with, "grey" and "colour", none of which a model has learned from; small blanks where none are shipped."""
    path = ASSETS / "examples.npz"
    if not path.exists():
        return {"grey": maker.Pictures(np.zeros((0, SIDE, SIDE), np.uint8), ())}
    with reading(path), np.load(path, allow_pickle=False) as file:
        sets = {key: (file[key], file[f"{key}_kinds"]) for key in ("grey", "colour") if key in file}
    names = {"grey": texts.KINDS, "colour": texts.COLOURED}
    return {
        key: maker.Pictures(levels, tuple(filled(texts.NUMBERED, kind=names[key][int(kind)]) for kind in kinds))
        for key, (levels, kinds) in sets.items()
    }


# ---- requests ----------------------------------------------------------------------------------------------------------------------


def spelled(request: Request) -> Value:
    """A request as the browser holds it: every field, lists for tuples."""
    return {
        field.name: [list(head) for head in request.silenced] if field.name == "silenced" else getattr(request, field.name)
        for field in fields(request)
    }


def query(request: Request) -> str:
    """The request part of the permalink; empty for a picture that no link carries."""
    try:
        return permalink.encode(request)
    except permalink.LinkTooLong:
        return ""


def plain(request: Request) -> Request:
    """The same picture with nothing changed in the models."""
    return replace(request, silenced=(), memory_rows=MEMORY_ROWS, flange=FLANGE)


def examples() -> list[Value]:
    """What the input bar offers to begin with."""
    return [
        {**spelled(request), "query": query(request), "title": dict(title)} for request, title in zip(EXAMPLES, texts.EXAMPLES, strict=True)
    ]


def given(request: Request) -> NDArray[np.uint8] | None:
    """The picture that a request begins with, or None: it has none, or one that only the model knows."""
    if request.mode == "generate":
        return None
    mode, shape = ("colour", (LARGE, LARGE, 3)) if request.mode == "enlarge" else ("grey", (SIDE, SIDE))
    if not request.picture.startswith("test:"):
        return read_picture(request.picture, shape)
    ours = held_out().get(mode)
    number = request.picture.removeprefix("test:")
    return ours.levels[int(number)] if ours is not None and number.isdigit() and int(number) < len(ours.levels) else None


# ---- the input bar and the mechanism -----------------------------------------------------------------------------------------------


def growing(request: Request, steps: Sequence[Step]) -> tuple[Value, Value]:
    """What the input bar and the spans draw while a picture is made. steps: all so far."""
    layouts = LAYOUTS["colour" if request.mode == "enlarge" else "grey"]
    truth = given(request)
    kept = request.keep if request.mode == "complete" else 0
    at = max((step.first + step.levels.shape[-1] for step in steps), default=0)
    layers, heads = HEADS[layouts[0].pattern]
    grown = image.growing(
        layouts,
        steps,
        count=request.count,
        query=query(request),
        request=spelled(request),
        kept=kept,
        truth=truth if request.mode == "complete" else None,
        layers=layers,
        heads=heads,
    )
    channels = layouts[0].channels
    return maker.running(spelled(request), query(request), at // channels, layouts[0].length // channels), grown


def result(seen: Explanation, request: Request, *, state: str, milliseconds: float, device: str, notice: Text | None = None) -> Value:
    """What the input bar draws of one finished run."""
    address = query(request)
    return maker.done(
        spelled(request),
        address,
        state=state,
        milliseconds=milliseconds,
        device=device,
        warning=texts.UNUSUAL if seen.unusual else None,
        notice=joined(notice if address else texts.LONG_LINK, bent(request)),
    )


def bent(request: Request) -> Text | None:
    """What to say where the picture is not drawn from the model's own distribution; None for small changes."""
    if 0.75 <= request.temperature <= 1.25:
        return None
    changed = texts.SHARPER if request.temperature < 1 else texts.FLATTER
    return filled(texts.HOT, changed=changed, temperature=f"{request.temperature:g}")


def joined(*notices: Text | None) -> Text | None:
    """Several remarks as one, or None for none."""
    said = [notice for notice in notices if notice]
    return {"en": " ".join(one["en"] for one in said), "zh": "".join(one["zh"] for one in said)} if said else None


def finished(
    seen: Explanation, request: Request, *, state: str, milliseconds: float, device: str, notice: Text | None = None
) -> tuple[Value, Value, Value, Value]:
    """What the input bar, the mechanism, the surprise and the panel of knobs draw of one finished run. state: "stored" or "live".

    It takes a tenth of a second, most of it for the weights of one layer, which travel along so that the first view needs no question.
    """
    found = {made.pattern: weights(made, LOOK) for made in seen.made}
    pick = image.telling(seen.made, found, LOOK)
    bar = result(seen, request, state=state, milliseconds=milliseconds, device=device, notice=notice)
    return bar, spans(seen, request, state, found, pick), surprise(seen, state), untouched(request, pick)


def spans(seen: Explanation, request: Request, state: str, found: Mapping[str, NDArray[np.float32]], pick: Mapping[str, Any]) -> Value:
    """What the mechanism draws of one finished run. found: weights of layer LOOK by pattern. pick: the pixel locked on arrival."""
    address = query(request)
    return image.value(
        seen.made,
        state=state,
        query=address,
        request=spelled(request),
        kept=request.keep if request.mode == "complete" else 0,
        truth=seen.given if request.mode != "generate" else None,
        small=seen.small,
        looks=[image.looked(address, pattern, LOOK, each) for pattern, each in found.items()],
        pick=pick,
    )


def look(seen: Explanation, address: str, pattern: str, layer: int) -> Value:
    """The weights of one layer of one pattern, as the mechanism asks for them. KeyError for a pattern that the run does not have."""
    made = {each.pattern: each for each in seen.made}[pattern]
    if not 0 <= layer < made.queries.shape[0]:
        raise KeyError(layer)
    return image.looked(address, pattern, layer, weights(made, layer))


def surprise(seen: Explanation, state: str) -> Value:
    """How much each model was surprised by the picture in view; a coloured one has no map."""
    if seen.read is None or seen.surprise is None:
        return image.no_surprise(texts.NO_SURPRISE)
    return image.surprise(seen.read, dict(zip(MODELS, seen.surprise, strict=True)), state=state, unusual=seen.unusual)


# ---- what changes if ---------------------------------------------------------------------------------------------------------------


def touched(request: Request) -> tuple[str, ...]:
    """The patterns that an intervention reaches, of those that make what is asked for; none where nothing is changed."""
    heads = {pattern for pattern, _, _ in request.silenced}
    rows, flange = request.memory_rows < MEMORY_ROWS, request.flange < FLANGE
    cut = {"local_1d": rows, "local_2d": flange, "colour": rows}
    return tuple(pattern for pattern in patterns(request) if pattern in heads or cut[pattern])


def patterns(request: Request) -> tuple[str, ...]:
    """The patterns that make what a request asks for."""
    return ("colour",) if request.mode == "enlarge" else PATTERNS


def untouched(request: Request, pick: Mapping[str, Any]) -> Value:
    """The panel with nothing changed yet. pick: the pixel locked on arrival, with the layer and head that look."""
    return remake.idle(spelled(request), patterns(request), _head(pick))


def _head(place: Mapping[str, Any]) -> Value:
    return {"pattern": place["pattern"], "head": f"{place['layer'] + 1}.{place['head'] + 1}"}


@dataclass(frozen=True)
class _Changed:
    """One pattern that an intervention reaches. forced: bits of before's first picture, read under the intervention, in its shape."""

    pattern: str
    before: Made
    after: Made
    forced: NDArray[np.float32]

    @property
    def costs(self) -> tuple[float, float]:
        """bits/dim of the picture before, as trained and under the intervention."""
        return float(self.before.bits[0].mean()), float(self.forced.mean())

    @property
    def rows(self) -> NDArray[np.float32]:
        """What each row costs more, bits/dim."""
        more: NDArray[np.float32] = (self.forced - self.before.bits[0]).reshape(len(self.forced), -1).mean(1)
        return more


def _changed(compared: Comparison, request: Request) -> list[_Changed]:
    every = zip(compared.before.made, compared.after.made, compared.forced, strict=True)
    reached = touched(request)
    return [_Changed(before.pattern, before, after, forced) for before, after, forced in every if before.pattern in reached]


def change(compared: Comparison, request: Request) -> Value:
    """What the panel draws of a comparison: the patterns that it reaches, each picture's cost without and with it."""
    pairs = [remake.Pair(one.pattern, one.before.pictures[0], one.after.pictures[0], one.costs) for one in _changed(compared, request)]
    before = compared.before
    pick = image.telling(before.made, {made.pattern: weights(made, LOOK) for made in before.made}, LOOK)
    return remake.done(spelled(request), patterns(request), pairs, sentence(compared, request), _head(pick))


def sentence(compared: Comparison, request: Request) -> Text:
    """The comparison in words, for the pattern that it costs most: how much, in which row, and how many pixels come out differently."""
    dearest = max(_changed(compared, request), key=lambda one: one.costs[1] - one.costs[0])
    delta = dearest.costs[1] - dearest.costs[0]
    equal = abs(delta) < 0.005
    cost = filled(
        texts.EQUAL if equal else texts.DEARER if delta > 0 else texts.CHEAPER,
        pattern=texts.PATTERNS[dearest.pattern],
        bits=f"{abs(delta):.2f}",
    )
    rows = dearest.rows
    where = [] if equal else [filled(texts.ROW, row=int(rows.argmax() if delta > 0 else rows.argmin()))]
    other = dearest.before.pictures[0] != dearest.after.pictures[0]
    pixels = other if other.ndim == 2 else other.any(2)
    anew = filled(texts.OTHER, n=int(pixels.sum()), of=pixels.size) if pixels.any() else texts.SAME
    parts = [changed_in(request), cost, *where]
    english = ", ".join(part["en"] for part in parts)
    chinese = "，".join(part["zh"] for part in parts)
    return {"en": f"{english[0].upper()}{english[1:]}; {anew['en']}.", "zh": f"{chinese}；{anew['zh']}。"}


def changed_in(request: Request) -> Text:
    """What a request changes in the models, in words."""
    heads = [
        filled(texts.HEAD, pattern=texts.PATTERNS[pattern], name=f"{layer + 1}·{head + 1}")
        for pattern, layer, head in request.silenced
        if pattern in patterns(request)
    ]
    shown = heads if len(heads) <= 3 else [filled(texts.HEADS, n=len(heads))]
    parts: list[Text] = []
    if shown:
        parts.append(
            filled(texts.WITHOUT, heads={"en": ", ".join(one["en"] for one in shown), "zh": "、".join(one["zh"] for one in shown)})
        )
    if request.memory_rows < MEMORY_ROWS:
        parts.append(filled(texts.LESS_MEMORY, n=request.memory_rows, most=MEMORY_ROWS))
    if request.flange < FLANGE and request.mode != "enlarge":
        parts.append(filled(texts.LESS_FLANGE, n=request.flange, most=FLANGE))
    return {"en": " and ".join(part["en"] for part in parts), "zh": "，".join(part["zh"] for part in parts)}


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


@cache
def telling() -> Mapping[str, Any]:
    """The telling pixel of the stored first result: {"pattern", "position", "layer", "head"} from 0; a middle one where none is stored."""
    kept = first()
    if kept is None:
        return {"pattern": "local_2d", "position": 530, "layer": LOOK, "head": 0}
    return image.telling(kept.seen.made, {made.pattern: weights(made, LOOK) for made in kept.seen.made}, LOOK)


def thumbnail() -> Picture | None:
    """The first picture, half made, with the block that asks and the block it may see in 1D, for the family map."""
    kept = first()
    if kept is None:
        return None
    made = kept.seen.made[0]
    layout = image.laid_out(made)
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
    shown: dict[str, tuple[str, Mapping[str, str], str]] = {
        "grow": ("", {"whole": "1", "head": head}, "spans"),
        "query": ("", {**here, "pattern": "local_1d"}, "spans"),
        "memory": ("", here, "spans"),
        "order": ("", {"pattern": "local_2d", "head": head, "pos": "465", "field": "1"}, "spans"),
        "surprise": (query(half), {"pattern": "local_2d", "head": head, "whole": "1"}, "surprise"),
        "cut": (query(replace(start, flange=0)), here, "spans"),
    }
    return tuple(GuidedStep(title, say, *shown[key]) for key, title, say in texts.STEPS)
