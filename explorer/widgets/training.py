"""How a model was trained and what that cost in its time: a folded panel (folded.py) of figures, one table and the facts of the recipe.

Its value, when shown:

    figures: values of the figure widget, in order; table: {columns: [{en, zh}], rows: [{cells: [text or {en, zh}], ours}]}
    facts: [[{en, zh} name, {en, zh} what]]; notes: [{en, zh}]

In the address: ``training`` (open).
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.widgets.base import vendor, widget
from explorer.widgets.folded import ready


def training(*, title: Mapping[str, str]) -> gr.HTML:
    """Place the panel, folded. title: its question, en and zh."""
    return widget("training", ready(), events=("ask",), plotly=vendor("plotly"), title_text=dict(title))
