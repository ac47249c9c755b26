"""Knobs of several parts, drawn by lib/knobs.js: a slider over given numbers, and forced spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer.values.packing import record_fields

Text = Mapping[str, str]
Value = dict[str, object]


@dataclass(frozen=True)
class Range:
    """A slider over given numbers.

    field: the field of the request.
    values: the numbers, increasing.
    trained: the number that the model was trained with.
    unit: the counted thing, said behind the number.
    mark: the remark on numbers beyond `trained`, which are hatched; None for no remark.
    unused: (field, value, remark): this number counts for nothing while another field of the
        request has that value.
    unchanged: the request's value for the model as trained, where it differs from the number
        itself.
    within: the field of another range, which this one never exceeds. It follows that range
        downwards and comes back with it.
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
        if (
            self.unchanged is not None
            and self.unchanged != self.trained
            and self.unchanged in self.values
        ):
            raise ValueError(
                f"{self.unchanged} is a {self.field} of its own; it cannot stand for {self.trained}"
                " as trained"
            )
        if list(self.values) != sorted(set(self.values)) or self.trained not in self.values:
            raise ValueError(
                f"values {list(self.values)} with {self.trained} as trained; they increase, and it"
                " is one of them"
            )

    def as_json(self) -> Value:
        """Return the range as JSON for the browser."""
        unchanged = self.trained if self.unchanged is None else self.unchanged
        return {
            "kind": "range",
            **record_fields(self),
            "neutral": self.trained,
            "written": unchanged,
        }


@dataclass(frozen=True, kw_only=True)
class Spans:
    """Forced attention spans of all heads, of one layer's heads, or of the head in view.

    The field holds [layer, head, z], counted from 0, −1 for all, z in characters. Later entries
    win.

    layers, heads: the number of each.
    span: S, the longest span.
    ramp: R, the softness of a span's end.
    """

    layers: int
    heads: int
    span: int
    ramp: int
    field: str = "spans"

    def __post_init__(self) -> None:
        if min(self.layers, self.heads, self.span) < 1 or self.ramp < 0:
            raise ValueError(
                f"{self.layers} layers of {self.heads} heads, span {self.span}, ramp {self.ramp}"
            )

    def list_stops(self) -> list[int]:
        """Return the stops of the slider: 0, then each about half as long again as the one before,
        and S."""
        found = {0, self.span}
        for power in range(self.span.bit_length()):
            found |= {z for z in (1 << power, 3 << power >> 1) if z < self.span}
        return sorted(found)

    def as_json(self) -> Value:
        """Return the spans as JSON for the browser."""
        return {"kind": "spans", **record_fields(self), "stops": self.list_stops(), "neutral": []}


Knob = Range | Spans
