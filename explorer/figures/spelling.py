"""A word said twice by several models, letter by letter, or a text read by one; accuracy by rounds of training and evaluation. As JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.figures.theme import titled
from explorer.packing import pack

Array = NDArray[np.float32]
Text = Mapping[str, str]
Value = dict[str, object]


@dataclass(frozen=True)
class Run:
    """What one model made of it.

    key: its name, as in the address. name: what it is called. said: the likeliest letter at each place, everything before it given.
    nats: (letter,) −log p of the right one.
    """

    key: str
    name: Text
    said: str
    nats: Array


def value(
    runs: Sequence[Run],
    *,
    mode: str,
    given: str,
    first: int,
    query: str,
    state: str,
    pick: Mapping[str, object] | None = None,
) -> Value:
    """A run. mode: "word", whose letters are to be said again, or "text". given: its letters. first: the position that says the first of
    them; the others follow. query: its permalink. state: "stored" or "live". pick: {model, pos} looked at on arrival.

    ValueError where a model says more or fewer letters than were given.
    """
    for run in runs:
        if not len(run.said) == len(run.nats) == len(given):
            raise ValueError(f"{run.key} says {len(run.said)} letters with {len(run.nats)} nats for {len(given)} given ones")
    return {
        "state": state,
        "mode": mode,
        "query": query,
        "given": given,
        "first": first,
        "pick": None if pick is None else dict(pick),
        "runs": [_drawn(run, given) for run in runs],
    }


def _drawn(run: Run, given: str) -> Value:
    right = [a == b for a, b in zip(run.said, given, strict=True)]
    return {
        "key": run.key,
        "name": dict(run.name),
        "said": run.said,
        "right": sum(right),
        "bits": float(np.asarray(run.nats, np.float64).mean() / math.log(2)) if given else 0.0,
        "nats": pack(np.asarray(run.nats, np.float32), unit=False),
    }


@dataclass(frozen=True)
class Row:
    """A trained model in the table: what was measured here, and what is in print, by rounds of evaluation; None where there is nothing."""

    key: str
    name: Text
    ours: Sequence[float | None]
    printed: Sequence[float | None]


def rounds(columns: Sequence[str], rows: Sequence[Row], axes: tuple[str, str], language: str, here: Mapping[str, str]) -> Value:
    """Accuracy by rounds of evaluation, across, and of training: measured, and under it what is in print. Plotly's own JSON.

    columns: what they are called. axes: titles. here: by model the column of its run in view, which is framed.
    ValueError for a row that does not fit the columns.
    """
    for each in [*(row.ours for row in rows), *(row.printed for row in rows)]:
        if len(each) != len(columns):
            raise ValueError(f"{len(each)} figures under {len(columns)} columns")
    frame = titled(axes)
    ticks = {"showgrid": False, "zeroline": False, "fixedrange": True, "tickmode": "array"}
    across, down = list(range(len(columns))), list(range(len(rows)))
    frame["xaxis"] |= {**ticks, "side": "top", "tickvals": across, "ticktext": list(columns)}
    frame["yaxis"] |= {**ticks, "tickvals": down, "ticktext": [row.name[language] for row in rows], "range": [len(rows) - 0.5, -0.5]}
    frame["annotations"] = [
        {
            "x": x,
            "y": y,
            "text": f"<b>{_figure(row.ours[x])}</b><br>{_figure(row.printed[x])}",
            "showarrow": False,
            "font": {"size": 13, "color": "var(--ink)"},
        }
        for y, row in enumerate(rows)
        for x in across
    ]
    frame["shapes"] = [
        {"type": "rect", "x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5, "line": {"color": "var(--query)", "width": 3}}
        for y, row in enumerate(rows)
        for x in across
        if here.get(row.key) == columns[x]
    ]
    frame["margin"] = {"l": 104, "r": 4, "t": 58, "b": 8}
    cells = {
        "type": "heatmap",
        "z": [list(row.ours) for row in rows],
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, "var(--panel)"], [1, "var(--key)"]],
        "opacity": 0.38,
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "hoverinfo": "skip",
    }
    return {"data": [cells], "layout": frame}


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
