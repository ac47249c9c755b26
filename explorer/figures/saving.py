"""The savings of attention spans: shares of the cost of heads with the full span, a bar for each
quantity and layer, as Plotly's JSON."""

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
    """One quantity.

    name: its label.
    amounts: ours and that of the full span, in words.
    share: ours over that of the full span.
    """

    name: Text
    amounts: Text
    share: float
    measured: bool = False

    def __post_init__(self) -> None:
        if not self.share >= 0:
            raise ValueError(f"{self.name['en']}: a share of {self.share}; expected 0 or more")


@dataclass(frozen=True)
class BarGroup:
    """Bars under one name."""

    name: Text
    bars: Sequence[Bar]


def format_percent(share: float) -> str:
    """Return a share for readers: "28 %", below one percent with a digit more."""
    return f"{100 * share:.1f} %" if 0 < share < 0.00995 else f"{100 * share:.0f} %"


def find_height(groups: Sequence[BarGroup]) -> int:
    """Return the height of the figure, in pixels."""
    return round(ROW * _list_rows(groups)) + 36


def _list_rows(groups: Sequence[BarGroup]) -> float:
    return sum(HEADING + len(group.bars) for group in groups)


def draw_bars(groups: Sequence[BarGroup]) -> dict[str, Figure]:
    """Return one figure for each language: every bar solid inside the dashed outline of the full
    span, its share at the right.

    Raise ValueError for no bars.
    """
    if not any(group.bars for group in groups):
        raise ValueError("a figure of 0 bars")
    return {language: _draw_groups(groups, language) for language in ("en", "zh")}


def _draw_groups(groups: Sequence[BarGroup], language: str) -> Figure:
    end = max(100.0, *(100 * bar.share for group in groups for bar in group.bars))
    frame: Figure = {
        **theme.make_layout(),
        "showlegend": False,
        "margin": {"l": 16, "r": 24, "t": 4, "b": 32},
        "bargap": 0,
    }
    frame["xaxis"] = {
        **frame["xaxis"],
        "range": [0, end * 1.004],
        "ticksuffix": " %",
        "nticks": 6,
        "ticklabeloverflow": "allow",
        "zeroline": False,
        "fixedrange": True,
    }
    frame["yaxis"] = {
        **frame["yaxis"],
        "range": [_list_rows(groups), 0],
        "visible": False,
        "fixedrange": True,
    }
    frame["meta"] = {"first": _list_rows(groups[:1])}
    frame["annotations"], frame["shapes"], data = [], [], []
    at = 0.0
    for group in groups:
        frame["annotations"].append(
            _write_label(
                f"<b>{group.name[language]}</b>", 0, at + HEADING - 0.08, "left", "var(--ink)"
            )
        )
        at += HEADING
        for bar in group.bars:
            middle = at + 0.82
            frame["annotations"] += [
                _write_label(
                    f"{bar.name[language]} · {bar.amounts[language]}",
                    0,
                    middle - THICK / 2,
                    "left",
                    "var(--ink2)",
                ),
                _write_label(
                    f"<b>{format_percent(bar.share)}</b>",
                    end,
                    middle - THICK / 2,
                    "right",
                    "var(--ink)",
                ),
            ]
            frame["shapes"].append(_draw_outline(middle))
            data.append(_draw_bar(bar, middle, language))
            at += 1
    return {"data": data, "layout": frame}


def _write_label(text: str, x: float, y: float, side: str, colour: str) -> Figure:
    where = {"x": x, "y": y, "xref": "x", "yref": "y", "xanchor": side, "yanchor": "bottom"}
    return {
        "text": text,
        **where,
        "xshift": -3 if side == "left" else 3,
        "showarrow": False,
        "font": {"color": colour},
    }


def _draw_outline(middle: float) -> Figure:
    line = {"width": 1.2, "color": "var(--ink2)", "dash": "4px,3px"}
    where = {"x0": 0, "x1": 100, "y0": middle - THICK / 2, "y1": middle + THICK / 2}
    return {"type": "rect", "xref": "x", "yref": "y", **where, "line": line, "layer": "above"}


def _draw_bar(bar: Bar, middle: float, language: str) -> Figure:
    return {
        "type": "bar",
        "orientation": "h",
        "x": [100 * bar.share],
        "y": [middle],
        "width": [THICK],
        "name": bar.name[language],
        "marker": {"color": MEASURED if bar.measured else COUNTED},
        "hovertemplate": (
            f"{bar.name[language]}: {bar.amounts[language]},"
            f" {format_percent(bar.share)}<extra></extra>"
        ),
    }
