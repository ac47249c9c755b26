"""What the input bar of the picture labs is given and what it answers."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator
from typing import Any

import gradio as gr
import numpy as np
import pytest

from explorer.picture_files import FILE
from explorer.uploads import MODES, routes
from explorer.widgets import maker
from explorer.widgets.newest import Newest
from models.image_transformer.records import LARGE, SIDE
from tests.conftest import built

TEXT = {"en": "a word", "zh": "一个词"}
LIMITS = maker.Limits(side=SIDE, large=LARGE, small=8, rows_kept=(7, 14), count=4)
LEVELS = np.random.default_rng(0).integers(0, 256, (100, SIDE, SIDE)).astype(np.uint8)


def placed(**changed: Any) -> dict[str, Any]:
    """The props of a bar on a page."""
    given: dict[str, Any] = {
        "texts": {"region": TEXT},
        "kinds": [TEXT],
        "examples": [],
        "pictures": {"grey": maker.Pictures(LEVELS, (TEXT,) * 100)},
        "limits": LIMITS,
    }

    def inside() -> dict[str, Any]:
        with gr.Blocks():
            props: dict[str, Any] = maker.maker(maker.empty(), **{**given, **changed}).props
        return props

    return built(inside)


def test_pictures_travel_inside_the_page_so_that_no_store_can_lose_them() -> None:
    packed = placed()["pictures"]["grey"]["levels"]
    assert "url" not in packed
    assert np.array_equal(np.frombuffer(base64.b64decode(packed["data"]), packed["dtype"]).reshape(packed["shape"]), LEVELS)


def test_everything_the_bar_is_given_is_json() -> None:
    props = placed()
    json.dumps({key: props[key] for key in ("texts", "kinds", "examples", "pictures", "limits", "upload")})
    assert props["limits"]["rows_kept"] == [7, 14] and props["limits"]["file"] == FILE


def test_files_are_sent_to_where_they_are_read() -> None:
    assert sorted(placed()["upload"].values()) == sorted(route.path for route in routes())
    assert set(placed()["upload"]) == set(MODES)


def test_a_bar_without_a_name_or_pictures_is_an_error() -> None:
    for missing in ({"texts": {}}, {"pictures": {}}):
        with pytest.raises(ValueError, match="region"):
            placed(**missing)
    with pytest.raises(ValueError, match="100 pictures and 1 names"):
        maker.Pictures(LEVELS, (TEXT,))


def test_waiting_and_refused_leave_the_last_request_in_view() -> None:
    request: dict[str, object] = {"mode": "generate"}
    for value in (maker.reading(), maker.waiting(3, 12, 2.0), maker.refused(TEXT)):
        assert "request" not in value and "query" not in value
    assert maker.running(request, "v=1", 530, 784)["badge"] == {"done": {"at": 530, "of": 784}, "device": ""}
    done = maker.done(request, "v=1", state="live", milliseconds=3.0, device="cpu", warning=TEXT)
    assert done["warning"] == TEXT and done["notice"] is None and done["badge"] == {"milliseconds": 3.0, "device": "cpu"}


def test_a_run_that_is_overtaken_ends_with_an_update_that_changes_nothing() -> None:
    async def counting() -> AsyncGenerator[int, None]:
        for number in range(9):
            yield number

    async def both() -> list[int]:
        newest = Newest()
        old = newest.follow("page", counting(), lambda update: -1)
        seen = [await anext(old), await anext(old)]
        newest.stop("page")
        return seen + [update async for update in old]

    assert asyncio.run(both()) == [0, 1, -1], "Gradio repeats the last update of an event that ends"


def test_nothing_comes_after_the_result_of_a_run_that_nothing_overtook() -> None:
    async def counting() -> AsyncGenerator[int, None]:
        for number in range(3):
            yield number

    async def alone() -> list[int]:
        return [update async for update in Newest().follow("page", counting(), lambda update: -1)]

    assert asyncio.run(alone()) == [0, 1, 2], "an update right after it would reach the browser before it is drawn, and change its value"
