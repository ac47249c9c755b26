"""Curves over a common axis, each named at its end by the legend: loss against memory, context or place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.figures import theme

Text = Mapping[str, str]
Figure = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """One curve. x, y: of its points. colour: a token, "var(--cat-1)". level: a straight line at its only y, whatever x."""

    name: Text
    x: Sequence[float]
    y: Sequence[float]
    colour: str
    level: bool = False


def lines(
    given: Sequence[Line],
    *,
    axes: tuple[str, str],
    language: str,
    mark: tuple[float, str] | None = None,
    ticks: Sequence[float] | None = None,
    logarithmic: bool = False,
    steps: bool = False,
) -> Figure:
    """The curves as Plotly's own JSON; the vertical axis runs from just below the lowest to just above the highest.

    axes: titles of the two. mark: a place on the x axis, and what stands there. ticks: of the x axis. logarithmic: the x axis. steps: the
    points are joined by steps, and not marked. ValueError for no curves, or for one without points.
    """
    if not given or not all(len(line.y) and (line.level or len(line.x) == len(line.y)) for line in given):
        raise ValueError(f"{len(given)} curves, each with as many places as values")
    every = [float(y) for line in given for y in line.y]
    room = 0.08 * (max(every) - min(every)) + 0.005
    places = [float(x) for line in given if not line.level for x in line.x]
    first, last = min(places), max(places)
    frame: Figure = {**theme.layout(), "showlegend": False}
    frame["xaxis"] = {**frame["xaxis"], "title": {"text": axes[0]}, "zeroline": False, "showgrid": False}
    if logarithmic:
        frame["xaxis"] |= {"type": "log"}
    if ticks is not None:
        frame["xaxis"] |= {"tickvals": list(ticks), "ticktext": [f"{tick:,g}".replace("-", "−") for tick in ticks]}
    frame["yaxis"] = {**frame["yaxis"], "title": {"text": axes[1]}, "range": [min(every) - room, max(every) + room], "zeroline": False}
    if mark is not None:
        place, said = mark
        frame["shapes"] = [
            {
                "type": "line",
                "xref": "x",
                "yref": "paper",
                "x0": place,
                "x1": place,
                "y0": 0,
                "y1": 1,
                "line": {"width": 1, "color": "var(--control)", "dash": "dot"},
            }
        ]
        frame["annotations"] = [
            {
                "text": said,
                "x": place,
                "y": 1,
                "xref": "x",
                "yref": "paper",
                "xanchor": "left",
                "yanchor": "top",
                "xshift": 6,
                "showarrow": False,
                "font": {"size": 12, "color": "var(--ink2)"},
            }
        ]
    data = []
    for line in given:
        name = line.name[language]
        x, y = ([first, last], [line.y[0]] * 2) if line.level else (list(line.x), list(line.y))
        data.append(
            {
                "type": "scatter",
                "name": name,
                "x": x,
                "y": y,
                "mode": "lines" if line.level or steps else "lines+markers",
                "line": {
                    "width": 2,
                    "color": line.colour,
                    **({"dash": "dash"} if line.level else {}),
                    **({"shape": "hvh"} if steps else {}),
                },
                "marker": {"size": 7, "color": line.colour},
                "hovertemplate": f"{name}, %{{x:,}}: %{{y:.3f}}<extra></extra>",
            }
        )
    return {"data": data, "layout": frame}
