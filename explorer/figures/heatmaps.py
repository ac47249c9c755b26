"""Matrices as maps side by side, and numbers as bars beside them, as Plotly's own JSON. Colours are
tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.figures import theme

Figure = dict[str, Any]
# from left to right and from the bottom to the top, shares of a figure
Place = tuple[tuple[float, float], tuple[float, float]]

PRINTED = 200  # cells of a map with names, up to which each has its number
SCALES = {
    "weights": theme.colorscale(theme.WEIGHTS),
    "grey": [[0, "#000000"], [1, "#FFFFFF"]],
    "signed": theme.signed_scale(),
}
BARE: Figure = {**theme.STILL, "ticks": "", "showline": False}


@dataclass(frozen=True)
class Map:
    """One map of a figure.

    values: (row, column), or (row,) for a bar from 0 to 1 each.
    least, most: the ends of the scale "weights" (cividis), "signed" or "grey".
    """

    title: str
    values: NDArray[Any]
    least: float = 0
    most: float = 1
    scale: str = "weights"


def draw_maps(
    given: Sequence[Map],
    down: Sequence[str] = (),
    across: Sequence[str] = (),
    *,
    lines: int = 1,
    square: bool = False,
    axes: tuple[str, str] = ("", ""),
    hall: Sequence[Place] = (),
) -> Figure:
    """Draw maps in some lines, each with its title.

    down, across: names of the rows, at the first map of a line, and of the columns.
    axes: the meaning of columns and rows, at the first map.
    hall: the place of each map while it is projected, where it differs.
    Raise ValueError where names and a map differ in size.
    """
    if down and any(
        one.values.shape not in {(len(down), len(across)), (len(down),)} for one in given
    ):
        raise ValueError(
            f"maps {[one.values.shape for one in given]} for {len(down)} rows and {len(across)}"
            " columns"
        )
    frame = theme.make_titled_layout(("", ""))
    x, y = frame.pop("xaxis"), frame.pop("yaxis")
    # pixels that the slanted names of columns take
    rise = max(62, 8 + 6 * max(map(len, across), default=0))
    named = {"l": 70, "r": 10, "t": rise + 22, "b": 10}
    margin = (
        named if down else {"l": 26 if axes[1] else 8, "r": 8, "t": 24, "b": 26 if axes[0] else 8}
    )
    frame |= {"margin": margin, "annotations": []}
    columns = math.ceil(len(given) / lines)
    wide, high = 1 / columns, 1 / lines
    gap = ((0.03 if down else 0.12 * wide) if columns > 1 else 0, 0.22 * high if lines > 1 else 0)
    data: list[Figure] = []
    for n, one in enumerate(given):
        end, (line, column) = str(n + 1) if n else "", divmod(n, columns)
        left, bottom = column * wide + gap[0] / 2, 1 - (line + 1) * high + gap[1] / 2
        ends = {"x": [left, left + wide - gap[0]], "y": [bottom, bottom + high - gap[1]]}
        words = {
            "text": one.title,
            "x": sum(ends["x"]) / 2,
            "y": ends["y"][1],
            "font": {"size": 13 if down else 12, "color": "var(--ink)"},
        }
        frame["annotations"].append({**theme.ABOVE, **words, "yshift": rise if down else 3})
        names = _make_ticks(across, -60), _make_ticks(() if column else down)
        frame[f"xaxis{end}"] = {
            **x,
            **BARE,
            **names[0],
            "domain": ends["x"],
            "anchor": f"y{end}",
            "side": "top" if down else "bottom",
        }
        frame[f"yaxis{end}"] = {
            **y,
            **BARE,
            **names[1],
            "domain": ends["y"],
            "anchor": f"x{end}",
            "autorange": "reversed",
        }
        if square:
            frame[f"yaxis{end}"] |= {
                "scaleanchor": f"x{end}",
                "constrain": "domain",
                "constraintoward": "top",
            }
            frame[f"xaxis{end}"] |= {"constrain": "domain"}
        where = {"xaxis": f"x{end}", "yaxis": f"y{end}"}
        if one.values.ndim == 1:
            frame[f"xaxis{end}"] |= {
                "range": [0, 1.25],
                "tickvals": [0, 0.5, 1],
                "ticktext": ["0", "0.5", "1"],
            }
            data.append({**where, **_draw_bars(one.values)})
        else:
            data.append({**where, **_draw_cells(one, down, across)})
    for name, title in zip(("xaxis", "yaxis"), axes, strict=True):
        if title:
            frame[name] |= {"title": {**x["title"], "text": title, "standoff": 4}}
    return {"data": data, "layout": frame | ({"meta": {"hall": hall}} if hall else {})}


def _make_ticks(names: Sequence[str], angle: int = 0) -> Figure:
    """Return the ticks of an axis: a name for each place, or none."""
    if not names:
        return {"showticklabels": False}
    return {
        "showticklabels": True,
        "tickvals": list(range(len(names))),
        "ticktext": list(map(theme.without_markup, names)),
        "tickangle": angle,
    }


def _draw_bars(values: NDArray[Any]) -> Figure:
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": values.tolist(),
        "y": list(range(len(values))),
        "marker": {"color": "var(--accent)"},
    }
    return {
        **bars,
        "text": [f"{value:.2f}" for value in values],
        "textposition": "outside",
        "cliponaxis": False,
        "hoverinfo": "skip",
    }


def _draw_cells(one: Map, down: Sequence[str], across: Sequence[str]) -> Figure:
    numbers = [
        [None if cell != cell else cell for cell in row]
        for row in np.round(one.values.astype(float), 5).tolist()
    ]
    scale = {
        "zmin": one.least,
        "zmax": one.most,
        "colorscale": SCALES[one.scale],
        "showscale": False,
    }
    cells = {
        "type": "heatmap",
        "z": numbers,
        **scale,
        "hoverongaps": False,
        "hovertemplate": f"{one.title}: %{{z:.3f}}<extra></extra>",
    }
    if down:
        names = [[[row, column] for column in across] for row in down]
        hover = "%{customdata[0]} → %{customdata[1]}: %{z:.3f}<extra></extra>"
        cells |= {"customdata": names, "hovertemplate": hover, "xgap": 1, "ygap": 1}
        if one.values.size <= PRINTED:
            cells |= {"texttemplate": "%{z:.2f}", "textfont": {"size": 11}}
    return cells
