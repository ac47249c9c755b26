"""The figure widget: any Plotly figure with its title, units, legend in words, sentence, table and exports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer.packing import spelled
from explorer.widgets.base import vendor, widget
from explorer.widgets.folded import ready

if TYPE_CHECKING:
    import plotly.graph_objects as go

Text = Mapping[str, str]  # {"en": "…", "zh": "…"}
Plain = Mapping[str, object]  # a figure as JSON: {"data": […], "layout": {…}}


@dataclass(frozen=True)
class Mark:
    """An entry of the legend in words: what a colour means."""

    text: Text
    colour: str  # a token, "var(--cat-1)"
    dashed: bool = False  # published figures are dashed, ours are solid


@dataclass(frozen=True)
class Table:
    """The numbers of a figure, for readers and for the CSV and NPZ exports."""

    columns: Sequence[Text]  # one heading per column, with its unit
    rows: Sequence[Sequence[str | float | Text | None]]  # None is a missing value

    def __post_init__(self) -> None:
        wrong = {len(row) for row in self.rows} - {len(self.columns)}
        if wrong:
            raise ValueError(f"rows of {sorted(wrong)} cells under {len(self.columns)} columns")


def value(
    figure: go.Figure | Mapping[str, go.Figure | Plain] | Callable[[str], Plain],
    *,
    title: Text,
    sentence: Text,
    table: Table,
    units: Text | None = None,
    legend: Sequence[Mark] = (),
    height: int = 260,
    name: str = "figure",
    note: Text | None = None,
) -> dict[str, object]:
    """What the widget draws, as JSON.

    figure: colours as tokens ("var(--key)"); where axis titles or names are words, one figure per language {"en": …, "zh": …}, or a
        function of the language. One that is drawn before anybody asks comes as plain JSON, so that no page need import Plotly to be built.
    sentence: computed from the figure; it is the figure's alternative text too. height: of the plot, in pixels; as wide as there is room.
    name: part of the names of saved files. note: what a reader may want to know besides; it stands below in small letters.
    """
    if callable(figure):
        figure = {language: figure(language) for language in ("en", "zh")}
    figures = dict(figure) if isinstance(figure, Mapping) else {"en": figure}
    return {
        "figures": {language: each if isinstance(each, Mapping) else json.loads(each.to_json()) for language, each in figures.items()},
        "note": dict(note or {}),
        **spelled({"title": title, "units": units, "sentence": sentence, "legend": legend, "table": table, "height": height, "name": name}),
    }


def shown(
    name: str,
    draw: Callable[[str], Plain] | Mapping[str, Plain],
    words: tuple[Text, Text, Text],
    columns: Sequence[Text],
    rows: Sequence[Sequence[str | float | Text | None]],
    legend: Sequence[Mark] = (),
    height: int = 260,
    note: Text | None = None,
) -> dict[str, object]:
    """`value` in short. draw: the figure by language, a function or a mapping; words: its title, units and sentence; columns, rows: its
    table."""
    title, units, sentence = words
    table = Table(columns, rows)
    return value(draw, title=title, units=units, sentence=sentence, table=table, legend=legend, height=height, name=name, note=note)


def figure(value: Mapping[str, object] | None = None) -> gr.HTML:
    """Place the widget. value: from `value`, or None while there is nothing to show."""
    return widget("figure", value, plotly=vendor("plotly"))


def measured(found: Mapping[str, object] | None, name: str = "bench") -> None:
    """Place a figure of what was measured, where it was. name: a class that a guided step finds it by, without its "tfe-"."""
    if found is not None:
        with gr.Column(elem_classes=["tfe-bench", f"tfe-{name}"]):
            figure(found)


def own(name: str, value: Mapping[str, object] | None = None, *, main: bool = False) -> gr.HTML:
    """Place a figure that belongs to the run in view under a name of its own, so that stored results reach it and no other figure.

    main: it is the page's own subject, among several: its title is a heading of the page.
    """
    return widget(name, value, script="own", plotly=vendor("plotly"), main=main)


def choice(key: str, label: Text, options: Mapping[str, Text], pick: str = "") -> dict[str, object]:
    """One of the choices of a folded panel. options: by what the address says; pick: the one on arrival, left out the first."""
    told = [{"key": name, "label": dict(said)} for name, said in options.items()]
    return {"key": key, "label": dict(label), "pick": pick or next(iter(options)), "options": told}


def opened(name: str, title: Text, *, asks: Sequence[str] = ()) -> gr.HTML:
    """Place a folded panel (folded.py) that holds figures. title: its question. asks: keys of the address that its wish holds, as texts.

    Its value: figure, from `value`; or parts in the order in which they stand, each named by its kind, a further one KIND_name:

        figures: [{figure, when: {key: text}}], drawn one beside the other, each only where the choices say so
        choices: [{key, label, pick, options: [{key, label}]}]; notes: [text]; heading: text; facts: [[name, what]]
        lines: [{label, lang, pieces: [{text, index, role: "query" | "key" | "out" | None, joined}]}]
        button: {label, set: {key: text}}, which writes the address
        table: {columns: [text], rows: [{cells: [text], ours, marks: [class or None]}], langs: [language or None, by column]}

    A text is {en, zh}; of a cell a plain one too. In the address: its name (open), and what is chosen.
    """
    props: dict[str, Any] = {"opens": name, "title_text": dict(title), "asks": list(asks)}
    return widget(name, ready(), events=("ask",), script="opened", plotly=vendor("plotly"), **props)
