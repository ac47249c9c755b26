"""Small print at the foot of a page: what a visitor should know about its numbers, one remark a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import gradio as gr

from explorer.widgets.base import widget

Text = Mapping[str, str]


def notes(remarks: Sequence[Text], *, label: Text, links: Mapping[str, Text] | None = None) -> gr.HTML:
    """Place the remarks. label: what they are called for screen readers. links: places of this site where one may go on, by address."""
    leading = [{"href": address, **text} for address, text in (links or {}).items()]
    return widget("notes", remarks=[*map(dict, remarks), *leading], words=dict(label))
