"""What changes if a model sees less or lacks a head: what may be changed, and the comparison as the panel draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from explorer import labels
from explorer.controls import Control
from explorer.figures.pairs import Measure, Pair
from explorer.knobs import Range
from explorer.labels import Text, filled
from explorer.labs import about
from explorer.labs.heads import silenced
from explorer.labs.image_transformer import texts
from explorer.widgets.change import Pictures
from models.image_transformer.records import COLOUR, FLANGE, MEMORY_ROWS, PATTERNS, Again, Bits, Explanation, Made, Request

HEADS: Mapping[str, tuple[int, int]] = {"local_1d": (6, 4), "local_2d": (6, 4), COLOUR: (4, 4)}  # layers and heads as shipped
GREY, COLOURED = {"mode": ("generate", "complete")}, {"mode": ("enlarge",)}
LEAST = 0.005  # bits/dim that a picture must cost more or less before it is said


@cache
def sizes() -> Mapping[str, tuple[int, int]]:
    """Layers and heads of each pattern's network: somebody's own may have others than those that are shipped."""
    return {**HEADS, **about.sizes(about.models("image_transformer", HEADS))}


def knobs() -> tuple[Control, ...]:
    """What may be changed in the models: a memory is cut, heads are silenced."""
    there = sizes()

    def cut(field: str, label: Text, unit: Text, most: int, said: Text, when: Mapping[str, Sequence[str]]) -> Control:
        knob = Range(field, label, range(most + 1), most, unit)
        return Control(field, label, "knob", knob=knob, change=True, says=lambda n: filled(said, n=n, most=most), when=when)

    def heads(patterns: Sequence[str], when: Mapping[str, Sequence[str]]) -> tuple[Control, ...]:
        names = {pattern: texts.PATTERNS[pattern] for pattern in patterns}
        return silenced(names, {pattern: there[pattern] for pattern in patterns}, texts.HEAD, when=when)

    return (
        cut("memory_rows", texts.MEMORY, texts.ROWS, MEMORY_ROWS, texts.LESS_MEMORY, GREY),
        cut("flange", texts.FLANGE, texts.PIXELS, FLANGE, texts.LESS_FLANGE, GREY),
        *heads(PATTERNS, GREY),
        cut("memory_rows", texts.MEMORY, texts.ROWS, MEMORY_ROWS, texts.LESS_MEMORY, COLOURED),
        *heads((COLOUR,), COLOURED),
    )


def again(request: Request, seen: Explanation) -> Again | None:
    """The first pictures of a run, to be read under what a request changes; None where it changes nothing."""
    changed = Request(request.mode, request.kind, silenced=request.silenced, memory_rows=request.memory_rows, flange=request.flange)
    if changed == Request(request.mode, request.kind):
        return None
    return Again(changed, tuple(made.pictures[0].tobytes() for made in seen.made), b"" if seen.small is None else seen.small.tobytes())


def touched(request: Request) -> tuple[str, ...]:
    """The patterns that a change reaches, of those that make what is asked for; none where nothing is changed."""
    heads = {pattern for pattern, _, _ in request.silenced}
    rows, flange = request.memory_rows < MEMORY_ROWS, request.flange < FLANGE
    cut = {"local_1d": rows, "local_2d": flange, COLOUR: rows}
    patterns = (COLOUR,) if request.mode == "enlarge" else PATTERNS
    return tuple(pattern for pattern in patterns if pattern in heads or cut[pattern])


@dataclass(frozen=True)
class Changed:
    """One pattern that a change reaches. forced: bits of before's first picture, read under it, in its shape."""

    before: Made
    after: Made
    forced: NDArray[np.float32]

    @property
    def costs(self) -> tuple[float, float]:
        """bits/dim of the picture before, as trained and under the change."""
        return float(self.before.bits[0].mean()), float(self.forced.mean())

    @property
    def rows(self) -> NDArray[np.float32]:
        """What each row costs more, bits/dim."""
        more: NDArray[np.float32] = (self.forced - self.before.bits[0]).reshape(len(self.forced), -1).mean(1)
        return more

    @property
    def pair(self) -> Pair:
        """Both pictures, and what the first of them costs."""
        return Pair(self.before.pattern, self.before.pictures[0], self.after.pictures[0], self.costs)


def difference(seen: tuple[Explanation, Explanation], bits: tuple[Bits | None, Bits], request: Request, what: Text) -> Pictures:
    """What the panel draws of a comparison. bits: of the pictures before, read under the change. what: the change in words."""
    every = zip(seen[0].made, seen[1].made, bits[1].bits, strict=True)
    reached = touched(request)
    found = [Changed(*one) for one in every if one[0].pattern in reached]
    return Pictures([one.pair for one in found], Measure(texts.NUMBER), texts.PATTERNS, sentence(found, what))


def sentence(found: Sequence[Changed], what: Text) -> Text:
    """The comparison in words, for the pattern that it costs most: how much, in which row, and how many pixels come out differently."""
    if not found:
        return labels.sentence([what or texts.FLANGE, texts.UNTOUCHED])
    dearest = max(found, key=lambda one: one.costs[1] - one.costs[0])
    delta = dearest.costs[1] - dearest.costs[0]
    equal = abs(delta) < LEAST
    cost = filled(
        texts.EQUAL if equal else texts.DEARER if delta > 0 else texts.CHEAPER,
        pattern=texts.PATTERNS[dearest.before.pattern],
        bits=f"{abs(delta):.2f}",
    )
    where = [] if equal else [filled(texts.ROW, row=int(dearest.rows.argmax() if delta > 0 else dearest.rows.argmin()))]
    other = dearest.before.pictures[0] != dearest.after.pictures[0]
    pixels = other if other.ndim == 2 else other.any(2)
    anew = filled(texts.OTHER, n=int(pixels.sum()), of=pixels.size) if pixels.any() else texts.SAME
    return labels.sentence([what, cost, *where], anew)
