"""What attention spans save: shares of what heads with the full span would need, a bar for each quantity and layer, as Plotly's JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.figures import theme

Text = Mapping[str, str]
Figure = dict[str, Any]

THICK = 0.26  # of a bar, in rows; its words stand above it
HEADING = 0.75  # room of a group's name, in rows
ROW = 38  # pixels
COUNTED, MEASURED = "var(--accent)", "var(--cat-3)"


@dataclass(frozen=True)
class Bar:
    """One quantity. name: what it is; amounts: ours and that of the full span, as they are read. share: ours over that of the full span."""

    name: Text
    amounts: Text
    share: float
    measured: bool = False

    def __post_init__(self) -> None:
        if not self.share >= 0:
            raise ValueError(f"{self.name['en']}: a share of {self.share}; 0 or more is meant")


@dataclass(frozen=True)
class Group:
    """Bars under one name."""

    name: Text
    bars: Sequence[Bar]


def percent(share: float) -> str:
    """A share as it is read: "28 %", below one percent with a digit more."""
    return f"{100 * share:.1f} %" if 0 < share < 0.00995 else f"{100 * share:.0f} %"


def height(groups: Sequence[Group]) -> int:
    """Pixels that the figure needs."""
    return round(ROW * _rows(groups)) + 36


def _rows(groups: Sequence[Group]) -> float:
    return sum(HEADING + len(group.bars) for group in groups)


def bars(groups: Sequence[Group]) -> dict[str, Figure]:
    """One figure for each language: every bar solid inside the dashed outline of the full span, its share at the right.

    ValueError for no bars."""
    if not any(group.bars for group in groups):
        raise ValueError("a figure of 0 bars")
    return {language: _drawn(groups, language) for language in ("en", "zh")}


def _drawn(groups: Sequence[Group], language: str) -> Figure:
    end = max(100.0, *(100 * bar.share for group in groups for bar in group.bars))
    frame: Figure = {**theme.layout(), "showlegend": False, "margin": {"l": 16, "r": 24, "t": 4, "b": 32}, "bargap": 0}
    frame["xaxis"] = {
        **frame["xaxis"],
        "range": [0, end * 1.004],
        "ticksuffix": " %",
        "nticks": 6,
        "ticklabeloverflow": "allow",
        "zeroline": False,
        "fixedrange": True,
    }
    frame["yaxis"] = {**frame["yaxis"], "range": [_rows(groups), 0], "visible": False, "fixedrange": True}
    frame["meta"] = {"first": _rows(groups[:1])}
    frame["annotations"], frame["shapes"], data = [], [], []
    at = 0.0
    for group in groups:
        frame["annotations"].append(_words(f"<b>{group.name[language]}</b>", 0, at + HEADING - 0.08, "left", "var(--ink)"))
        at += HEADING
        for bar in group.bars:
            middle = at + 0.82
            frame["annotations"] += [
                _words(f"{bar.name[language]} · {bar.amounts[language]}", 0, middle - THICK / 2, "left", "var(--ink2)"),
                _words(f"<b>{percent(bar.share)}</b>", end, middle - THICK / 2, "right", "var(--ink)"),
            ]
            frame["shapes"].append(_outline(middle))
            data.append(_bar(bar, middle, language))
            at += 1
    return {"data": data, "layout": frame}


def _words(text: str, x: float, y: float, side: str, colour: str) -> Figure:
    where = {"x": x, "y": y, "xref": "x", "yref": "y", "xanchor": side, "yanchor": "bottom"}
    return {"text": text, **where, "xshift": -3 if side == "left" else 3, "showarrow": False, "font": {"color": colour}}


def _outline(middle: float) -> Figure:
    line = {"width": 1.2, "color": "var(--ink2)", "dash": "4px,3px"}
    where = {"x0": 0, "x1": 100, "y0": middle - THICK / 2, "y1": middle + THICK / 2}
    return {"type": "rect", "xref": "x", "yref": "y", **where, "line": line, "layer": "above"}


def _bar(bar: Bar, middle: float, language: str) -> Figure:
    return {
        "type": "bar",
        "orientation": "h",
        "x": [100 * bar.share],
        "y": [middle],
        "width": [THICK],
        "name": bar.name[language],
        "marker": {"color": MEASURED if bar.measured else COUNTED},
        "hovertemplate": f"{bar.name[language]}: {bar.amounts[language]}, {percent(bar.share)}<extra></extra>",
    }
