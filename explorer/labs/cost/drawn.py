"""Bars and histograms of the cost lab: arrays in, Plotly's own JSON out. Colours are tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.figures import theme

Figure = dict[str, Any]


def format_power(number: float, step: int = 1) -> str:
    """Return a large or small number with its power of ten, "1.20 × 10⁻⁴", or with powers in steps
    of 3 "16.0 × 10⁹"; other numbers in digits."""
    return (
        f"{number:,.4g}"
        if number == 0 or 1e-3 <= number < 99_995
        else theme.format_number(number, 3, step)
    )


def draw_bars_table(
    names: Sequence[str],
    amounts: Sequence[float],
    columns: Sequence[tuple[str, Sequence[str]]],
    colours: Sequence[str],
) -> Figure:
    """Draw a table of bars from 0, the first on top. The amount stands above its bar; columns of
    words stand at the right, each under its heading.

    The first column heads the bars themselves: its words are the amounts.
    """
    places = list(range(len(names)))
    frame = theme.make_titled_layout(("", ""))
    width = 50
    frame["margin"] = {"l": 8, "r": width * (len(columns) - 1) + 4, "t": 24, "b": 8}
    frame["xaxis"] |= {
        **theme.STILL,
        "range": [0, max(amounts)],
        "showticklabels": False,
        "ticks": "",
    }
    frame["yaxis"] |= {
        **theme.STILL,
        "range": [len(names) - 0.4, -0.5],
        "tickvals": places,
        "ticktext": list(names),
    }
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": list(amounts),
        "y": [place + 0.22 for place in places],
        "width": 0.22,
        "marker": {"color": list(colours), "line": {"width": 0}},
        "hovertemplate": "%{x:.4~s}<extra></extra>",
    }
    frame["annotations"] = []
    for at, (heading, cells) in enumerate(columns):
        own = (
            {"x": 0, "xanchor": "left"}
            if at == 0
            else {"x": 1, "xanchor": "right", "xshift": width * at}
        )
        shared = {**own, "xref": "paper", "showarrow": False}
        frame["annotations"].append(
            {
                **shared,
                "text": heading,
                "y": 1,
                "yref": "paper",
                "yanchor": "bottom",
                "font": {"size": 12, "color": "var(--ink3)"},
            }
        )
        font = {"size": 13, "color": "var(--ink)"}
        frame["annotations"] += [
            {**shared, "text": cell, "y": y - 0.1, "yref": "y", "font": font}
            for y, cell in enumerate(cells)
        ]
    return {"data": [bars], "layout": frame}


def draw_histograms(
    given: Sequence[tuple[str, NDArray[np.floating], str]], axes: tuple[str, str]
) -> Figure:
    """Draw how often each value occurs, one outline for each set.

    given: (name, values, colour) of each set. The outlines show shares of a set, in bins that all
    sets share."""
    frame = theme.make_titled_layout(axes)
    far = max(float(np.abs(values).max()) for _, values, _ in given)
    edges = np.linspace(-far, far, 62)
    middles = (edges[1:] + edges[:-1]) / 2
    data = []
    for name, values, colour in given:
        share = np.histogram(values, edges)[0] / values.size
        line: Figure = {
            "type": "scatter",
            "mode": "lines",
            "line": {"shape": "hvh", "width": 2, "color": colour},
            "name": name,
        }
        hover = f"{name}, %{{x:.1f}}: %{{y:.3f}}<extra></extra>"
        data.append({**line, "x": middles.tolist(), "y": share.tolist(), "hovertemplate": hover})
    frame["xaxis"] |= {"fixedrange": True, "showgrid": False}
    frame["yaxis"] |= {"fixedrange": True, "rangemode": "tozero"}
    return {"data": data, "layout": frame}
