"""Spelling and rounds as JSON: a word repeated by several models, letter by letter, or a text read
by one; accuracy by rounds of training and evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.figures.theme import STILL, make_titled_layout
from explorer.values.packing import pack_array

Text = Mapping[str, str]
Value = dict[str, object]


def draw_spelling(runs: Sequence[Any], names: Mapping[str, Text], **run: object) -> Value:
    """Draw a run. runs: `models.reformer.records.Read` of each model. names: of the models, by
    variant.

    run: mode, "word", whose letters are to be repeated, or "text"; given: its letters; first: the
    position that predicts the first of them, the others follow; query: its permalink; state:
    "stored" or "live"; pick: {model, pos}, the selection on arrival.
    """
    models = [
        {
            "key": one.variant,
            "name": dict(names[one.variant]),
            "said": one.said,
            "right": int(np.asarray(one.right).sum()),
            "hits": np.asarray(one.right).tolist(),
            "bits": float(np.asarray(one.nats, np.float64).mean() / math.log(2))
            if len(one.nats)
            else 0.0,
            "nats": pack_array(np.asarray(one.nats, np.float32), unit=False),
        }
        for one in runs
    ]
    return {**run, "runs": models}


@dataclass(frozen=True)
class Row:
    """A trained model in the table: measured and published accuracies, by rounds of evaluation;
    None where there is no value."""

    key: str
    name: Text
    ours: Sequence[float | None]
    printed: Sequence[float | None]


def draw_rounds(
    columns: Sequence[str],
    rows: Sequence[Row],
    axes: tuple[str, str],
    language: str,
    here: Mapping[str, str],
) -> Value:
    """Draw accuracy by rounds of evaluation, across, and of training: the measured value, and the
    published one under it. The result is Plotly's own JSON.

    columns: their names. axes: their titles. here: by model the column of its run in view, which is
    framed. Raise ValueError for a row that does not fit the columns.
    """
    for each in [*(row.ours for row in rows), *(row.printed for row in rows)]:
        if len(each) != len(columns):
            raise ValueError(f"{len(each)} figures for {len(columns)} columns; expected one each")
    frame = make_titled_layout(axes)
    ticks = {**STILL, "tickmode": "array"}
    across, down = list(range(len(columns))), list(range(len(rows)))
    frame["xaxis"] |= {**ticks, "side": "top", "tickvals": across, "ticktext": list(columns)}
    frame["yaxis"] |= {
        **ticks,
        "tickvals": down,
        "ticktext": [row.name[language] for row in rows],
        "range": [len(rows) - 0.5, -0.5],
    }
    places = [(x, y, row) for y, row in enumerate(rows) for x in across]
    font = {"size": 13, "color": "var(--ink)"}
    frame["annotations"] = [
        {
            "x": x,
            "y": y,
            "text": f"<b>{_format_figure(row.ours[x])}</b><br>{_format_figure(row.printed[x])}",
            "showarrow": False,
            "font": font,
        }
        for x, y, row in places
    ]
    frame["shapes"] = [
        {
            "type": "rect",
            "x0": x - 0.5,
            "x1": x + 0.5,
            "y0": y - 0.5,
            "y1": y + 0.5,
            "line": {"color": "var(--query)", "width": 3},
        }
        for x, y, row in places
        if here.get(row.key) == columns[x]
    ]
    frame["margin"] = {"l": 104, "r": 4, "t": 58, "b": 8}
    scale = {
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, "var(--panel)"], [1, "var(--key)"]],
        "opacity": 0.38,
        "showscale": False,
    }
    cells = {
        "type": "heatmap",
        "z": [list(row.ours) for row in rows],
        **scale,
        "xgap": 1,
        "ygap": 1,
        "hoverinfo": "skip",
    }
    return {"data": [cells], "layout": frame}


def _format_figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
