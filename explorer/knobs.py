"""Knobs of several parts, as lib/rereadknobs.js draws them: over given numbers, one of several, heads that are silenced, forced spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Text = Mapping[str, str]
Value = dict[str, object]


@dataclass(frozen=True)
class Range:
    """A slider over given numbers. field: of the request; values: increasing; trained: the one of them that the model was trained with.

    unit: what is counted, said behind the number. mark: what is said of numbers beyond `trained`, which are hatched; None where there is
    nothing to say. unused: (field, value, what is said): while another field of the request has that value, this number counts for nothing.
    """

    field: str
    label: Text
    values: Sequence[int]
    trained: int
    unit: Text
    mark: Text | None = None
    unused: tuple[str, object, Text] | None = None

    def __post_init__(self) -> None:
        if list(self.values) != sorted(set(self.values)) or self.trained not in self.values:
            raise ValueError(f"values {list(self.values)} with {self.trained} as trained; they increase, and it is one of them")

    def spelled(self) -> Value:
        """As the browser takes it."""
        return {
            "kind": "range",
            "field": self.field,
            "label": dict(self.label),
            "values": list(self.values),
            "neutral": self.trained,
            "unit": dict(self.unit),
            "mark": dict(self.mark) if self.mark else None,
            "unused": [*self.unused[:2], dict(self.unused[2])] if self.unused else None,
        }


@dataclass(frozen=True)
class Pick:
    """One of several. options: (value of the field, what it is called); neutral: the value that changes nothing."""

    field: str
    label: Text
    options: Sequence[tuple[str | int, Text]]
    neutral: str | int

    def __post_init__(self) -> None:
        values = [value for value, _ in self.options]
        if self.neutral not in values:
            raise ValueError(f"{self.neutral!r} changes nothing, but is none of {values}")

    def spelled(self) -> Value:
        """As the browser takes it."""
        return {
            "kind": "pick",
            "field": self.field,
            "label": dict(self.label),
            "options": [{"value": value, "label": dict(label)} for value, label in self.options],
            "neutral": self.neutral,
        }


@dataclass(frozen=True)
class Stops:
    """A slider whose places are given one by one. stops: (value of the field, what it is called), in the order of the slider; neutral: the
    value that changes nothing. other: what a value between them, made by a link, is called, with {n}.
    """

    field: str
    label: Text
    stops: Sequence[tuple[int, Text]]
    neutral: int
    other: Text

    def __post_init__(self) -> None:
        values = [value for value, _ in self.stops]
        if self.neutral not in values or len(set(values)) != len(values) or len(values) < 2:
            raise ValueError(f"{self.neutral} changes nothing, among the stops {values}: two or more, each once")

    def spelled(self) -> Value:
        """As the browser takes it."""
        return {
            "kind": "stops",
            "field": self.field,
            "label": dict(self.label),
            "stops": [{"value": value, "label": dict(label)} for value, label in self.stops],
            "neutral": self.neutral,
            "other": dict(self.other),
        }


@dataclass(frozen=True)
class Heads:
    """Heads that are silenced, one by one: the one in view, and every one whose picture is shift-clicked. The field holds [model, layer,
    head], numbers from 0. models: by name, what it is called, and its (layers, heads)."""

    models: Mapping[str, tuple[Text, tuple[int, int]]]
    field: str = "silenced"

    def __post_init__(self) -> None:
        if any(min(size) < 1 for _, size in self.models.values()):
            raise ValueError(f"heads of {dict(self.models)}: each model has one or more")

    def spelled(self) -> Value:
        """As the browser takes it."""
        models = {key: {"name": dict(name), "layers": size[0], "heads": size[1]} for key, (name, size) in self.models.items()}
        return {"kind": "heads", "field": self.field, "models": models, "neutral": []}


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
        return {
            "kind": "spans",
            "field": self.field,
            "layers": self.layers,
            "heads": self.heads,
            "ramp": self.ramp,
            "stops": self.stops(),
            "neutral": [],
        }


Knob = Range | Stops | Pick | Spans | Heads
