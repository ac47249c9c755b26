"""A figure that belongs to the run in view: the figure widget under a name of its own, so that stored results reach it and no other figure.

Its value is that of `explorer.widgets.figure`.
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.widgets.base import vendor, widget


def difficulty(value: Mapping[str, object] | None = None) -> gr.HTML:
    """Place the widget. value: from `explorer.widgets.figure.value`, or None while there is nothing to show."""
    return widget("difficulty", value, plotly=vendor("plotly"))
