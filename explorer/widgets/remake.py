"""What changes if …, for pictures: heads silenced, memory cut; then each pattern's picture before, after, the difference, one number.

The value it draws is one JSON object, built with `idle`, `running`, `done` and `refused`:

    state: "empty" | "running" | "done" | "refused"
    request: the request in view, interventions included; None before there is one
    pick: {pattern, head} looked at on arrival, head as "3.2" counted from 1
    patterns: keys of those that made what is in view; a knob or a head of another one waits
    pictures: [{key, before, after, number: {before, after}}], packed levels (row, column[, channel]) of one shape; bits/dim
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


@dataclass(frozen=True)
class Knob:
    """A slider that cuts a memory of some patterns. field: of the request; most: its value as trained. unit: says "{n}"."""

    field: str
    label: Text
    unit: Text
    most: int
    patterns: tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """One pattern's picture before and after, levels of one shape (row, column[, channel]), and the bits/dim of the picture before.

    key: of the pattern. numbers: bits/dim as trained, and read under the intervention.
    """

    key: str
    before: NDArray[np.uint8]
    after: NDArray[np.uint8]
    numbers: tuple[float, float]

    def __post_init__(self) -> None:
        if self.before.shape != self.after.shape:
            raise ValueError(f"before {self.before.shape} and after {self.after.shape} are pictures of one shape")


def remake(
    value: Value, *, knobs: Sequence[Knob], patterns: Mapping[str, Text], heads: Mapping[str, tuple[int, int]], number_label: Text
) -> gr.HTML:
    """Place the panel. Its event `ask` brings the whole request as it shall be.

    patterns: key -> its short name. heads: key -> its layers and heads. number_label: what the number measures.
    """
    return widget(
        "remake",
        value,
        events=EVENTS,
        knobs=[
            {
                "field": knob.field,
                "label": dict(knob.label),
                "unit": dict(knob.unit),
                "most": knob.most,
                "patterns": list(knob.patterns),
            }
            for knob in knobs
        ],
        patterns={key: dict(name) for key, name in patterns.items()},
        heads={key: list(count) for key, count in heads.items()},
        numberLabel=dict(number_label),
        signed={mode: list(stops) for mode, stops in theme.SIGNED.items()},
    )


def idle(request: Value | None = None, patterns: Sequence[str] = (), pick: Value | None = None) -> Value:
    """Nothing is changed: the knobs alone."""
    return {"state": "empty", "request": request, "patterns": list(patterns), "pick": pick}


def running() -> Value:
    """The models draw again; the last pictures stay, dimmed."""
    return {"state": "running"}


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
                "number": {"before": pair.numbers[0], "after": pair.numbers[1]},
            }
            for pair in pairs
        ],
        "sentence": dict(sentence),
    }
