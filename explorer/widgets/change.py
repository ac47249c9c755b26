"""What changes if …: a knob for each control that changes the model, then one number, a table and a sentence: before, after, difference.

The panel asks nothing of the server itself: what its knobs wish for goes to the input bar (ask.py), which sends all wishes of the page.

The value it draws is one JSON object, built with `idle`, `running`, `done` and `refused`:

    state: "empty" | "running" | "done" | "refused"
    query, plain, fields: of the request in view: its link, the link without its changes, every field as text; not where it is refused
    number: {before, after, scale, digits, suffix}; unit: {en, zh}; sentence: {en, zh}, parts in ⟦q:…⟧, ⟦k:…⟧, ⟦o:…⟧ in colours of roles
    rows: [{head, name, key, before, after, scale, digits, right, verdict}]
    or, in place of number, unit and rows, sides: [figures.sides.Side], or pairs: [figures.pairs.Pair] with their measure and names,
    or rolls: [figures.rollpairs.RollPair] with their names
    or, in place of rows, maps: [figures.maps.MapPair], with texts: [before, after] as figures.maps.marked gives them, and their language;
    words: [[word, probability before, after]] of the text that is read again, and their words_title
    items: {field: [{value, label, inner}]} that a control of kind "items" offers of the run in view
    pick: {model, kind, head, row, col, pos} in view on arrival, where the page has such a thing
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.controls import Control
from explorer.figures.maps import MapPair, marked
from explorer.figures.pairs import Measure, Pair
from explorer.figures.rollpairs import RollPair
from explorer.figures.sides import Side
from explorer.labels import change_sentence
from explorer.packing import spelled
from explorer.widgets.base import later, widget

Text = Mapping[str, str]
Value = dict[str, object]

PICTURES = {
    "maps": "changedmaps",
    "sides": "changedtext",
    "pairs": "changedpixels",
    "rolls": "changedrolls",
}  # parts of a value that a picture of explorer/pictures/ draws


@dataclass(frozen=True)
class Number:
    """The one number, before and after: printed times `scale`, with so many digits and a suffix such as " %"."""

    before: float
    after: float
    scale: float = 1
    digits: int = 2
    suffix: str = ""


@dataclass(frozen=True)
class Row:
    """One thing before and after: numbers, printed times `scale` with so many `digits`; or texts, with a `verdict` as their difference.

    head: the rows that it belongs to. name: what it is; None: it stands in files only. key: its name in files.
    right: of answers, whether each is right. kind: of the verdict, "lost", "won", "same" or "other".
    """

    head: Text
    name: Text | None
    key: str
    before: float | str | Text
    after: float | str | Text
    scale: float = 1
    digits: int = 2
    right: tuple[bool, bool] | None = None
    verdict: Text | None = None
    kind: str = ""


@dataclass(frozen=True)
class Difference:
    """What a change does. unit: what the number is a difference of. sentence: the change in words."""

    number: Number
    unit: Text
    rows: Sequence[Row]
    sentence: Text


def moved(number: Number, unit: Text, rows: Sequence[Row], moves: Text, stays: Text, **told: Any) -> Difference:
    """A difference whose sentence is about its number. moves, stays, told: as of `change_sentence`."""
    return Difference(number, unit, rows, change_sentence(moves, stays, number.before, number.after, **told))


@dataclass(frozen=True)
class Readings:
    """What a change does to texts that are read again. sides: of each model."""

    sides: Sequence[Side]
    sentence: Text


@dataclass(frozen=True)
class Pictures:
    """What a change does to pictures that are made again. pairs: of each model that it reaches. names: of models, by key."""

    pairs: Sequence[Pair]
    measure: Measure
    names: Mapping[str, Text]
    sentence: Text


@dataclass(frozen=True)
class Rolls:
    """What a change does to music that is made again. rolls: of each model that it reaches. names: of models, by key."""

    rolls: Sequence[RollPair]
    names: Mapping[str, Text]
    sentence: Text


@dataclass(frozen=True)
class Maps:
    """What a change does to a text that is read again, and to the attention that reads it. maps: the one that tells most comes first.
    texts: free, before and after; language: BCP 47 tag of them. number, unit, sentence: as of a `Difference`. words: of the text that is
    read again, each with its probability before and after; words_title: what stands above them."""

    maps: Sequence[MapPair]
    texts: tuple[str, str]
    language: str
    number: Number
    unit: Text
    sentence: Text
    words: Sequence[tuple[str, float, float]]
    words_title: Text


Shown = Difference | Readings | Pictures | Rolls | Maps


def change(value: Value, *, controls: Sequence[Control], kind: Any, across: bool = False) -> gr.HTML:
    """Place the panel. controls: of the page; those that change the model become knobs. kind: the class of its requests. across: it is as
    wide as the page."""
    drawn = {part: later(f"pictures/{name}.js") for part, name in PICTURES.items()}
    return widget("change", value, controls=[one.drawn(kind) for one in controls if one.change], across=across, pictures=drawn)


def idle(about: Value) -> Value:
    """Nothing is changed: the knobs alone. about: query, plain, fields and pick of the run in view."""
    return {"state": "empty", **about}


def running(about: Value) -> Value:
    """The change is being measured; the last one stays, dimmed. about: as of `idle`."""
    return {"state": "running", **about}


def refused(text: Text | None) -> Value:
    """The change was refused, in one sentence; without one, nothing came of it and the input bar says why."""
    return {"state": "refused", "error": dict(text) if text else None}


def done(about: Value, difference: Shown) -> Value:
    """A change that was measured. about: as of `idle`."""
    told = spelled(difference)
    if isinstance(difference, Maps):
        told["texts"] = list(marked(*difference.texts))
    return {"state": "done", **about, **told}
