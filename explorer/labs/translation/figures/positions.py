"""The position of a word in figures: the sinusoids, the similarity of two positions, and an
encoder's reading of another order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.figures import theme
from explorer.figures.attention import show_token

Array = NDArray[np.float32]
Figure = dict[str, Any]

WITH, WITHOUT = "var(--cat-2)", "var(--cat-1)"
NOTHING = 1e-8  # the end of the logarithmic axis: smaller values are drawn there


def measure_similarity(signal: Array) -> Array:
    """Measure the product of two positions' sinusoids at each distance, (distance,), divided by d /
    2, the product of one with itself.

    signal: (position, d), sines and cosines in turn. sin a sin b + cos a cos b = cos(a − b), so it
    depends on the distance alone.
    """
    length, d = signal.shape
    products = signal.astype(np.float64) @ signal[0].astype(np.float64)
    return np.asarray(products / (d / 2), np.float32).reshape(length)


def find_wavelength(dimension: int, d: int) -> float:
    """Return the wavelength of a dimension (from 0) in positions: 2π · 10000^(2k / d), where k is
    the pair that the dimension belongs to."""
    return 2 * math.pi * math.pow(10_000, (dimension - dimension % 2) / d)


def draw_squares(
    numbers: Sequence[Sequence[float]], axes: Mapping[str, tuple[str, str]], used: int | None = None
) -> dict[str, Figure]:
    """Draw signed numbers as cells, by language; the numbers travel once, under the first. axes:
    titles across and down. used: how many of the rows a sentence takes, where a line is drawn."""
    scale = [[at / 6, f"var(--signed-{at})"] for at in range(7)]
    cells = {
        "type": "heatmap",
        "z": numbers,
        "zmin": -1,
        "zmax": 1,
        "showscale": False,
        "colorscale": scale,
    }
    data = [{**cells, "hovertemplate": "%{y}, %{x}: %{z:.3f}<extra></extra>"}]
    first, *more = axes
    layouts = {language: _frame_axes(len(numbers), axes[language], used) for language in axes}
    return {
        first: {"data": data, "layout": layouts[first]},
        **{language: {"layout": layouts[language]} for language in more},
    }


def _frame_axes(rows: int, axes: tuple[str, str], used: int | None) -> dict[str, Any]:
    frame = theme.make_titled_layout(axes)
    frame["yaxis"] |= {"range": [rows - 0.5, -0.5], "zeroline": False}
    frame["xaxis"] |= {"zeroline": False}
    if used is not None and used < rows:
        line = {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "line": {"color": "var(--ink)", "width": 2},
        }
        frame["shapes"] = [{**line, "y0": used - 0.5, "y1": used - 0.5}]
    return dict(frame)


def draw_curve(similar: Array, axes: tuple[str, str]) -> Figure:
    """Draw the similarity of two positions by their distance, both ways. similar: from
    `measure_similarity`."""
    far = len(similar) - 1
    both = np.concatenate((similar[:0:-1], similar))
    line = {
        "type": "scatter",
        "mode": "lines",
        "x": list(range(-far, far + 1)),
        "y": [round(float(value), 4) for value in both],
        "line": {"color": WITHOUT, "width": 2},
        "hovertemplate": "%{x}: %{y:.3f}<extra></extra>",
    }
    frame = theme.make_titled_layout(axes)
    frame["yaxis"] |= {"range": [min(0.0, float(similar.min()) - 0.05), 1.05]}
    return {"data": [line], "layout": frame}


def draw_distances(
    pieces: Sequence[str],
    before: Sequence[int],
    signal: Array,
    silence: Array,
    axes: tuple[str, str],
    names: tuple[str, str],
) -> Figure:
    """Draw how far each piece's vector moves when the sentence is shuffled, on a logarithmic axis:
    with the signal and without.

    pieces: in the shuffled order, texts of a visitor; before: the former position of each. axes:
    titles. names: of the two rows of bars.
    """
    frame = theme.make_titled_layout(axes)
    # Two pieces may have one text: the places are numbers, the texts their names.
    labels = [f"\u2068{escape(show_token(piece), quote=True)}\u2069" for piece in pieces]
    frame["xaxis"] |= {
        "tickmode": "array",
        "tickvals": list(range(len(labels))),
        "ticktext": labels,
        "showgrid": False,
        "zeroline": False,
    }
    if len(labels) > 12:
        frame["xaxis"]["tickangle"] = -90
    highest = max(1.0, float(signal.max(initial=0)))
    frame["yaxis"] |= {
        "type": "log",
        "range": [math.log10(NOTHING), math.log10(highest) + 0.5],
        "dtick": 2,
        "exponentformat": "power",
    }
    frame |= {"barmode": "group", "bargap": 0.3}
    bars = [
        {
            "type": "bar",
            "name": name,
            "x": list(range(len(labels))),
            "y": [max(NOTHING, float(value)) for value in values],
            "marker": {"color": colour},
            "customdata": [
                [label, place, i]
                for i, (label, place) in enumerate(zip(labels, before, strict=True))
            ],
            "hovertemplate": (
                f"%{{customdata[0]}} %{{customdata[1]}} → %{{customdata[2]}}, {name}:"
                " %{y:.2g}<extra></extra>"
            ),
        }
        for name, values, colour in zip(names, (signal, silence), (WITH, WITHOUT), strict=True)
    ]
    return {"data": bars, "layout": frame}
