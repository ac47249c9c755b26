"""Curves over a common axis as Plotly's own JSON, so that no page waits for Plotly's import:
losses, times, costs. Colours are tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.figures import theme

Text = Mapping[str, str]
Figure = dict[str, Any]
Range = tuple[float, float]

LABEL = 15  # pixels between the names of two lines at their ends
FEW = 80  # points, up to which each one is marked


@dataclass(frozen=True)
class Curve:
    """One line.

    x, y: the coordinates of its points, positive where an axis is logarithmic.
    colour: a token, "var(--cat-1)".
    level: a dashed line at its only y, whatever x.
    dashed: a formula, no points.
    dots: whether points are marked; None: where they are few.
    steps: points are joined by steps.
    end: the text at its end.
    symbol: that of its points, as Plotly names it.
    """

    name: Text
    x: Sequence[float]
    y: Sequence[float]
    colour: str
    level: bool = False
    dashed: bool = False
    dots: bool | None = None
    steps: bool = False
    end: Text | None = None
    symbol: str = "circle"


@dataclass(frozen=True)
class Place:
    """A place on the x axis: a line, or a ground from x to `to`.

    yours: whether it is that of the run in view, in the colour of queries.
    text: the text beside it.
    """

    x: float
    to: float | None = None
    text: Text | None = None
    yours: bool = False


def draw_curves(
    given: Sequence[Curve],
    axes: tuple[str, str],
    language: str,
    *,
    ticks: Sequence[float] = (),
    names: Sequence[str] = (),
    across: str = "linear",
    up: str | Range = "tight",
    mark: Place | None = None,
    room: int = 12,
    height: int = 260,
) -> Figure:
    """Return the curves in one figure.

    axes: titles of the two.
    ticks: those of the x axis.
    names: the texts at the ticks, in place of the numbers.
    across: "linear" or "log".
    up: the range of the other axis: "tight", from just below the lowest to just above the highest;
        "zero", from 0; "log"; or from one number to the other.
    room: pixels at the right, for the texts at the ends.
    height: that of the figure, in pixels, by which these texts keep apart.
    Raise ValueError for a curve whose numbers of places and values differ, or for none at all where
    the axis is to fit them.
    """
    if any(len(one.y) != (1 if one.level else len(one.x)) for one in given):
        raise ValueError("a curve with another number of places than of values")
    places = [float(x) for one in given if not one.level for x in one.x]
    values = [float(y) for one in given for y in one.y if y is not None]
    if up == "tight" and not values:
        raise ValueError("0 curves; an axis needs at least one")
    frame = theme.make_titled_layout(axes)
    frame["margin"] = {"l": 52, "r": room, "t": 12, "b": 44}
    frame["xaxis"] |= {"type": across, **theme.STILL}
    if across == "log" and places:
        frame["xaxis"]["range"] = [math.log10(min(places)) - 0.05, math.log10(max(places)) + 0.05]
    if ticks:
        said = names or [f"{tick:,g}".replace("-", "−") for tick in ticks]
        frame["xaxis"] |= {
            "tickvals": list(ticks),
            "ticktext": list(map(theme.without_markup, said)),
        }
    vertical, span = _make_vertical_axis(values, up)
    frame["yaxis"] |= {**vertical, "zeroline": False, "fixedrange": True}
    frame["annotations"] = _place_end_labels(
        [one for one in given if one.end and len(one.x)],
        language,
        span,
        across == "log",
        up == "log",
        height,
    )
    if mark is not None:
        frame["shapes"] = [_draw_mark(mark)]
        frame["annotations"] += [_write_mark(mark, mark.text[language])] if mark.text else []
    ends = (min(places), max(places)) if places else (0.0, 1.0)
    return {"data": [_draw_line(one, ends, language) for one in given], "layout": frame}


def _make_vertical_axis(values: Sequence[float], up: str | Range) -> tuple[Figure, Range]:
    """Return the vertical axis, and its two ends; of a logarithmic axis the powers of ten."""
    if not isinstance(up, str):
        return {"range": list(up)}, up
    low, high = (min(values), max(values)) if values else (1.0, 10.0)
    if up == "tight":
        air = 0.08 * (high - low) + 0.005
        return {"range": [low - air, high + air]}, (low - air, high + air)
    if up == "zero":
        return {"range": [0, 1.08 * high]}, (0, 1.08 * high)
    span = (math.floor(math.log10(low) * 5) / 5, math.ceil(math.log10(high) * 5) / 5)
    decades = list(range(math.ceil(span[0]), math.floor(span[1]) + 1))
    decades = decades[:: 1 + len(decades) // 7]
    said = [f"{10**n:,g}" if -3 < n < 5 else theme.format_power_of_ten(n) for n in decades]
    ticks = {"tickvals": [10.0**n for n in decades], "ticktext": said} if len(decades) > 1 else {}
    return {"type": "log", "range": list(span), **ticks}, span


def _draw_line(one: Curve, ends: Range, language: str) -> Figure:
    x, y = (list(ends), [one.y[0]] * 2) if one.level else (list(map(float, one.x)), list(one.y))
    dots = (
        one.dots
        if one.dots is not None
        else len(x) <= FEW and not (one.steps or one.level or one.dashed)
    )
    line: Figure = {"width": 1.5 if one.dashed else 2, "color": one.colour}
    line |= {"dash": "dash"} if one.level or one.dashed else {}
    line |= {"shape": "hvh"} if one.steps else {}
    return {
        "type": "scatter",
        "name": one.name[language],
        "x": x,
        "y": y,
        "mode": "lines+markers" if dots else "lines",
        "line": line,
        "marker": {"size": 7, "color": one.colour, "symbol": one.symbol},
        "cliponaxis": False,
        "hovertemplate": f"{one.name[language]}, %{{x:,}}: %{{y:,.4~g}}<extra></extra>",
    }


def _draw_mark(mark: Place) -> Figure:
    colour = "var(--query)" if mark.yours else "var(--control)"
    line = (
        {"width": 2, "color": colour}
        if mark.yours
        else {"width": 1, "color": colour, "dash": "dot"}
    )
    shape: Figure = {"xref": "x", "yref": "paper", "x0": mark.x, "y0": 0, "y1": 1, "layer": "below"}
    if mark.to is None:
        return {**shape, "type": "line", "x1": mark.x, "line": line}
    return {
        **shape,
        "type": "rect",
        "x1": mark.to,
        "line": {"width": 0},
        "fillcolor": f"var(--{'query-soft' if mark.yours else 'sunk'})",
    }


def _write_mark(mark: Place, text: str) -> Figure:
    """Return the text beside a place: right of a line, left of a ground."""
    side: Figure = (
        {"xanchor": "left", "xshift": 6} if mark.to is None else {"xanchor": "right", "xshift": -6}
    )
    place = {
        "x": mark.x,
        "y": 1,
        "xref": "x",
        "yref": "paper",
        "yanchor": "top",
        "showarrow": False,
    }
    return {"text": text, **place, **side, "font": {"size": 12, "color": "var(--ink2)"}}


def _place_end_labels(
    given: Sequence[Curve], language: str, span: Range, across: bool, up: bool, height: int
) -> list[Figure]:
    """Return the texts at the ends of the lines. Lines that end side by side keep theirs apart.

    across, up: the type of each axis, which may be logarithmic.
    """
    gap = LABEL * (span[1] - span[0]) / max(1, height - 50)
    ends: dict[float, list[Curve]] = {}
    for curve in given:
        ends.setdefault(curve.x[-1], []).append(curve)
    found = []
    for x, several in ends.items():
        at = {id(curve): math.log10(curve.y[-1]) if up else curve.y[-1] for curve in several}
        several = sorted(several, key=lambda curve: at[id(curve)])
        places = [at[id(curve)] for curve in several]
        for _ in range(40):
            for i in range(len(places) - 1):
                short = gap - (places[i + 1] - places[i])
                if short > 1e-9:
                    places[i], places[i + 1] = places[i] - short / 2, places[i + 1] + short / 2
        for curve, y in zip(several, places, strict=True):
            text = (
                f'<span style="color:{curve.colour}">●</span> {(curve.end or curve.name)[language]}'
            )
            place = {
                "x": math.log10(x) if across else x,
                "y": y,
                "xref": "x",
                "yref": "y",
                "xanchor": "left",
                "xshift": 8,
            }
            # longer lines run behind the name
            ground = {"bgcolor": "var(--panel)", "borderpad": 0} if x < max(ends) else {}
            found.append(
                {
                    "text": text,
                    **place,
                    **ground,
                    "showarrow": False,
                    "font": {"size": 12, "color": "var(--ink2)"},
                }
            )
    return found
