"""What hashing misses, in a real browser: sliders, curves, maps, heads, files, phones, languages."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from explorer.lab import Lab
from explorer.widgets import missed
from explorer.widgets.folded import Question, refused, shown
from tests.browser import trial
from tests.browser.waiting import addressed
from tests.explorer import missing

NEW = Callable[..., tuple[Page, Any]]
HOSTILE = "<img src=x onerror=alert(1)>"
LONG = tuple("the quick brown fox jumps over the lazy dog " * 14)[:600]


def page_of(lab: Lab, engine: object) -> None:
    """The panel; it answers with the head and the number of buckets that are asked for; "long" and "full" are two further models."""
    panel = missed.missed()

    def answer(event: gr.EventData) -> Any:
        question = Question.of(event._data)
        wish: Any = question.wish
        if wish["model"] == "gone":
            return refused(question, {"en": "The run has left the server.", "zh": "运行已不在。"})
        layer, head = (int(part) - 1 for part in (wish["head"] or "1.2").split("."))
        found = missing.head(layer, head, wish["buckets"] or 8, tokens=LONG if wish["model"] == "long" else missing.TOKENS)
        if wish["model"] == "full":
            found = {**found, "trained": 0, "ran": (0, 8), "tokens": (HOSTILE, *missing.TOKENS[1:])}
        return shown(question, **missed.boards({"en": "4 rounds", "zh": "4 轮"}, (layer, head), (2, 3), **found))

    panel.ask(answer, None, panel, show_progress="hidden", trigger_mode="multiple", api_visibility="private")


def serve(port: int) -> None:
    """The site with the trial page."""
    trial.serve(port, {"trial": page_of}, year=2020)


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of that server."""
    yield from trial.served(__file__)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
