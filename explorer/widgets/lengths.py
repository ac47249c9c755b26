"""The folded panel (folded.py) of the figure that tells what an event costs beyond the trained length.

Its value, when shown: figure, a value of the figure widget. In the address: lengths (open).
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.widgets.figure import opened


def lengths(*, title: Mapping[str, str]) -> gr.HTML:
    """Place the panel, folded. title: its question, en and zh."""
    return opened("lengths", title)
