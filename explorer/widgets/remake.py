"""What changes if …, for pictures: heads silenced, knobs turned; then each model's picture before, after, the difference, one number.

What can be changed is declared by the page as knobs: `Knob` (a memory that is cut), `Range` and `Pick`, each for a field of its request.
The models are called patterns here, after those of the first lab that drew with this panel.

The value it draws is one JSON object, built with `idle`, `running`, `done` and `refused`:

    state: "empty" | "running" | "done" | "refused"
    request: the request in view, interventions included; None before there is one
    pick: {pattern, head} looked at on arrival, head as "3.2" counted from 1; `view` may name the first one otherwise
    patterns: keys of those that made what is in view; a knob or a head of another one waits
    pictures: [{key, before, after, more, number: {before, after}}], packed levels (row, column[, channel]) of one shape; what the number
        and `more`, packed (row, column) or None, measure is the page's affair
    sentence: {en, zh}, parts in ⟦q:…⟧, ⟦k:…⟧, ⟦o:…⟧ wear the colour of query, key and output
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import gradio as gr
import numpy as np
from numpy.typing import NDArray

from explorer.figures import theme
from explorer.packing import pack
from explorer.widgets.base import widget

Text = Mapping[str, str]
Value = dict[str, object]

EVENTS = ("ask",)  # not "change": Gradio fires that itself whenever a value changes
NATS: Text = {"en": "nats", "zh": "纳特"}


@dataclass(frozen=True)
class Knob:
    """A slider that cuts a memory of some patterns. field: of the request; most: its value as trained. unit: says "{n}"."""

    field: str
    label: Text
    unit: Text
    most: int
    patterns: tuple[str, ...]

    def spelled(self) -> Value:
        """As the browser takes it."""
        return {
            "kind": "range",
            "field": self.field,
            "label": dict(self.label),
            "unit": dict(self.unit),
            "values": list(range(self.most + 1)),
            "neutral": self.most,
            "plain": True,
            "patterns": list(self.patterns),
        }


@dataclass(frozen=True)
class Range:
    """A slider over whole numbers, whose value as trained may lie between its ends.

    field: of the request; least, most: its ends; trained: as the models of `patterns` were trained. unit: says "{n}", or what is counted.
    unchanged: what the request holds where it is as trained; None: that number itself.
    within: field of another Range, which this one never exceeds: where that one goes below it, this one follows, and comes back with it.
    """

    field: str
    label: Text
    unit: Text
    least: int
    most: int
    trained: int
    patterns: tuple[str, ...]
    unchanged: int | None = 0
    within: str | None = None

    def __post_init__(self) -> None:
        if not self.least <= self.trained <= self.most or self.least == self.most:
            raise ValueError(f"{self.field} from {self.least} to {self.most}, {self.trained} as trained; that lies between two ends")
        if self.unchanged is not None and self.unchanged != self.trained and self.least <= self.unchanged <= self.most:
            raise ValueError(f"{self.unchanged} is a {self.field} of its own; it cannot stand for {self.trained} as trained")

    def spelled(self) -> Value:
        """As the browser takes it."""
        return {
            "kind": "range",
            "field": self.field,
            "label": dict(self.label),
            "unit": dict(self.unit),
            "values": list(range(self.least, self.most + 1)),
            "neutral": self.trained,
            "written": self.trained if self.unchanged is None else self.unchanged,
            "within": self.within,
            "patterns": list(self.patterns),
        }


@dataclass(frozen=True)
class Pick:
    """One of several. options: (value of the field, what it is called); trained: the value that changes nothing."""

    field: str
    label: Text
    options: Sequence[tuple[str | int, Text]]
    trained: str | int
    patterns: tuple[str, ...]

    def __post_init__(self) -> None:
        values = [value for value, _ in self.options]
        if self.trained not in values:
            raise ValueError(f"{self.trained!r} changes nothing, but is none of {values}")

    def spelled(self) -> Value:
        """As the browser takes it."""
        return {
            "kind": "pick",
            "field": self.field,
            "label": dict(self.label),
            "options": [{"value": value, "label": dict(name)} for value, name in self.options],
            "neutral": self.trained,
            "patterns": list(self.patterns),
        }


@dataclass(frozen=True)
class Pair:
    """One pattern's picture before and after, levels of one shape (row, column[, channel]), and what the picture before costs.

    key: of the pattern. numbers: that cost as trained, and read under the intervention: bits/dim, or the nats of a whole digit.
    more: (row, column) how much dearer each pixel of the picture before became; a further picture, on the signed scale. None for none.
    ValueError where shapes do not fit.
    """

    key: str
    before: NDArray[np.uint8]
    after: NDArray[np.uint8]
    numbers: tuple[float, float]
    more: NDArray[np.floating] | None = None

    def __post_init__(self) -> None:
        if self.before.shape != self.after.shape:
            raise ValueError(f"before {self.before.shape} and after {self.after.shape} are pictures of one shape")
        if self.more is not None and self.more.shape != self.before.shape[:2]:
            raise ValueError(f"a map {self.more.shape} of a picture of {self.before.shape[:2]} pixels")


def remake(
    value: Value,
    *,
    knobs: Sequence[Knob | Range | Pick],
    patterns: Mapping[str, Text],
    heads: Mapping[str, tuple[int, int]],
    number_label: Text,
    number_key: str = "bits_per_dim",
    more_label: Text = NATS,
    view: str = "pattern",
    raster: bool = False,
) -> gr.HTML:
    """Place the panel. Its event `ask` brings the whole request as it shall be.

    patterns: key -> its short name. heads: key -> its layers and heads. number_label: what the number measures; number_key: what it is
    called among the arrays that are taken along. more_label: the unit of a pair's `more`. view: the address's key of the pattern in view,
    and the name of it in `pick`: "pattern" or "model". raster: pixels are made row by row, so that one pointed at is previewed as the
    position `row × columns + column` by the other views.
    ValueError for a Range within one that is no knob of the panel, or that begins above it.
    """
    ranges = {knob.field: knob for knob in knobs if isinstance(knob, Range)}
    for knob in ranges.values():
        if knob.within is None:
            continue
        outer = ranges.get(knob.within)
        if outer is None or outer.least < knob.least or outer.trained < knob.trained:
            raise ValueError(f"{knob.field} stays within {knob.within}, which begins no lower and is no smaller as trained; {outer}")
    return widget(
        "remake",
        value,
        events=EVENTS,
        knobs=[knob.spelled() for knob in knobs],
        patterns={key: dict(name) for key, name in patterns.items()},
        heads={key: list(count) for key, count in heads.items()},
        numberLabel=dict(number_label),
        numberKey=number_key,
        moreLabel=dict(more_label),
        viewKey=view,
        raster=raster,
        signed={mode: list(stops) for mode, stops in theme.SIGNED.items()},
    )


def idle(request: Value | None = None, patterns: Sequence[str] = (), pick: Value | None = None) -> Value:
    """Nothing is changed: the knobs alone."""
    return {"state": "empty", "request": request, "patterns": list(patterns), "pick": pick}


def running(request: Value | None = None) -> Value:
    """The models draw again; the last pictures stay, dimmed. request: as the knobs then stand, None where they stand there already."""
    return {"state": "running"} if request is None else {"state": "running", "request": request}


def refused(text: Text | None) -> Value:
    """The intervention was refused, in one sentence; without one, nothing came of it and the input bar says why."""
    return {"state": "refused", "error": dict(text) if text else None}


def done(request: Value, patterns: Sequence[str], pairs: Sequence[Pair], sentence: Text, pick: Value | None = None) -> Value:
    """An answer. patterns: all that made what is in view; pairs: of those that the intervention touches."""
    return {
        "state": "done",
        "request": request,
        "patterns": list(patterns),
        "pick": pick,
        "pictures": [
            {
                "key": pair.key,
                "before": pack(pair.before),
                "after": pack(pair.after),
                "more": None if pair.more is None else pack(pair.more, unit=False),
                "number": {"before": pair.numbers[0], "after": pair.numbers[1]},
            }
            for pair in pairs
        ],
        "sentence": dict(sentence),
    }
