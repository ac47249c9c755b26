"""What tells the model where a word stands: the sinusoids, how alike two positions are, and the sentence with its words shuffled.

A folded panel (folded.py). Its wish is {"order": number of the shuffled order, from 1}; its value, when shown:

    shapes: by name ("own", "textbook") {signal: packed (position, dimension), similarity: [by distance],
        picture, curve, map: values of the figure widget, the first and the last without their numbers}
    source: {pieces, space}; order: where each piece of the shuffled sentence stood; number: of the order
    rows: per way of reading {name, largest, before, after}; distances: a value of the figure widget

In the address: ``positions`` (open), ``signal`` ("textbook" for the picture of the texts), ``alike`` ("map"), ``order``.
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.figures import theme
from explorer.widgets.base import vendor, widget
from explorer.widgets.folded import ready


def positions(*, texts: Mapping[str, Mapping[str, str]]) -> gr.HTML:
    """Place the panel, folded. texts: what it says, en and zh, by name."""
    return widget(
        "positions",
        ready(),
        events=("ask",),
        plotly=vendor("plotly"),
        texts={name: dict(text) for name, text in texts.items()},
        scales={mode: theme.colorscale(theme.SIGNED[mode]) for mode in ("light", "dark")},
    )
