"""Knobs of several parts, as lib/knobs.js draws them: a slider over given numbers, and forced spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer.packing import record

Text = Mapping[str, str]
Value = dict[str, object]


@dataclass(frozen=True)
class Range:
    """A slider over given numbers. field: of the request; values: increasing; trained: the one of them that the model was trained with.

    unit: what is counted, said behind the number. mark: what is said of numbers beyond `trained`, which are hatched; None where there is
    nothing to say. unused: (field, value, what is said): while another field of the request has that value, this number counts for nothing.
    unchanged: what the request holds where it is as trained, where that is not the number itself. within: the field of another range, which
    this one never exceeds: where that one goes below it, this one follows, and comes back with it.
    """

    field: str
    label: Text
    values: Sequence[int]
    trained: int
    unit: Text
    mark: Text | None = None
    unused: tuple[str, object, Text] | None = None
    unchanged: int | None = None
    within: str | None = None

    def __post_init__(self) -> None:
        if self.unchanged is not None and self.unchanged != self.trained and self.unchanged in self.values:
            raise ValueError(f"{self.unchanged} is a {self.field} of its own; it cannot stand for {self.trained} as trained")
        if list(self.values) != sorted(set(self.values)) or self.trained not in self.values:
            raise ValueError(f"values {list(self.values)} with {self.trained} as trained; they increase, and it is one of them")

    def spelled(self) -> Value:
        """As the browser takes it."""
        unchanged = self.trained if self.unchanged is None else self.unchanged
        return {"kind": "range", **record(self), "neutral": self.trained, "written": unchanged}


@dataclass(frozen=True, kw_only=True)
class Spans:
    """Attention spans that are forced: of all heads, of one layer's, or of the head in view. The field holds [layer, head, z] from 0,
    −1 for all, z in characters; later ones win.

    layers, heads: how many there are. span: S, the longest; ramp: R, how softly a span ends.
    """

    layers: int
    heads: int
    span: int
    ramp: int
    field: str = "spans"

    def __post_init__(self) -> None:
        if min(self.layers, self.heads, self.span) < 1 or self.ramp < 0:
            raise ValueError(f"{self.layers} layers of {self.heads} heads, span {self.span}, ramp {self.ramp}")

    def stops(self) -> list[int]:
        """Where the slider stops: 0, then each about half as long again as the one before, and S."""
        found = {0, self.span}
        for power in range(self.span.bit_length()):
            found |= {z for z in (1 << power, 3 << power >> 1) if z < self.span}
        return sorted(found)

    def spelled(self) -> Value:
        """As the browser takes it."""
        return {"kind": "spans", **record(self), "stops": self.stops(), "neutral": []}


Knob = Range | Spans
