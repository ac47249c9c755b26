"""What changes if …, for pictures: heads silenced, knobs turned; then each model's picture before, after, the difference, one number.

What can be changed is declared by the page as knobs, each for a field of its request. The models are called patterns here.

The value it draws is one JSON object, built with `idle`, `running`, `done` and `refused`:

    state: "empty" | "running" | "done" | "refused"
    request: the request in view, interventions included; None before there is one
    pick: {pattern, head} looked at on arrival, head as "3.2" counted from 1
    patterns: keys of those that made what is in view; a knob or a head of another one waits
    pictures: [figures.pairs.spelled]; what their number measures is the page's affair
    sentence: {en, zh}, parts in ⟦q:…⟧, ⟦k:…⟧, ⟦o:…⟧ wear the colour of query, key and output
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import gradio as gr

from explorer.figures import theme
from explorer.figures.pairs import Measure, Pair, spelled
from explorer.widgets.base import widget

Text = Mapping[str, str]
Value = dict[str, object]

__all__ = ["Knob", "Pair", "done", "idle", "refused", "remake", "running"]

EVENTS = ("ask",)  # not "change": Gradio fires that itself whenever a value changes


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


def remake(
    value: Value,
    *,
    knobs: Sequence[Knob],
    patterns: Mapping[str, Text],
    heads: Mapping[str, tuple[int, int]],
    number_label: Text,
) -> gr.HTML:
    """Place the panel. Its event `ask` brings the whole request as it shall be.

    patterns: key -> its short name. heads: key -> its layers and heads. number_label: what the number measures.
    """
    return widget(
        "remake",
        value,
        events=EVENTS,
        knobs=[knob.spelled() for knob in knobs],
        patterns={key: dict(name) for key, name in patterns.items()},
        heads={key: list(count) for key, count in heads.items()},
        measure=Measure(number_label).spelled(),
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
        "pictures": [spelled(pair) for pair in pairs],
        "sentence": dict(sentence),
    }
