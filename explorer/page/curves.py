"""A figure of curves for every lab that draws one. Table and legend follow from the curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.components.figure import Mark, describe_drawn_figure
from explorer.contract.control_kinds import Value
from explorer.contract.labels import Text
from explorer.figures.curves import Curve, draw_curves

# titles of both axes: a text each, or both in each language
Axes = tuple[Text, Text] | Mapping[str, tuple[str, str]]


def draw_curve_figure(
    name: str,
    lines: Sequence[Curve],
    axes: Axes,
    words: tuple[Text, Text, Text],
    columns: Sequence[Text],
    rows: Sequence[Sequence[str | float | Text | None]] | None = None,
    *,
    legend: Sequence[Mark] | None = None,
    height: int = 260,
    **how: Any,
) -> Value:
    """Return a figure of curves as the figure widget draws it.

    name, words, columns, rows: as in `figure.describe_drawn_figure`. Without rows, the table has
        each place of the first curve, and every curve's value there in four digits. The curves' own
        columns are then added.
    legend: by default each curve by its colour.
    how: as in `curves.draw_curves`.
    """
    both = (
        axes
        if isinstance(axes, Mapping)
        else {language: (axes[0][language], axes[1][language]) for language in axes[0]}
    )
    if rows is None:
        columns = [*columns, *(one.name for one in lines)]
        rows = [
            (x, *(round(float(one.y[at]), 4) for one in lines)) for at, x in enumerate(lines[0].x)
        ]
    marks = [Mark(one.name, one.colour) for one in lines] if legend is None else legend
    return describe_drawn_figure(
        name,
        lambda language: draw_curves(lines, both[language], language, height=height, **how),
        words,
        columns,
        rows,
        marks,
        height=height,
    )
