"""The figure widget: any Plotly figure with its title, units, legend in words, sentence, table and
exports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer.components.base import place_widget, write_vendor_address
from explorer.components.border import FigureProps
from explorer.components.folded import show_closed
from explorer.values.packing import convert_to_json, record_fields

if TYPE_CHECKING:
    import plotly.graph_objects as go

Text = Mapping[str, str]  # {"en": "…", "zh": "…"}
Plain = Mapping[str, object]  # a figure as JSON: {"data": […], "layout": {…}}


@dataclass(frozen=True)
class Mark:
    """An entry of the legend in words: the meaning of a colour."""

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


def describe_figure(
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
    """Return the value that the widget draws, as JSON.

    figure: colours as tokens ("var(--key)"). Where axis titles or names are words, one figure per
        language {"en": …, "zh": …}, or a function of the language. A figure that is drawn in
        advance comes as plain JSON, so that no page imports Plotly to be built.
    sentence: computed from the figure. It is the figure's alternative text too.
    height: the height of the plot, in pixels. The width is all the room there is.
    name: part of the names of saved files.
    note: a further remark for the reader, below in small letters.
    """
    if callable(figure):
        figure = {language: figure(language) for language in ("en", "zh")}
    figures = dict(figure) if isinstance(figure, Mapping) else {"en": figure}
    return {
        "figures": {
            language: each if isinstance(each, Mapping) else json.loads(each.to_json())
            for language, each in figures.items()
        },
        "note": dict(note or {}),
        **convert_to_json(
            {
                "title": title,
                "units": units,
                "sentence": sentence,
                "legend": legend,
                "table": table,
                "height": height,
                "name": name,
            }
        ),
    }


def describe_drawn_figure(
    name: str,
    draw: Callable[[str], Plain] | Mapping[str, Plain],
    words: tuple[Text, Text, Text],
    columns: Sequence[Text],
    rows: Sequence[Sequence[str | float | Text | None]],
    legend: Sequence[Mark] = (),
    height: int = 260,
    note: Text | None = None,
) -> dict[str, object]:
    """Return `describe_figure` of a drawn figure.

    draw: the figure by language, a function or a mapping.
    words: its title, units and sentence.
    columns, rows: its table.
    """
    title, units, sentence = words
    table = Table(columns, rows)
    return describe_figure(
        draw,
        title=title,
        units=units,
        sentence=sentence,
        table=table,
        legend=legend,
        height=height,
        name=name,
        note=note,
    )


def place_figure(value: Mapping[str, object] | None = None) -> gr.HTML:
    """Place the widget.

    value: from `describe_figure`, or None while there is nothing to show.
    """
    props = FigureProps(write_vendor_address("plotly"))
    return place_widget("figure", value, **record_fields(props))


def place_measured_figure(found: Mapping[str, object] | None, name: str = "bench") -> None:
    """Place a figure of measured values, where they exist.

    name: a class by which a guided step finds it, without its "tfe-".
    """
    if found is not None:
        with gr.Column(elem_classes=["tfe-bench", f"tfe-{name}"]):
            place_figure(found)


def place_run_figure(
    name: str, value: Mapping[str, object] | None = None, *, main: bool = False
) -> gr.HTML:
    """Place a figure that belongs to the run in view under a name of its own, so that stored
    results reach this figure and no other.

    main: whether it is the page's own subject among several figures. Its title is then a heading of
        the page.
    """
    props = FigureProps(write_vendor_address("plotly"), main)
    return place_widget(name, value, script="run_figure", **record_fields(props))


def describe_choice(
    key: str, label: Text, options: Mapping[str, Text], pick: str = ""
) -> dict[str, object]:
    """Return one of the choices of a folded panel.

    options: the choices by their key in the address.
    pick: the choice on arrival, by default the first.
    """
    told = [{"key": name, "label": dict(said)} for name, said in options.items()]
    return {"key": key, "label": dict(label), "pick": pick or next(iter(options)), "options": told}


def place_folded_figures(name: str, title: Text, *, asks: Sequence[str] = ()) -> gr.HTML:
    """Place a folded panel (folded.py) that holds figures.

    title: its question.
    asks: keys of the address that its question holds, as texts.

    Its value is a figure, from `describe_figure`, or parts in their order on the page. Each is
    named by its kind, a further one KIND_name:

        figures: [{figure, when: {key: text}}], drawn one beside the other, each only where the
            choices say so
        choices: [{key, label, pick, options: [{key, label}]}]; notes: [text]; heading: text; facts:
            [[name, text]]
        lines: [{label, lang, pieces: [{text, index, role: "query" | "key" | "out" | None,
            joined}]}]
        button: {label, set: {key: text}}, which writes the address
        table: {columns: [text], rows: [{cells: [text], ours, marks: [class or None]}], langs:
            [language or None, by column]}

    A text is {en, zh}; in a cell it may be a plain one too. The address holds its name (open) and
    the choices.
    """
    props: dict[str, Any] = {"opens": name, "title_text": dict(title), "asks": list(asks)}
    return place_widget(
        name,
        show_closed(),
        events=("ask",),
        script="folded_panel",
        plotly=write_vendor_address("plotly"),
        **props,
    )
