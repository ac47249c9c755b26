"""Arrays -> bars and histograms of the cost laboratory, as Plotly's own JSON. Colours are tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.figures import theme

Figure = dict[str, Any]


def power(number: float, step: int = 1) -> str:
    """A large or small number with its power of ten: "1.20 × 10⁻⁴", with steps of 3 in it "16.0 × 10⁹"; others in digits."""
    return f"{number:,.4g}" if number == 0 or 1e-3 <= number < 99_995 else theme.power(number, 3, step)


def paper(names: Sequence[str], amounts: Sequence[float], columns: Sequence[tuple[str, Sequence[str]]], colours: Sequence[str]) -> Figure:
    """A table of bars from 0, the first on top: the amount stands above its bar; columns of words at the right, each under its heading.

    The first column heads the bars themselves: its words are the amounts.
    """
    places = list(range(len(names)))
    frame = theme.titled(("", ""))
    width = 50
    frame["margin"] = {"l": 8, "r": width * (len(columns) - 1) + 4, "t": 24, "b": 8}
    frame["xaxis"] |= {**theme.STILL, "range": [0, max(amounts)], "showticklabels": False, "ticks": ""}
    frame["yaxis"] |= {**theme.STILL, "range": [len(names) - 0.4, -0.5], "tickvals": places, "ticktext": list(names)}
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
        own = {"x": 0, "xanchor": "left"} if at == 0 else {"x": 1, "xanchor": "right", "xshift": width * at}
        shared = {**own, "xref": "paper", "showarrow": False}
        frame["annotations"].append(
            {**shared, "text": heading, "y": 1, "yref": "paper", "yanchor": "bottom", "font": {"size": 12, "color": "var(--ink3)"}}
        )
        font = {"size": 13, "color": "var(--ink)"}
        frame["annotations"] += [{**shared, "text": cell, "y": y - 0.1, "yref": "y", "font": font} for y, cell in enumerate(cells)]
    return {"data": [bars], "layout": frame}


def histograms(given: Sequence[tuple[str, NDArray[np.floating], str]], axes: tuple[str, str]) -> Figure:
    """How often each value occurs, one outline a set: (name, values, colour). Shares of a set in bins that all share."""
    frame = theme.titled(axes)
    far = max(float(np.abs(values).max()) for _, values, _ in given)
    edges = np.linspace(-far, far, 62)
    middles = (edges[1:] + edges[:-1]) / 2
    data = []
    for name, values, colour in given:
        share = np.histogram(values, edges)[0] / values.size
        line: Figure = {"type": "scatter", "mode": "lines", "line": {"shape": "hvh", "width": 2, "color": colour}, "name": name}
        hover = f"{name}, %{{x:.1f}}: %{{y:.3f}}<extra></extra>"
        data.append({**line, "x": middles.tolist(), "y": share.tolist(), "hovertemplate": hover})
    frame["xaxis"] |= {"fixedrange": True, "showgrid": False}
    frame["yaxis"] |= {"fixedrange": True, "rangemode": "tozero"}
    return {"data": data, "layout": frame}
