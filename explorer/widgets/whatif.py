"""What changes if …: an intervention in the live model, drawn as before, after, difference, one number and one sentence.

The value it draws is one JSON object, built with `idle`, `running`, `done` and `refused`:

    state: "empty" | "running" | "done" | "refused"
    request: the request in view, interventions included; source: {pieces, space}, what can be hidden
    pick: {kind, head} looked at on arrival, head as "3.5" counted from 1
    before, after: [[words, "" | "gone" | "new"], …]
    maps: {pictures: [{key, label, unit, queries, keys, before, after}]}, arrays of equal shape (query, key) in [0, 1]
    number: {before, after}; sentence: {en, zh}, parts in ⟦q:…⟧, ⟦k:…⟧, ⟦o:…⟧ wear the colour of query, key and output
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import gradio as gr
import numpy as np
from numpy.typing import NDArray

from explorer.figures import theme
from explorer.packing import pack
from explorer.widgets.base import widget

Text = Mapping[str, str]
Value = dict[str, object]
Marked = list[list[str]]

EVENTS = ("ask",)  # not "change": Gradio fires that itself whenever a value changes


@dataclass(frozen=True)
class Mode:
    """One kind of intervention. key: "silence", "hide" or "parts", the editor in whatif.js; label: in the switch; title: of the panel."""

    key: str
    label: Text
    title: Text


@dataclass(frozen=True)
class Part:
    """A part of the network that can be left out, for the mode "parts". key: in the request's `without`; note: what it means to do so."""

    key: str
    label: Text
    note: Text


@dataclass(frozen=True)
class Picture:
    """One map before and after: both (query, key) with weights in [0, 1].

    label: in the list of pictures. unit: two or three words beside the title. queries, keys: one text for each row and column.
    """

    key: str
    label: Text
    unit: Text
    queries: Sequence[str]
    keys: Sequence[str]
    before: NDArray[np.float32]
    after: NDArray[np.float32]

    def __post_init__(self) -> None:
        shape = (len(self.queries), len(self.keys))
        if self.before.shape != shape or self.after.shape != shape:
            raise ValueError(f"before {self.before.shape} and after {self.after.shape} for {shape[0]} queries and {shape[1]} keys")


def whatif(value: Value, *, modes: Sequence[Mode], number_label: Text, output_language: str = "", parts: Sequence[Part] = ()) -> gr.HTML:
    """Place the panel. Its event `ask` brings the whole request as it shall be.

    number_label: what the one number measures. output_language: BCP 47 tag of the texts before and after. parts: for the mode "parts".
    """
    if not modes:
        raise ValueError("0 modes: there is nothing to change")
    return widget(
        "whatif",
        value,
        events=EVENTS,
        modes=[{"key": mode.key, "label": dict(mode.label), "title": dict(mode.title)} for mode in modes],
        parts=[{"key": part.key, "label": dict(part.label), "note": dict(part.note)} for part in parts],
        numberLabel=dict(number_label),
        scales={"weights": list(theme.WEIGHTS), "signed": {mode: list(stops) for mode, stops in theme.SIGNED.items()}},
        outputLanguage=output_language,
    )


def idle(request: Value | None, source: Value | None, pick: Value | None = None) -> Value:
    """Nothing is changed: the knobs alone."""
    return {"state": "empty", "request": request, "source": source, "pick": pick}


def running() -> Value:
    """The model reads again; the last pictures stay, dimmed."""
    return {"state": "running"}


def refused(text: Text | None) -> Value:
    """The intervention was refused, in one sentence; without one, nothing came of it and the prompt says why."""
    return {"state": "refused", "error": dict(text) if text else None}


def done(
    request: Value,
    source: Value,
    *,
    mode: str,
    before: str,
    after: str,
    pictures: Sequence[Picture],
    numbers: tuple[float, float],
    sentence: Text,
    pick: Value | None = None,
) -> Value:
    """An answer. before, after: the texts; numbers: the figure without and with the intervention, whose difference is the one number."""
    gone, new = marked(before, after)
    return {
        "state": "done",
        "request": request,
        "source": source,
        "pick": pick,
        "mode": mode,
        "before": gone,
        "after": new,
        "maps": {
            "pictures": [
                {
                    "key": picture.key,
                    "label": dict(picture.label),
                    "unit": dict(picture.unit),
                    "queries": list(picture.queries),
                    "keys": list(picture.keys),
                    "before": pack(picture.before),
                    "after": pack(picture.after),
                }
                for picture in pictures
            ]
        },
        "number": {"before": numbers[0], "after": numbers[1]},
        "sentence": dict(sentence),
    }


def marked(before: str, after: str) -> tuple[Marked, Marked]:
    """Both texts in runs of words, those that vanished marked "gone" and those that came "new".

    A punctuation mark counts as a word. Runs are joined by a space, except before punctuation.
    """
    first, second = _words(before), _words(after)
    gone: Marked = []
    new: Marked = []
    for tag, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if b > a:
            gone.append([_joined(first[a:b]), "" if tag == "equal" else "gone"])
        if d > c:
            new.append([_joined(second[c:d]), "" if tag == "equal" else "new"])
    return gone, new


def _words(text: str) -> list[str]:
    return re.findall(r"\w+(?:[-'’]\w+)*|[^\w\s]", text)


def _joined(words: Sequence[str]) -> str:
    return re.sub(r" ([.,;:!?%)\]])", r"\1", " ".join(words))
