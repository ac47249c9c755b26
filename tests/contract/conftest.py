"""One page of each lab for all promises that need none of their own, "visit" (tests/visits.py)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr
import pytest

from explorer.engine import Engine
from explorer.labs import LABS
from explorer.web.site import build_blocks
from tests.conftest import built


def on_its_page(order: int = 1) -> list[Any]:
    """Every lab, as parameters; the tests of a lab run one after the other, since they share its
    page.

    order: of this test among them: 0 where the page is opened anew, 3 where it is used up;
        tests/browser has 2.
    """
    return [
        pytest.param(lab, id=lab.slug, marks=pytest.mark.xdist_group(f"{lab.slug} walk", order))
        for lab in LABS
    ]


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """One engine for all tests of a file: what it has computed it remembers."""
    made = Engine()
    yield made
    made.close(0)


@pytest.fixture(scope="module")
def pages(engine: Engine) -> gr.Blocks:
    """The pages of all labs, at an engine that computes."""
    return built(lambda: build_blocks(LABS, engine))
