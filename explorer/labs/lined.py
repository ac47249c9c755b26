"""A figure of curves with all that stands around it, for every lab that draws one: its table and its legend follow from the curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.controls import Value
from explorer.figures.curves import Curve, curves
from explorer.labels import Text
from explorer.widgets.figure import Mark, shown

Axes = tuple[Text, Text] | Mapping[str, tuple[str, str]]  # titles of both axes: a text each, or both in each language


def lined(
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
    """name, words, columns, rows: as of `shown`. rows left out: each place of the first curve, and what every curve has there, in four
    digits. Columns without the curves' own get these. legend: left out, each curve by its colour. how: as of `curves`.
    """
    both = axes if isinstance(axes, Mapping) else {language: (axes[0][language], axes[1][language]) for language in axes[0]}
    if rows is None:
        columns = [*columns, *(one.name for one in lines)]
        rows = [(x, *(round(float(one.y[at]), 4) for one in lines)) for at, x in enumerate(lines[0].x)]
    marks = [Mark(one.name, one.colour) for one in lines] if legend is None else legend
    return shown(
        name, lambda language: curves(lines, both[language], language, height=height, **how), words, columns, rows, marks, height=height
    )
