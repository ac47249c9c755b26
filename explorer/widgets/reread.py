"""What changes if …, for texts that are read character by character: the memory or the spans changed, and the same characters read again.

Each model that the change reaches shows what every character costs before, after and the difference, one number, and what it writes each
time. What can be changed is declared by the page as knobs: `Range`, `Stops`, `Pick`, `Spans` and `Heads`, each for a field of its request.

The value it draws is one JSON object, built with `idle`, `running`, `done` and `refused`:

    state: "empty" | "running" | "done" | "refused"
    request: the request in view, interventions included; None before there is one
    pick: {model, head, pos} looked at on arrival: head as "2.3" counted from 1, pos a character from 0
    sides: [{key, name, given, segment, first, number: {before, after}, unit, reached, unreached, text, before, after, written, answers}],
        see `Side`; before, after: packed (position,) bits, None where the change does not reach the model; number: their means over the
        given text, or the model's share
    sentence: {en, zh}, parts in ⟦q:…⟧, ⟦k:…⟧, ⟦o:…⟧ wear the colour of query, key and output
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import gradio as gr

from explorer.figures.sides import Side, scales, spelled
from explorer.knobs import Heads, Knob, Pick, Range, Spans, Stops
from explorer.widgets.base import widget

Text = Mapping[str, str]
Value = dict[str, object]

__all__ = ["Heads", "Knob", "Pick", "Range", "Side", "Spans", "Stops", "done", "idle", "refused", "reread", "running"]

EVENTS = ("ask",)  # not "change": Gradio fires that itself whenever a value changes


def reread(value: Value, *, knobs: Sequence[Knob]) -> gr.HTML:
    """Place the panel. Its event `ask` brings the whole request as it shall be."""
    if not knobs:
        raise ValueError("0 knobs: there is nothing to change")
    return widget(
        "reread",
        value,
        events=EVENTS,
        knobs=[knob.spelled() for knob in knobs],
        scales=scales(),
    )


def idle(request: Value | None = None, pick: Value | None = None) -> Value:
    """Nothing is changed: the knobs alone."""
    return {"state": "empty", "request": request, "pick": pick}


def running(request: Value | None = None) -> Value:
    """The models read again; the last pictures stay, dimmed. request: as the knobs then stand, None where they stand there already."""
    return {"state": "running"} if request is None else {"state": "running", "request": request}


def refused(text: Text | None) -> Value:
    """The change was refused, in one sentence; without one, nothing came of it and the input bar says why."""
    return {"state": "refused", "error": dict(text) if text else None}


def done(request: Value, sides: Sequence[Side], sentence: Text, pick: Value | None = None) -> Value:
    """An answer. sides: all models that read, in the order they stand side by side; one that the change does not reach is not drawn."""
    if not sides:
        raise ValueError("0 sides: at least one model reads")
    return {
        "state": "done",
        "request": request,
        "pick": pick,
        "sides": [spelled(side) for side in sides],
        "sentence": dict(sentence),
    }
