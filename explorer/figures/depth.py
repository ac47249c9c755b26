"""Hard things take longer: mean ponder cost against how hard an input is, and how many such inputs are answered rightly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.figures import theme

Text = Mapping[str, str]
Figure = dict[str, Any]

OURS, MINE = "var(--cat-1)", "var(--query)"
MANY = 32  # levels; above, Plotly finds the ticks
ABREAST = 9  # numbers that fit below the narrowest figure
SPREAD = 0.2  # opacity of the band


@dataclass(frozen=True)
class Level:
    """Held-out inputs of one difficulty: mean ponder cost N + R, its standard deviation, how many inputs, the share answered rightly."""

    value: float | str
    mean: float
    deviation: float
    n: int
    accuracy: float | None = None


@dataclass(frozen=True)
class Rival:
    """Another network on the same inputs. accuracy: one share for each level, None where it was not measured. colour: a token."""

    name: Text
    accuracy: Sequence[float | None]
    colour: str


def difficulty(
    levels: Sequence[Level],
    *,
    mine: tuple[float | str, float] | None = None,
    axes: tuple[Text, Text],
    yours: Text | None = None,
    answered: Text | None = None,
    rivals: Sequence[Rival] = (),
) -> dict[str, Figure]:
    """One figure for each language, as Plotly's own JSON: a line of means in a band of ± one deviation, the run in view as a diamond.

    levels: in the order in which they stand, their values all numbers or all names. mine: (level, N + R) of the run in view; a name that
    is no level is left out. axes: how hard, and the ponder cost. yours: what stands beside the diamond. answered: title of a second panel
    below, with the share answered rightly, by rivals too; without it, or without accuracies, there is none.
    ValueError for no levels, for rivals of another length, or for a deviation below 0.
    """
    if not levels:
        raise ValueError("a figure of 0 levels")
    if any(len(rival.accuracy) != len(levels) for rival in rivals):
        raise ValueError(f"rivals with {[len(rival.accuracy) for rival in rivals]} accuracies for {len(levels)} levels")
    if any(level.deviation < 0 for level in levels):
        raise ValueError("a deviation is 0 or more")
    return {language: _drawn(levels, mine, axes, yours, answered, rivals, language) for language in ("en", "zh")}


def _drawn(
    levels: Sequence[Level],
    mine: tuple[float | str, float] | None,
    axes: tuple[Text, Text],
    yours: Text | None,
    answered: Text | None,
    rivals: Sequence[Rival],
    language: str,
) -> Figure:
    named = any(isinstance(level.value, str) for level in levels)
    names = [_name(level.value) for level in levels]
    places: list[float] = [float(i) if named else float(level.value) for i, level in enumerate(levels)]
    here = _place(mine, names, named)
    low = [level.mean - level.deviation for level in levels]
    high = [level.mean + level.deviation for level in levels]
    data = _line(levels, names, places, low, high, axes, language)
    if mine is not None and here is not None:
        data.append(_diamond(here, mine[1], yours, levels, places, language))
    below = answered is not None and any(level.accuracy is not None for level in levels)
    if below:
        data += _right(levels, names, places, rivals, axes, language)

    shown = [*places, *([here] if here is not None else [])]
    costs = [*low, *high, *([mine[1]] if mine is not None and here is not None else [])]
    margin = 0.5 if len(levels) < 4 else 0.04 * (max(shown) - min(shown)) + 0.15
    frame = theme.titled((axes[0][language], axes[1][language]))
    frame["margin"] = {"l": 44, "r": 12, "t": 10, "b": 40}
    frame["xaxis"] |= {
        "range": [min(shown) - margin, max(shown) + margin],
        "showgrid": False,
        "showline": True,
        "fixedrange": True,
        "zeroline": False,
    }
    if named or len(levels) <= MANY:
        apart = 1 if named else math.ceil(len(levels) / ABREAST)
        frame["xaxis"] |= {"tickvals": places[::apart], "ticktext": names[::apart], "tickangle": 0}
    frame["yaxis"] |= {"range": [max(0, math.floor(min(costs) - 0.1)), math.ceil(max(costs) + 0.1)], "fixedrange": True, "zeroline": False}
    if below and answered is not None:
        frame["xaxis"] |= {"anchor": "y2"}
        frame["yaxis"] |= {"domain": [0.4, 1]}
        title = {**frame["yaxis"]["title"], "text": answered[language]}
        frame["yaxis2"] = {
            **theme.layout()["yaxis"],
            "title": title,
            "domain": [0, 0.3],
            "range": [-0.04, 1.08],
            "tickvals": [0, 0.5, 1],
            "fixedrange": True,
            "zeroline": False,
        }
    return {"data": data, "layout": frame}


def _name(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _place(mine: tuple[float | str, float] | None, names: Sequence[str], named: bool) -> float | None:
    """Where the run in view stands on the axis; None where it has no place there."""
    if mine is None:
        return None
    if named:
        return float(names.index(_name(mine[0]))) if _name(mine[0]) in names else None
    return None if isinstance(mine[0], str) else float(mine[0])


def _line(
    levels: Sequence[Level],
    names: Sequence[str],
    places: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    axes: tuple[Text, Text],
    language: str,
) -> list[Figure]:
    """The band and the means in it."""
    band = {
        "type": "scatter",
        "x": [*places, *reversed(places)],
        "y": [*low, *reversed(high)],
        "mode": "lines",
        "line": {"width": 0, "color": OURS},
        "fill": "toself",
        "fillcolor": OURS,
        "opacity": SPREAD,
        "hoverinfo": "skip",
    }
    level = f"{axes[0][language]} %{{customdata[0]}}"
    means = {
        "type": "scatter",
        "x": list(places),
        "y": [level.mean for level in levels],
        "mode": "lines+markers",
        "line": {"width": 2, "color": OURS},
        "marker": {"size": 6, "color": OURS},
        "customdata": [[name, level.deviation, level.n] for name, level in zip(names, levels, strict=True)],
        "hovertemplate": f"{level}: %{{y:.2f}} ± %{{customdata[1]:.2f}}, n = %{{customdata[2]}}<extra></extra>",
    }
    return [band, means]


def _diamond(here: float, cost: float, yours: Text | None, levels: Sequence[Level], places: Sequence[float], language: str) -> Figure:
    """The run in view. What stands beside it keeps off the line and inside the figure."""
    nearest = min(range(len(places)), key=lambda i: abs(places[i] - here))
    upright = "top" if cost >= levels[nearest].mean else "bottom"
    third = (here - places[0]) / (places[-1] - places[0]) if places[-1] != places[0] else 0.5
    across = "right" if third < 0.34 else "left" if third > 0.66 else "center"
    return {
        "type": "scatter",
        "x": [here],
        "y": [cost],
        "mode": "markers+text",
        "marker": {"size": 13, "symbol": "diamond", "color": MINE, "line": {"width": 2, "color": "var(--panel)"}},
        "text": ["" if yours is None else f"<b>{yours[language]}</b>"],
        "textposition": f"{upright} {across}",
        "textfont": {"size": 12, "color": MINE},
        "cliponaxis": False,
        "hovertemplate": "%{y:.2f}<extra></extra>",
    }


def _right(
    levels: Sequence[Level],
    names: Sequence[str],
    places: Sequence[float],
    rivals: Sequence[Rival],
    axes: tuple[Text, Text],
    language: str,
) -> list[Figure]:
    """Who answers how many of them rightly: our network last and thinner, so that a line below it still shows."""
    lines: list[tuple[Sequence[float | None], str, str, float]] = [
        *((rival.accuracy, rival.colour, rival.name[language], 4.0) for rival in rivals),
        ([level.accuracy for level in levels], OURS, "", 2.0),
    ]
    return [
        {
            "type": "scatter",
            "x": list(places),
            "y": list(shares),
            "yaxis": "y2",
            "mode": "lines+markers",
            "line": {"width": width, "color": colour},
            "marker": {"size": width + 2, "color": colour},
            "customdata": list(names),
            "hovertemplate": f"{f'{name}, ' if name else ''}{axes[0][language]} %{{customdata}}: %{{y:.3f}}<extra></extra>",
        }
        for shares, colour, name, width in lines
    ]
