"""The change panel, "What changes if …": a knob for each control that changes the model, then one
number, a table and a sentence: before, after, difference.

The panel sends nothing to the server itself. Its knobs hand their settings to the input bar
(input_bar.py), which sends all requests of the page.

The value that it draws is one JSON object, built with `show_unchanged`, `show_running`,
`show_change` and `show_refusal`:

    state: "empty" | "running" | "done" | "refused"
    query, plain, fields: of the request in view: its link, the link without its changes, every
        field as text; absent where it is refused
    number: {before, after, scale, digits, suffix}; unit: {en, zh}; sentence: {en, zh}, with parts
        in ⟦q:…⟧, ⟦k:…⟧, ⟦o:…⟧ in colours of roles
    rows: [{head, name, key, before, after, scale, digits, right, verdict}]
    or, in place of number, unit and rows, sides: [figures.sides.Side], or pairs:
        [figures.pairs.Pair] with their measure and names,
    or rolls: [figures.rollpairs.RollPair] with their names
    or, in place of rows, maps: [figures.maps.MapPair], with texts: [before, after] as figures.maps
        gives them with marks, and their language;
    words: [[word, probability before, after]] of the text that is read again, and their words_title
    items: {field: [{value, label, inner}]} that a control of kind "items" offers of the run in view
    pick: {model, kind, head, row, col, pos} in view on arrival, where the page has these keys
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.components.base import place_widget, write_late_address
from explorer.components.border import ChangePanelProps
from explorer.contract.control_kinds import Control
from explorer.contract.labels import write_change_sentence
from explorer.figures.maps import MapPair, mark_changes
from explorer.figures.pairs import Measure, PicturePair
from explorer.figures.rollpairs import RollPair
from explorer.figures.sides import TextSide
from explorer.values.packing import convert_to_json, record_fields

Text = Mapping[str, str]
Value = dict[str, object]

PICTURES = {
    "maps": "changedmaps",
    "sides": "changedtext",
    "pairs": "changedpixels",
    "rolls": "changedrolls",
}  # parts of a value that a picture of explorer/frontend/pictures/ draws


@dataclass(frozen=True)
class ChangedNumber:
    """The one number, before and after, printed times `scale`, with so many digits and a suffix,
    for example " %"."""

    before: float
    after: float
    scale: float = 1
    digits: int = 2
    suffix: str = ""


@dataclass(frozen=True)
class Row:
    """One row of the table, before and after: numbers, printed times `scale` with so many `digits`;
    or texts, with a `verdict` as their difference.

    head: the heading of the rows that it belongs to.
    name: the label of the row, None where it stands in files only.
    key: its name in files.
    right: of answers, whether each is right.
    kind: of the verdict, "lost", "won", "same" or "other".
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
    """The effect of a change as a number with its table.

    unit: the unit of the number's difference.
    sentence: the change in words.
    """

    number: ChangedNumber
    unit: Text
    rows: Sequence[Row]
    sentence: Text


def show_number_change(
    number: ChangedNumber, unit: Text, rows: Sequence[Row], moves: Text, stays: Text, **told: Any
) -> Difference:
    """Return a difference whose sentence is about its number.

    moves, stays: as in `labels.write_change_sentence`.
    """
    return Difference(
        number, unit, rows, write_change_sentence(moves, stays, number.before, number.after, **told)
    )


@dataclass(frozen=True)
class Readings:
    """The effect of a change on texts that are read again.

    sides: those of each model.
    """

    sides: Sequence[TextSide]
    sentence: Text


@dataclass(frozen=True)
class Pictures:
    """The effect of a change on pictures that are made again.

    pairs: those of each model that it reaches.
    names: the names of models, by key.
    """

    pairs: Sequence[PicturePair]
    measure: Measure
    names: Mapping[str, Text]
    sentence: Text


@dataclass(frozen=True)
class Rolls:
    """The effect of a change on music that is made again.

    rolls: those of each model that it reaches.
    names: the names of models, by key.
    """

    rolls: Sequence[RollPair]
    names: Mapping[str, Text]
    sentence: Text


@dataclass(frozen=True)
class Maps:
    """The effect of a change on a text that is read again, and on the attention that reads it.

    maps: the pairs of maps; the most telling one comes first.
    texts: free text, before and after.
    language: the BCP 47 tag of the texts.
    number, unit, sentence: as in a `Difference`.
    words: the words of the text that is read again, each with its probability before and after.
    words_title: the title above them.
    """

    maps: Sequence[MapPair]
    texts: tuple[str, str]
    language: str
    number: ChangedNumber
    unit: Text
    sentence: Text
    words: Sequence[tuple[str, float, float]]
    words_title: Text


Shown = Difference | Readings | Pictures | Rolls | Maps


def place_change_panel(
    value: Value, *, controls: Sequence[Control], kind: Any, across: bool = False
) -> gr.HTML:
    """Place the panel.

    controls: the controls of the page. Those that change the model become knobs.
    kind: the class of the page's requests.
    across: whether the panel is as wide as the page.
    """
    pictures = {
        part: write_late_address(f"frontend/pictures/{name}.js") for part, name in PICTURES.items()
    }
    props = ChangePanelProps(
        controls=[control.describe_control(kind) for control in controls if control.change],
        across=across,
        pictures=pictures,
    )
    return place_widget(
        "change",
        value,
        script="change_panel",
        **record_fields(props),
    )


def show_unchanged(about: Value) -> Value:
    """Return the value for an unchanged model: the knobs alone.

    about: query, plain, fields and pick of the run in view.
    """
    return {"state": "empty", **about}


def show_running(about: Value) -> Value:
    """Return the value while a change is being measured. The last one stays, dimmed.

    about: as in `show_unchanged`.
    """
    return {"state": "running", **about}


def show_refusal(text: Text | None) -> Value:
    """Return the value for a change that was refused, in one sentence. Without a sentence there is
    no result, and the input bar says why."""
    return {"state": "refused", "error": dict(text) if text else None}


def show_change(about: Value, difference: Shown) -> Value:
    """Return the value for a change that was measured.

    about: as in `show_unchanged`.
    """
    told = convert_to_json(difference)
    if isinstance(difference, Maps):
        told["texts"] = list(mark_changes(*difference.texts))
    return {"state": "done", **about, **told}
