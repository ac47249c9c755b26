"""The reading widget in a real browser, on the real server, with texts and weights from a fixed seed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any

import gradio as gr
import pytest

from explorer.lab import Lab
from explorer.widgets.reading import readside, reading
from tests.browser import trial
from tests.explorer import readings


async def grow() -> AsyncGenerator[dict[str, object], None]:
    """Both models read and write side by side, then the finished run."""
    made, _ = readings.run()
    for until in range(20, max(len(one.text) for one in made), 20):
        yield readings.growing(0, until)
        await asyncio.sleep(0.04)
    yield readings.value(query="v=2", state="live")


def page_of(slug: str) -> Callable[[Lab, object], None]:
    """What stands on one trial page."""

    def page(lab: Lab, engine: object) -> None:
        length = 1800 if slug == "long" else 0
        if slug == "beside":
            with gr.Row(elem_classes=["tfe-bench", "tfe-bench-music"]):
                with gr.Column(elem_classes=["tfe-bench-wide"]):
                    place = reading(readings.value(length))
                with gr.Column(elem_classes=["tfe-bench-side"]):
                    readside()
        else:
            place = reading(readings.value(length))
        gr.Button("Grow", elem_id="grow").click(grow, None, place, show_progress="hidden", trigger_mode="multiple", api_visibility="private")

    return page


def serve(port: int) -> None:
    """The site with the trial pages."""
    trial.serve(port, {slug: page_of(slug) for slug in ("texts", "long", "beside")}, year=2019)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
