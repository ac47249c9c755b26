"""Who did what to whom: a figure that belongs to the run in view, the figure widget under a name of its own (see difficulty.py).

Its value is that of `explorer.widgets.figure`.
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.widgets.base import vendor, widget


def roles(value: Mapping[str, object] | None = None) -> gr.HTML:
    """Place the widget. value: from `explorer.widgets.figure.value`, or None while there is nothing to show."""
    return widget("roles", value, plotly=vendor("plotly"))
