"""The hashing widget in a real browser, on the real server, with queries of a fixed seed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import gradio as gr

from explorer.lab import Lab
from explorer.widgets.hashing import hashing, looked
from tests.browser import trial
from tests.explorer import hashed

KINDS = ("word", "long", "four", "text", "book")


def page_of(kind: str) -> Callable[[Lab, object], None]:
    """What stands on one trial page: the widget and its companion."""

    def page(lab: Lab, engine: object) -> None:
        place = hashing(hashed.value(kind))
        companion = looked()

        def look(event: gr.EventData) -> Any:
            asked: Any = event._data
            return {**hashed.answer(kind, asked["query"], asked["model"], asked["head"], asked["round"]), "wished": asked["wished"]}

        place.look(look, None, companion, show_progress="hidden", trigger_mode="multiple", api_visibility="private")  # type: ignore[attr-defined]

    return page


def serve(port: int) -> None:
    """The site with the trial pages."""
    trial.serve(port, {kind: page_of(kind) for kind in KINDS}, year=2020)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
