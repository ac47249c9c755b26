"""The ladder: the cost of a picture under one description of pictures after another, as bars that
start at 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from explorer.figures.theme import make_layout, make_row_axis

Role = Literal["ours", "baseline", "other", "published"]
FILLS: dict[Role, str] = {
    "ours": "var(--accent)",
    "baseline": "var(--ink2)",
    "other": "var(--control)",
    "published": "rgba(0,0,0,0)",
}
BAR = 0.62  # of the height of a rung


@dataclass(frozen=True)
class Rung:
    """One bar.

    value: the cost.
    role: ours, a model beside ours, another way, or a figure in print.
    """

    name: Mapping[str, str]
    value: float
    role: Role


def draw_ladder(
    rungs: Sequence[Rung], *, digits: int = 2, tick: float = 2
) -> dict[str, dict[str, Any]]:
    """Return horizontal bars for each language, the first on top, each with its value at its end. A
    figure that is only published is a dashed outline.

    This is Plotly's own JSON, written out: the page shows it at once, and importing Plotly would
    make every start slower.
    digits: those of the values.
    tick: the distance between two marks of the axis.
    Raise ValueError for no rungs, or for a value that is not positive.
    """
    if not rungs:
        raise ValueError("a ladder of 0 rungs")
    wrong = [rung for rung in rungs if not rung.value > 0]
    if wrong:
        raise ValueError(f"{wrong[0].name['en']}: {wrong[0].value}; a cost is positive")
    return {language: _draw_rungs(rungs, language, digits, tick) for language in ("en", "zh")}


def _draw_rungs(rungs: Sequence[Rung], language: str, digits: int, tick: float) -> dict[str, Any]:
    places = list(range(len(rungs)))

    def bold(rung: Rung, text: str) -> str:
        return f"<b>{text}</b>" if rung.role == "ours" else text

    bars = {
        "type": "bar",
        "orientation": "h",
        "x": [rung.value for rung in rungs],
        "y": places,
        "width": BAR,
        "marker": {"color": [FILLS[rung.role] for rung in rungs], "line": {"width": 0}},
        "text": [bold(rung, f"{rung.value:.{digits}f}") for rung in rungs],
        "textposition": "outside",
        "constraintext": "none",
        "textfont": {"size": 12, "color": "var(--ink)"},
        "cliponaxis": False,
        "customdata": [rung.name[language] for rung in rungs],
        "hovertemplate": "%{customdata}: %{x:.3f}<extra></extra>",
    }
    outline = {
        "type": "rect",
        "x0": 0,
        "line": {"color": "var(--ink2)", "width": 1.5, "dash": "dot"},
    }
    printed = [(at, rung.value) for at, rung in enumerate(rungs) if rung.role == "published"]
    layout_ = {
        "template": {"layout": make_layout()},
        "showlegend": False,
        "shapes": [
            {**outline, "x1": value, "y0": at - BAR / 2, "y1": at + BAR / 2}
            for at, value in printed
        ],
        "margin": {"l": 8, "r": 46 if digits > 2 else 38, "t": 4, "b": 24},
        "xaxis": {
            "range": [0, max(rung.value for rung in rungs)],
            "dtick": tick,
            "fixedrange": True,
        },
        "yaxis": make_row_axis([bold(rung, rung.name[language]) for rung in rungs]),
    }
    return {"data": [bars], "layout": layout_}
