"""The whole detail of an event. `gr.EventData` gives its parts one by one, by their names."""

from __future__ import annotations

import gradio as gr

WRITTEN_FOR = "6.31.0"  # the version of Gradio


def get_event_detail(event: gr.EventData) -> object:
    """Return all that the browser sent with an event."""
    detail: object = event._data
    return detail
