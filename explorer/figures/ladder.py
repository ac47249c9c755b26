"""The ladder: what a picture costs under one description of pictures after another, as bars that start at 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from explorer.figures.theme import layout

Role = Literal["ours", "baseline", "other", "published"]
FILLS: dict[Role, str] = {"ours": "var(--accent)", "baseline": "var(--ink2)", "other": "var(--control)", "published": "rgba(0,0,0,0)"}
BAR = 0.62  # of the height of a rung


@dataclass(frozen=True)
class Rung:
    """One bar. name: in the reader's language. value: bits/dim. role: ours, a model beside ours, another way, or a figure in print."""

    name: str
    value: float
    role: Role


def ladder(rungs: Sequence[Rung]) -> dict[str, Any]:
    """Horizontal bars, the first on top, each with its value at its end; what is only published is a dashed outline.

    Plotly's own JSON, written out: the page shows it at once, and importing Plotly would make every start slower.
    ValueError for no rungs, or for a value that is not positive.
    """
    if not rungs:
        raise ValueError("a ladder of 0 rungs")
    wrong = [rung for rung in rungs if not rung.value > 0]
    if wrong:
        raise ValueError(f"{wrong[0].name}: {wrong[0].value} bits/dim; a cost is positive")
    places = list(range(len(rungs)))
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": [rung.value for rung in rungs],
        "y": places,
        "width": BAR,
        "marker": {"color": [FILLS[rung.role] for rung in rungs], "line": {"width": 0}},
        "text": [f"<b>{rung.value:.2f}</b>" if rung.role == "ours" else f"{rung.value:.2f}" for rung in rungs],
        "textposition": "outside",
        "constraintext": "none",
        "textfont": {"size": 12, "color": "var(--ink)"},
        "cliponaxis": False,
        "customdata": [rung.name for rung in rungs],
        "hovertemplate": "%{customdata}: %{x:.3f}<extra></extra>",
    }
    outlines = [
        {
            "type": "rect",
            "x0": 0,
            "x1": rung.value,
            "y0": at - BAR / 2,
            "y1": at + BAR / 2,
            "line": {"color": "var(--ink2)", "width": 1.5, "dash": "dot"},
        }
        for at, rung in enumerate(rungs)
        if rung.role == "published"
    ]
    return {
        "data": [bars],
        "layout": {
            "template": {"layout": layout()},
            "showlegend": False,
            "shapes": outlines,
            "margin": {"l": 8, "r": 38, "t": 4, "b": 24},
            "xaxis": {"range": [0, max(rung.value for rung in rungs)], "dtick": 2, "fixedrange": True},
            "yaxis": {
                "range": [len(rungs) - 0.5, -0.5],
                "tickvals": places,
                "ticktext": [f"<b>{rung.name}</b>" if rung.role == "ours" else rung.name for rung in rungs],
                "showgrid": False,
                "ticklabelstandoff": 4,
                "fixedrange": True,
                "tickfont": {"size": 12, "color": "var(--ink2)"},
            },
        },
    }
