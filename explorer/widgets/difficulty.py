"""How hard things take longer: a figure that belongs to the run in view.

Its value is that of `explorer.widgets.figure`.
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.widgets.figure import own


def difficulty(value: Mapping[str, object] | None = None) -> gr.HTML:
    """Place the widget. value: from `explorer.widgets.figure.value`, or None while there is nothing to show."""
    return own("difficulty", value)
