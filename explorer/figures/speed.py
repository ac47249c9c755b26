"""The times of several ways to the same result, as bars on a logarithmic axis, since they differ by
orders of magnitude."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.figures.theme import make_layout, make_row_axis

Text = Mapping[str, str]


@dataclass(frozen=True)
class Way:
    """One way.

    milliseconds: the time of one result, above 0.
    ours: whether it is drawn in the accent.
    """

    name: Text
    milliseconds: float
    ours: bool = False


def draw_ways(ways: Sequence[Way], *, axis: str, language: str) -> dict[str, Any]:
    """Return points on stalks from the left edge, the first way on top, as Plotly's own JSON: a bar
    has no beginning on a logarithmic axis.

    axis: its title.
    Raise ValueError for no ways, or for a time that is not positive.
    """
    if not ways or not all(way.milliseconds > 0 for way in ways):
        raise ValueError(f"{len(ways)} ways, each with a time above 0")
    low = 10 ** (math.floor(math.log10(min(way.milliseconds for way in ways))) - 0.3)
    high = max(way.milliseconds for way in ways) * 6
    places = list(range(len(ways)))
    colours = ["var(--accent)" if way.ours else "var(--ink2)" for way in ways]
    stalk = {"type": "line", "x0": low, "layer": "below"}
    stalks = [
        {
            **stalk,
            "x1": way.milliseconds,
            "y0": at,
            "y1": at,
            "line": {"color": colours[at], "width": 3},
        }
        for at, way in enumerate(ways)
    ]
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "markers+text",
                "x": [way.milliseconds for way in ways],
                "y": places,
                "marker": {"color": colours, "size": 12},
                "text": [f"{way.milliseconds:,.3g} ms" for way in ways],
                "textposition": "middle right",
                "textfont": {"size": 12, "color": "var(--ink)"},
                "cliponaxis": False,
                "customdata": [way.name[language] for way in ways],
                "hovertemplate": "%{customdata}: %{x:,.3g} ms<extra></extra>",
            }
        ],
        "layout": {
            "template": {"layout": make_layout()},
            "showlegend": False,
            "shapes": stalks,
            "margin": {"l": 8, "r": 38, "t": 4, "b": 40},
            "xaxis": {
                "type": "log",
                "range": [math.log10(low), math.log10(high)],
                "title": {"text": axis},
                "dtick": 1,
                "fixedrange": True,
            },
            "yaxis": make_row_axis(
                [f"<b>{way.name[language]}</b>" if way.ours else way.name[language] for way in ways]
            ),
        },
    }
