"""Hard things take longer: mean ponder cost against the difficulty of an input, and the share of
these inputs that is answered correctly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.figures import theme

Text = Mapping[str, str]
Figure = dict[str, Any]

OURS, MINE = "var(--cat-1)", "var(--query)"
MANY = 32  # levels; above this number, Plotly finds the ticks
ABREAST = 9  # numbers that fit below the narrowest figure
SPREAD = 0.2  # opacity of the band


@dataclass(frozen=True)
class Level:
    """Held-out inputs of one difficulty: mean ponder cost N + R, its standard deviation, the number
    of inputs, the share answered correctly."""

    value: float | str
    mean: float
    deviation: float
    n: int
    accuracy: float | None = None


@dataclass(frozen=True)
class Rival:
    """Another network on the same inputs.

    accuracy: one share for each level, None where it was not measured.
    colour: a token.
    """

    name: Text
    accuracy: Sequence[float | None]
    colour: str


def draw_difficulty(
    levels: Sequence[Level],
    *,
    mine: tuple[float | str, float] | None = None,
    axes: tuple[Text, Text],
    yours: Text | None = None,
    answered: Text | None = None,
    rivals: Sequence[Rival] = (),
) -> dict[str, Figure]:
    """Return one figure for each language, as Plotly's own JSON: a line of means in a band of ± one
    deviation, the run in view as a diamond.

    levels: in their order on the axis, their values all numbers or all names.
    mine: (level, N + R) of the run in view. A name that is no level is left out.
    axes: the difficulty, and the ponder cost.
    yours: the text beside the diamond.
    answered: the title of a second panel below, with the share answered correctly, by rivals too.
        Without it, or without accuracies, there is none.
    Raise ValueError for no levels, for rivals of another length, or for a deviation below 0.
    """
    if not levels:
        raise ValueError("a figure of 0 levels")
    if any(len(rival.accuracy) != len(levels) for rival in rivals):
        raise ValueError(
            f"rivals with {[len(rival.accuracy) for rival in rivals]} accuracies for {len(levels)}"
            " levels"
        )
    if any(level.deviation < 0 for level in levels):
        raise ValueError("a deviation is 0 or more")
    by_name = any(isinstance(level.value, str) for level in levels)
    names = [name_level(level.value) for level in levels]
    places = [float(i) if by_name else float(level.value) for i, level in enumerate(levels)]
    here = None if mine is None else _find_place(mine[0], names, by_name)
    low, high = ([level.mean + sign * level.deviation for level in levels] for sign in (-1, 1))
    below = answered is not None and any(level.accuracy is not None for level in levels)
    yours_ = [] if mine is None or here is None else [_draw_run(here, mine[1], levels, places)]
    shown = [*places, *(one["x"][0] for one in yours_)]
    costs = [*low, *high, *(one["y"][0] for one in yours_)]
    margin = 0.5 if len(levels) < 4 else 0.04 * (max(shown) - min(shown)) + 0.15
    still = {"fixedrange": True, "zeroline": False}
    across = {
        "range": [min(shown) - margin, max(shown) + margin],
        "showgrid": False,
        "showline": True,
        **still,
    }
    if by_name or len(levels) <= MANY:
        apart = 1 if by_name else math.ceil(len(levels) / ABREAST)
        across |= {"tickvals": places[::apart], "ticktext": names[::apart], "tickangle": 0}
    up = {"range": [max(0, math.floor(min(costs) - 0.1)), math.ceil(max(costs) + 0.1)], **still}

    def draw(language: str) -> Figure:
        level = axes[0][language]
        band = _draw_scatter(
            [*places, *reversed(places)],
            [*low, *reversed(high)],
            "lines",
            hoverinfo="skip",
            opacity=SPREAD,
        )
        band |= {"line": {"width": 0, "color": OURS}, "fill": "toself", "fillcolor": OURS}
        means = _draw_scatter(places, [one.mean for one in levels], "lines+markers")
        means |= {"line": {"width": 2, "color": OURS}, "marker": {"size": 6, "color": OURS}}
        means["customdata"] = [
            [name, one.deviation, one.n] for name, one in zip(names, levels, strict=True)
        ]
        means["hovertemplate"] = (
            f"{level} %{{customdata[0]}}: %{{y:.2f}} ± %{{customdata[1]:.2f}}, n ="
            " %{customdata[2]}<extra></extra>"
        )
        said = "" if yours is None else f"<b>{yours[language]}</b>"
        frame = theme.make_titled_layout((level, axes[1][language]))
        frame["margin"] = {"l": 44, "r": 12, "t": 10, "b": 40}
        frame["xaxis"] |= across
        frame["yaxis"] |= up
        if not below or answered is None:
            return {
                "data": [band, means, *({**one, "text": [said]} for one in yours_)],
                "layout": frame,
            }
        frame["xaxis"] |= {"anchor": "y2"}
        frame["yaxis"] |= {"domain": [0.4, 1]}
        title = {**frame["yaxis"]["title"], "text": answered[language]}
        ticks = {"domain": [0, 0.3], "range": [-0.04, 1.08], "tickvals": [0, 0.5, 1]}
        frame["yaxis2"] = {**theme.make_layout()["yaxis"], "title": title, **ticks, **still}
        # Our network is drawn last and thinner, so that a line below it still shows.
        lines = [
            (rival.accuracy, rival.colour, f"{rival.name[language]}, ", 4.0) for rival in rivals
        ]
        lines.append(([one.accuracy for one in levels], OURS, "", 2.0))
        right = [
            _draw_scatter(places, shares, "lines+markers", yaxis="y2", customdata=names)
            | {
                "line": {"width": width, "color": colour},
                "marker": {"size": width + 2, "color": colour},
            }
            | {"hovertemplate": f"{name}{level} %{{customdata}}: %{{y:.3f}}<extra></extra>"}
            for shares, colour, name, width in lines
        ]
        return {
            "data": [band, means, *({**one, "text": [said]} for one in yours_), *right],
            "layout": frame,
        }

    return {language: draw(language) for language in ("en", "zh")}


def _draw_scatter(x: Sequence[float], y: Sequence[float | None], mode: str, **more: Any) -> Figure:
    return {"type": "scatter", "x": list(x), "y": list(y), "mode": mode, **more}


def name_level(value: float | str) -> str:
    """Return the name of a level."""
    return value if isinstance(value, str) else f"{value:g}"


def _find_place(level: float | str, names: Sequence[str], by_name: bool) -> float | None:
    """Return the place of the run in view on the axis, or None where it has none."""
    if by_name:
        return float(names.index(name_level(level))) if name_level(level) in names else None
    return None if isinstance(level, str) else level


def _draw_run(here: float, cost: float, levels: Sequence[Level], places: Sequence[float]) -> Figure:
    """Draw the run in view. The text beside it keeps off the line and inside the figure."""
    nearest = min(range(len(places)), key=lambda i: abs(places[i] - here))
    upright = "top" if cost >= levels[nearest].mean else "bottom"
    third = (here - places[0]) / (places[-1] - places[0]) if places[-1] != places[0] else 0.5
    across = "right" if third < 0.34 else "left" if third > 0.66 else "center"
    made = _draw_scatter(
        [here],
        [cost],
        "markers+text",
        textposition=f"{upright} {across}",
        textfont={"size": 12, "color": MINE},
    )
    made["marker"] = {
        "size": 13,
        "symbol": "diamond",
        "color": MINE,
        "line": {"width": 2, "color": "var(--panel)"},
    }
    return made | {"cliponaxis": False, "hovertemplate": "%{y:.2f}<extra></extra>"}
