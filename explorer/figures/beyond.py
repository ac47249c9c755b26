"""What an event costs at each place of a window longer than any in training: a line for each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.figures import theme

Text = Mapping[str, str]
Figure = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """One model. costs: of parts of the window as long as each other, from its beginning. colour: a token, "var(--cat-1)"."""

    name: Text
    costs: Sequence[float]
    colour: str


def by_position(lines: Sequence[Line], trained: int, whole: int, axes: tuple[str, str], mark: str, language: str) -> Figure:
    """The lines over the place in the window, as Plotly's own JSON; what was never trained stands on a darker ground.

    trained, whole: places that training saw, and all. axes: titles of the two. mark: what stands where training ends.
    ValueError for no lines, or for lines of different lengths.
    """
    lengths = {len(line.costs) for line in lines}
    if len(lengths) != 1 or 0 in lengths:
        raise ValueError(f"lines of {sorted(lengths)} parts; as many in each are meant")
    (parts,) = lengths
    places = [round((i + 0.5) * whole / parts) for i in range(parts)]
    every = [cost for line in lines for cost in line.costs]
    room = 0.06 * (max(every) - min(every)) + 0.01
    frame: Figure = {**theme.layout(), "showlegend": False}
    frame["xaxis"] = {**frame["xaxis"], "title": {"text": axes[0]}, "range": [0, whole], "zeroline": False, "showgrid": False}
    frame["yaxis"] = {**frame["yaxis"], "title": {"text": axes[1]}, "range": [min(every) - room, max(every) + room], "zeroline": False}
    frame["shapes"] = [
        {
            "type": "rect",
            "xref": "x",
            "yref": "paper",
            "x0": trained,
            "x1": whole,
            "y0": 0,
            "y1": 1,
            "fillcolor": "var(--sunk)",
            "line": {"width": 0},
            "layer": "below",
        }
    ]
    frame["annotations"] = [
        {
            "text": mark,
            "x": trained,
            "y": 1,
            "xref": "x",
            "yref": "paper",
            "xanchor": "right",
            "yanchor": "top",
            "xshift": -6,
            "showarrow": False,
            "font": {"size": 12, "color": "var(--ink2)"},
        }
    ]
    data = [
        {
            "type": "scatter",
            "name": line.name[language],
            "x": places,
            "y": list(line.costs),
            "mode": "lines",
            "line": {"width": 2, "color": line.colour},
            "hovertemplate": f"{line.name[language]}, %{{x}}: %{{y:.3f}}<extra></extra>",
        }
        for line in lines
    ]
    return {"data": data, "layout": frame}
