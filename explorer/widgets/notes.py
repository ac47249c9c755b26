"""Small print at the foot of a page: what a visitor should know about its numbers, one remark a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import gradio as gr

from explorer.widgets.base import widget

Text = Mapping[str, str]


def notes(remarks: Sequence[Text], *, label: Text) -> gr.HTML:
    """Place the remarks. label: what they are called for screen readers."""
    return widget("notes", remarks=[dict(remark) for remark in remarks], words=dict(label))
