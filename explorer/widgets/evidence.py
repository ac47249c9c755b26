"""A folded panel (folded.py) of one figure: a question that a measured curve answers.

Its value, when shown: figure, a value of the figure widget. In the address: the panel's key (open).
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.widgets.base import vendor, widget
from explorer.widgets.folded import ready


def evidence(*, key: str, title: Mapping[str, str]) -> gr.HTML:
    """Place the panel, folded. key: its name in the address; title: its question, en and zh."""
    return widget("evidence", ready(), events=("ask",), plotly=vendor("plotly"), view_key=key, title_text=dict(title))
