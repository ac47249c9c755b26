"""The digits widget in a real browser, on the real server, with digits and weights from a fixed seed."""

from __future__ import annotations

import asyncio
import io
import re
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Page, expect

from explorer.figures import digits as figure
from explorer.lab import Lab
from explorer.widgets.digits import digits
from models.layers.patterns import Factor
from models.sparse_transformer.weights import look
from tests.browser import trial
from tests.browser.waiting import addressed, asked, becomes, quiet
from tests.explorer import drawn_digits

NEW = Callable[..., tuple[Page, Any]]
PICK = {"model": "strided", "head": "2.3", "pos": 552}
VARIANTS = tuple(drawn_digits.PATTERNS)


async def grow() -> AsyncGenerator[dict[str, object], None]:
    """Three models work at paces of their own, then the finished run."""
    told: list[Any] = []
    reached = dict.fromkeys(VARIANTS, 0)
    for pace in range(30):
        for n, variant in enumerate(VARIANTS):
            stop = min(784, reached[variant] + 24 + 2 * n)
            if stop > reached[variant]:
                told.append(drawn_digits.steps(variant, reached[variant], stop))
            reached[variant] = stop
        yield figure.growing(VARIANTS, told, query="v=2", keep=drawn_digits.KEEP, whole=drawn_digits.whole())
        await asyncio.sleep(0.05 if pace else 0.5)
    yield drawn_digits.value(query="v=2", state="live", pick=PICK, **drawn_digits.addresses())


def page_of(slug: str) -> Callable[[Lab, object], None]:
    """What stands on one trial page."""

    def page(lab: Lab, engine: object) -> None:
        if slug == "three":
            place = digits(drawn_digits.value(pick=PICK, **drawn_digits.addresses()))
        else:
            one = drawn_digits.made("dense", 28)
            place = digits(
                figure.value([one], state="stored", query="v=1", whole=drawn_digits.whole(), looks={"dense": drawn_digits.kept(one)[0]})
            )
        gr.Button("Grow", elem_id="grow").click(
            grow, None, place, show_progress="hidden", trigger_mode="multiple", api_visibility="private"
        )

    return page


def serve(port: int) -> None:
    """The site with the trial pages."""
    trial.serve(port, {slug: page_of(slug) for slug in ("three", "one")}, year=2019)


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of that server."""
    yield from trial.served(__file__)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
