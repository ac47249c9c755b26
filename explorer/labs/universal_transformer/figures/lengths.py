"""Answers that are longer than any in training: the share that is right at the lengths of training
and beyond, a line for each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.figures import theme

Text = Mapping[str, str]
Figure = dict[str, Any]

GAP = 0.05  # between two columns of panels, as a share of the width
BETWEEN = 0.12  # between the two rows, as a share of the height


@dataclass(frozen=True)
class Run:
    """One trained network, or a published one. name: its name in the hover text. colour: a token.

    characters, whole: shares of right characters and of whole answers at the lengths of training,
    and beyond; None where not measured. printed: whether the run is a published one, with a share
    beyond alone.
    """

    name: Text
    colour: str
    characters: tuple[float | None, float | None]
    whole: tuple[float | None, float | None]
    printed: bool = False

    def __post_init__(self) -> None:
        wrong = [
            share
            for share in (*self.characters, *self.whole)
            if share is not None and not 0 <= share <= 1
        ]
        if wrong:
            raise ValueError(f"{self.name['en']}: shares {wrong}; expected shares in [0, 1]")


def draw_lengths(
    tasks: Sequence[tuple[Text, Sequence[Run]]],
    *,
    rows: tuple[Text, Text],
    ticks: tuple[Text, Text, Text],
) -> dict[str, Figure]:
    """Draw one figure for each language, as Plotly's own JSON: a column of panels for each task,
    characters above, whole answers below.

    tasks: name and runs. rows: titles of the two rows. ticks: the lengths of training, those
    beyond, the published ones. Raise ValueError for no tasks.
    """
    if not tasks:
        raise ValueError("there are 0 tasks; expected one or more")
    return {language: _draw_language(tasks, rows, ticks, language) for language in ("en", "zh")}


def _draw_language(
    tasks: Sequence[tuple[Text, Sequence[Run]]],
    rows: tuple[Text, Text],
    ticks: tuple[Text, Text, Text],
    language: str,
) -> Figure:
    frame: Figure = {
        **theme.make_layout(),
        "showlegend": False,
        "margin": {"l": 44, "r": 10, "t": 26, "b": 30},
        "annotations": [],
    }
    across, up = frame.pop("xaxis"), frame.pop("yaxis")
    any_printed = any(run.printed for _, runs in tasks for run in runs)
    data: list[Figure] = []
    wide = (1 - GAP * (len(tasks) - 1)) / len(tasks)
    high = (1 - BETWEEN) / 2
    for column, (task, runs) in enumerate(tasks):
        left = column * (wide + GAP)
        for row in (0, 1):
            number = 2 * column + row + 1
            end = "" if number == 1 else str(number)
            bottom = (1 - row) * (high + BETWEEN)
            frame[f"xaxis{end}"] = {
                **across,
                "domain": [left, left + wide],
                "anchor": f"y{end}",
                "range": [-0.3, 2.4 if any_printed else 1.3],
                "tickvals": [0, 1, 2][: 3 if any_printed else 2],
                "ticktext": [tick[language] for tick in ticks][: 3 if any_printed else 2],
                "showticklabels": row == 1,
                **theme.STILL,
            }
            frame[f"yaxis{end}"] = {
                **up,
                "domain": [bottom, bottom + high],
                "anchor": f"x{end}",
                "range": [-0.06, 1.08],
                "tickvals": [0, 0.5, 1],
                "showticklabels": column == 0,
                "fixedrange": True,
                "zeroline": False,
                "title": {
                    "text": rows[row][language] if column == 0 else "",
                    "standoff": 4,
                    "font": {"size": 12},
                },
            }
            data += [_draw_line(run, row, end, language) for run in runs]
        place = {
            "x": left,
            "y": 1,
            "xanchor": "left",
            "yshift": 4,
            "font": {"size": 12, "color": "var(--ink)"},
        }
        frame["annotations"].append({**theme.ABOVE, **place, "text": f"<b>{task[language]}</b>"})
    return {"data": data, "layout": frame}


def _draw_line(run: Run, row: int, end: str, language: str) -> Figure:
    near, far = (run.characters, run.whole)[row]
    made = {
        "type": "scatter",
        "name": run.name[language],
        "xaxis": f"x{end}",
        "yaxis": f"y{end}",
        "cliponaxis": False,
        "hovertemplate": f"{run.name[language]}: %{{y:.3f}}<extra></extra>",
    }
    if run.printed:
        line = {"width": 2, "dash": "dot", "color": run.colour}
        return {**made, "x": [1.7, 2, 2.3], "y": [far, far, far], "mode": "lines", "line": line}
    line = {"width": 1.5, "color": run.colour}
    return {
        **made,
        "x": [0, 1],
        "y": [near, far],
        "mode": "lines+markers",
        "line": line,
        "marker": {"size": 7, "color": run.colour},
    }
