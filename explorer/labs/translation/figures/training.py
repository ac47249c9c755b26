"""The training of a network in figures, as plain JSON: its cost beside others, its learning rate,
and its targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from explorer.figures import theme

Figure = dict[str, Any]

OURS, PUBLISHED = "var(--cat-1)", "var(--cat-2)"
LOGGED, AVERAGED = "var(--cat-2)", "var(--cat-3)"
CLEAR = "rgba(0,0,0,0)"
# outline of published values
OUTLINE: Figure = {"type": "rect", "line": {"color": PUBLISHED, "width": 1.5, "dash": "4px,3px"}}


@dataclass(frozen=True)
class System:
    """One system of a comparison. score: its result on the test of the axis; None where it was
    tested on another one, which `elsewhere` names with the result there. cost: operations of its
    training. ours: measured here, drawn solid."""

    name: str
    score: float | None
    cost: float
    ours: bool = False
    elsewhere: str = ""


def draw_costs(systems: Sequence[System], axes: tuple[str, str]) -> Figure:
    """Draw scores on the left and costs on a logarithmic axis on the right, a row each; published
    values in dashed outlines, ours solid.

    A score on another test is no bar among the others: it stands there as words.

    axes: titles of the two. Raise ValueError for no systems.
    """
    if not systems:
        raise ValueError("there are 0 systems; expected one or more")
    rows = list(range(len(systems)))
    powers = [math.log10(system.cost) for system in systems]
    low, high = math.floor(min(powers)) - 1, math.ceil(max(powers))
    frame = theme.make_titled_layout((axes[0], ""))
    label = {
        "tickmode": "array",
        "tickvals": rows,
        "ticktext": [system.name for system in systems],
        "showgrid": False,
        "zeroline": False,
    }
    frame["yaxis"] = {**frame["yaxis"], **label, "range": [len(systems) - 0.4, -0.6]}
    frame["xaxis"] |= {
        "domain": [0, 0.46],
        "range": [0, 1.12 * max(system.score or 0.0 for system in systems)],
        "fixedrange": True,
    }
    title = {**frame["xaxis"]["title"], "text": axes[1]}
    frame["xaxis2"] = {
        **frame["xaxis"],
        "domain": [0.54, 1],
        "type": "log",
        "range": [low, high],
        "title": title,
    }
    tens = range(low + low % 2, high + 1, 2)
    frame["xaxis2"] |= {
        "tickvals": [10.0**at for at in tens],
        "ticktext": [theme.format_power_of_ten(at) for at in tens],
        "anchor": "y",
    }
    frame |= {"bargap": 0.35, "margin": {**frame["margin"], "l": 12}}
    colours = [OURS if system.ours else CLEAR for system in systems]
    bar = {
        "type": "bar",
        "orientation": "h",
        "y": rows,
        "cliponaxis": False,
        "marker": {"color": colours},
        "hoverinfo": "skip",
    }
    bars: list[Figure] = [
        {**bar, "xaxis": axis, "x": values, "text": texts, "textposition": "outside"}
        for axis, values, texts in (
            (
                "x",
                [system.score for system in systems],
                ["" if system.score is None else f"{system.score:.1f}" for system in systems],
            ),
            (
                "x2",
                [system.cost for system in systems],
                [theme.format_number(system.cost) for system in systems],
            ),
        )
    ]
    bars[1]["textposition"] = "auto"
    bars[1]["insidetextanchor"] = "start"
    bars[1]["insidetextfont"] = {
        "color": ["var(--panel)" if system.ours else "var(--ink)" for system in systems]
    }
    frame["shapes"] = [
        {**OUTLINE, "xref": axis, "x0": start, "x1": value, "y0": row - 0.325, "y1": row + 0.325}
        for row, system in enumerate(systems)
        if not system.ours
        for axis, start, value in (("x", 0.0, system.score), ("x2", 10.0**low, system.cost))
        if value is not None
    ]
    words = {
        "xref": "x",
        "yref": "y",
        "x": 0,
        "xanchor": "left",
        "showarrow": False,
        "font": {"color": "var(--ink2)"},
    }
    frame["annotations"] = [
        {**words, "y": row, "text": system.elsewhere}
        for row, system in enumerate(systems)
        if system.score is None
    ]
    return {"data": bars, "layout": frame}


def draw_rates(
    line: Sequence[tuple[int, float]],
    logged: Sequence[tuple[float, float]],
    averaged: Sequence[int],
    axes: tuple[str, str],
) -> Figure:
    """Draw a learning rate over steps: the line of its formula, the logged rates, and the averaged
    checkpoints, as ticks below."""
    frame = theme.make_titled_layout(axes)
    top = max(rate for _, rate in line)
    frame["xaxis"] |= {"showgrid": False, "rangemode": "tozero"}
    frame["yaxis"] |= {"range": [-0.06 * top, 1.08 * top], "tickformat": "~g"}
    frame["shapes"] = [
        {
            "type": "line",
            "x0": step,
            "x1": step,
            "y0": -0.05 * top,
            "y1": 0,
            "line": {"color": AVERAGED, "width": 2},
        }
        for step in averaged
    ]
    looks: tuple[tuple[Any, Figure], ...] = (
        (line, {"mode": "lines", "line": {"color": OURS, "width": 2}}),
        (logged, {"mode": "markers", "marker": {"color": LOGGED, "size": 7}}),
    )
    both = {"type": "scatter", "hovertemplate": "%{x}: %{y:.2g}<extra></extra>"}
    data = [
        {**both, **look, "x": [step for step, _ in points], "y": [rate for _, rate in points]}
        for points, look in looks
    ]
    return {"data": data, "layout": frame}


def draw_targets(
    smoothed: tuple[float, float], names: tuple[str, str], axes: tuple[str, str]
) -> Figure:
    """Draw the targets of training on a logarithmic axis: the right piece and each other one,
    without smoothing (dashed) and with it.

    smoothed: the two probabilities. names: of the two. Without smoothing they are 1 and 0; nothing
    is drawn for 0.
    """
    frame = theme.make_titled_layout(axes)
    lowest = math.floor(math.log10(min(smoothed))) - 0.5
    frame["yaxis"] |= {"type": "log", "range": [lowest, 0.3], "dtick": 1, "exponentformat": "power"}
    frame["xaxis"] |= {
        "tickmode": "array",
        "tickvals": [0, 1],
        "ticktext": list(names),
        "showgrid": False,
        "zeroline": False,
    }
    frame["xaxis"] |= {"range": [-0.7, 1.7]}
    bar = {
        "type": "bar",
        "x": [0, 1],
        "y": list(smoothed),
        "width": 0.5,
        "marker": {"color": OURS},
        "text": [f"{smoothed[0]:.4f}", f"{smoothed[1]:.2g}"],
        "textposition": "inside",
        "insidetextanchor": "start",
        "hoverinfo": "skip",
    }
    frame["shapes"] = [{**OUTLINE, "x0": -0.35, "x1": 0.35, "y0": 10.0**lowest, "y1": 1}]
    return {"data": [bar], "layout": frame}
