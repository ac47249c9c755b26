"""The ponder widget: every position of a run thinks for as long as it needs, and one can watch it stop.

The value is made by `explorer.figures.ponder.value`. Bars show the steps that each position took, below them its halting probabilities add
up to 1 − ε and the remainder fills the rest; a slider scrubs through the steps, and for the chosen position the sum is worked out. All of
it happens in the browser: the widget asks the server for nothing.

What is looked at stands in the address: ``pos`` (the chosen position, from 0), ``step`` (from 1; left out, the last) and ``far`` ("1": how
far each state is from its last one is unfolded).
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.figures import theme
from explorer.widgets.base import vendor, widget

Text = Mapping[str, str]


def ponder(value: Mapping[str, object] | None = None, *, texts: Mapping[str, Text]) -> gr.HTML:
    """Place the widget. value: from `explorer.figures.ponder.value`, or None while there is nothing to show.

    texts: en and zh, by name: ``region``, the title; ``step``, what one step is called ("step", "update"); and, where they fit better than
    the widget's own, ``question`` (the title in projector mode) and ``empty`` (what stands there while there is nothing).
    """
    return widget(
        "ponder",
        value,
        plotly=vendor("plotly"),
        texts={name: dict(text) for name, text in texts.items()},
        scales={mode: theme.colorscale(theme.SURPRISE[mode]) for mode in ("light", "dark")},
    )
