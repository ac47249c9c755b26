"""Notes at the foot of a page: remarks on its numbers, one a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import gradio as gr

from explorer.components.base import place_widget
from explorer.contract import shared_texts as shared

Text = Mapping[str, str]


def place_notes(remarks: Sequence[Text], *, links: Mapping[str, Text] | None = None) -> gr.HTML:
    """Place the remarks.

    links: further places of this site, by address.
    """
    leading = [{"href": address, **text} for address, text in (links or {}).items()]
    return place_widget("notes", remarks=[*map(dict, remarks), *leading], words=dict(shared.NOTES))
