"""The change panel of the lab: a shorter memory or a missing head, and the comparison as the panel
draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from explorer.components.change_panel import Pictures
from explorer.contract import labels
from explorer.contract.control_kinds import Control, KnobControl
from explorer.contract.knobs import Range
from explorer.contract.labels import Text, fill_text
from explorer.figures.pairs import Measure, PicturePair
from explorer.labs.image_transformer import texts
from explorer.page import card_facts
from explorer.panels.heads import make_heads_control
from models.image_transformer.records import (
    COLOUR,
    FLANGE,
    MEMORY_ROWS,
    PATTERNS,
    Bits,
    Explanation,
    Made,
    Request,
    Rereading,
)

# layers and heads as shipped
HEADS: Mapping[str, tuple[int, int]] = {"local_1d": (6, 4), "local_2d": (6, 4), COLOUR: (4, 4)}
GREY, COLOURED = {"mode": ("generate", "complete")}, {"mode": ("enlarge",)}
LEAST = 0.005  # a difference in bits/dim below this is not worth a sentence


@cache
def list_sizes() -> Mapping[str, tuple[int, int]]:
    """Return the layers and heads of each pattern's network: a user's own may differ from the
    shipped ones."""
    return {**HEADS, **card_facts.list_sizes(card_facts.read_models("image_transformer", HEADS))}


def list_controls() -> tuple[Control, ...]:
    """Return the controls of what may be changed in the models: a memory is cut, heads are
    silenced."""
    there = list_sizes()

    def cut(
        field: str,
        label: Text,
        unit: Text,
        most: int,
        said: Text,
        when: Mapping[str, Sequence[str]],
    ) -> Control:
        knob = Range(field, label, range(most + 1), most, unit)
        return KnobControl(
            field,
            label,
            knob=knob,
            change=True,
            says=lambda n: fill_text(said, n=n, most=most),
            when=when,
        )

    def heads(patterns: Sequence[str], when: Mapping[str, Sequence[str]]) -> tuple[Control, ...]:
        names = {pattern: texts.PATTERNS[pattern] for pattern in patterns}
        return make_heads_control(
            names, {pattern: there[pattern] for pattern in patterns}, texts.HEAD, when=when
        )

    return (
        cut("memory_rows", texts.MEMORY, texts.ROWS, MEMORY_ROWS, texts.LESS_MEMORY, GREY),
        cut("flange", texts.FLANGE, texts.PIXELS, FLANGE, texts.LESS_FLANGE, GREY),
        *heads(PATTERNS, GREY),
        cut("memory_rows", texts.MEMORY, texts.ROWS, MEMORY_ROWS, texts.LESS_MEMORY, COLOURED),
        *heads((COLOUR,), COLOURED),
    )


def ask_to_reread(request: Request, explanation: Explanation) -> Rereading | None:
    """Return the first pictures of a run, to be read again under the request's change; None where
    the request changes nothing."""
    changed = Request(
        request.mode,
        request.kind,
        silenced=request.silenced,
        memory_rows=request.memory_rows,
        flange=request.flange,
    )
    if changed == Request(request.mode, request.kind):
        return None
    return Rereading(
        changed,
        tuple(made.pictures[0].tobytes() for made in explanation.made),
        b"" if explanation.small is None else explanation.small.tobytes(),
    )


def list_changed_patterns(request: Request) -> tuple[str, ...]:
    """Return the patterns that a change reaches, among those that run for the request; none where
    nothing is changed."""
    heads = {pattern for pattern, _, _ in request.silenced}
    rows, flange = request.memory_rows < MEMORY_ROWS, request.flange < FLANGE
    cut = {"local_1d": rows, "local_2d": flange, COLOUR: rows}
    patterns = (COLOUR,) if request.mode == "enlarge" else PATTERNS
    return tuple(pattern for pattern in patterns if pattern in heads or cut[pattern])


@dataclass(frozen=True)
class Changed:
    """One pattern that a change reaches. forced: bits of the first picture of `before`, read under
    the change, in the shape of that picture."""

    before: Made
    after: Made
    forced: NDArray[np.float32]

    @property
    def costs(self) -> tuple[float, float]:
        """The bits/dim of the picture before, as trained and under the change."""
        return float(self.before.bits[0].mean()), float(self.forced.mean())

    @property
    def rows(self) -> NDArray[np.float32]:
        """The bits/dim that each row costs more."""
        more: NDArray[np.float32] = (
            (self.forced - self.before.bits[0]).reshape(len(self.forced), -1).mean(1)
        )
        return more

    @property
    def as_pair(self) -> PicturePair:
        """Return both pictures, and the cost of the first."""
        return PicturePair(
            self.before.pattern, self.before.pictures[0], self.after.pictures[0], self.costs
        )


def difference(
    explanations: tuple[Explanation, Explanation],
    bits: tuple[Bits | None, Bits],
    request: Request,
    what: Text,
) -> Pictures:
    """Draw a comparison for the change panel. bits: of the pictures before, read under the change.
    what: the change in words."""
    every = zip(explanations[0].made, explanations[1].made, bits[1].bits, strict=True)
    reached = list_changed_patterns(request)
    found = [Changed(*one) for one in every if one[0].pattern in reached]
    return Pictures(
        [one.as_pair for one in found],
        Measure(texts.NUMBER),
        texts.PATTERNS,
        describe_change(found, what),
    )


def describe_change(found: Sequence[Changed], what: Text) -> Text:
    """Describe the comparison in words, for the pattern with the largest added cost: how much, in
    which row, and how many pixels come out differently."""
    if not found:
        return labels.build_sentence([what or texts.FLANGE, texts.UNTOUCHED])
    dearest = max(found, key=lambda one: one.costs[1] - one.costs[0])
    delta = dearest.costs[1] - dearest.costs[0]
    equal = abs(delta) < LEAST
    cost = fill_text(
        texts.EQUAL if equal else texts.DEARER if delta > 0 else texts.CHEAPER,
        pattern=texts.PATTERNS[dearest.before.pattern],
        bits=f"{abs(delta):.2f}",
    )
    where = (
        []
        if equal
        else [
            fill_text(
                texts.ROW, row=int(dearest.rows.argmax() if delta > 0 else dearest.rows.argmin())
            )
        ]
    )
    other = dearest.before.pictures[0] != dearest.after.pictures[0]
    pixels = other if other.ndim == 2 else other.any(2)
    anew = (
        fill_text(texts.OTHER, n=int(pixels.sum()), of=pixels.size) if pixels.any() else texts.SAME
    )
    return labels.build_sentence([what, cost, *where], anew)
