"""The newest wish of a page wins: what becomes of one that it overtakes, and of those of other pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any, cast

import gradio as gr
import pytest

from explorer import wiring
from explorer.widgets.newest import Newest
from tests.explorer.wishes import alone


async def counting(closed: list[str], name: str, most: int = 100) -> AsyncGenerator[str, None]:
    try:
        for number in range(most):
            yield f"{name}{number}"
            await asyncio.sleep(0)
    finally:
        closed.append(name)


def nothing(_update: str) -> str:
    """What Gradio is told in place of an update that comes too late: it repeats the last update of an event that ends."""
    return "nothing"


def test_a_newer_wish_of_the_same_page_ends_the_older_one_and_disturbs_no_other_page() -> None:
    async def inside() -> None:
        newest, closed = Newest(), list[str]()
        old, theirs, unknown = (
            newest.follow(page, counting(closed, name), nothing) for page, name in (("mine", "a"), ("their", "b"), ("", "?"))
        )
        assert [await anext(updates) for updates in (old, theirs, unknown)] == ["a0", "b0", "?0"]
        new = newest.follow("mine", counting(closed, "c", 2), nothing)
        assert await anext(new) == "c0"
        assert [update async for update in old] == ["nothing"] and closed == ["a"]
        newest.stop("nobody")
        assert [await anext(theirs), await anext(unknown)] == ["b1", "?1"]
        assert [update async for update in new] == ["c1"], "what nothing overtook ends with its result alone"
        newest.stop("their")
        assert [update async for update in theirs] == ["nothing"]
        await unknown.aclose()
        assert len(newest) == 0

    alone(inside())


def test_an_older_wish_that_arrives_after_a_newer_one_is_over_from_the_start() -> None:
    async def inside() -> None:
        newest, closed = Newest(), list[str]()
        new = newest.follow("page", counting(closed, "b"), number=2)
        assert await anext(new) == "b0"
        old = newest.follow("page", counting(closed, "a"), nothing, number=1)
        assert [update async for update in old] == ["nothing"]
        assert await anext(new) == "b1"
        await new.aclose()
        late = newest.follow("page", counting(closed, "a"), nothing, number=1)
        assert [update async for update in late] == ["nothing"], "the newer one has been answered meanwhile"
        assert closed == ["a", "b", "a"]
        assert len(newest) == 0

    alone(inside())


def test_a_stop_ends_what_was_asked_before_it_in_whatever_order_they_arrive() -> None:
    async def inside() -> None:
        newest, closed = Newest(), list[str]()
        newest.stop("page", 2)
        before = newest.follow("page", counting(closed, "a"), nothing, number=1)
        assert [update async for update in before] == ["nothing"]
        after = newest.follow("page", counting(closed, "b"), number=3)
        assert await anext(after) == "b0"
        newest.stop("page", 2)
        assert await anext(after) == "b1"
        await after.aclose()

    alone(inside())


@pytest.mark.parametrize(("detail", "more"), [({"wished": 3}, {"wished": 3, "said": 1}), ({}, {})])
def test_a_value_says_which_wish_of_its_page_it_answers(detail: dict[str, int], more: dict[str, int]) -> None:
    async def updates(asked: object, session: str) -> AsyncGenerator[tuple[object, ...], None]:
        yield {"state": "live"}, None, gr.skip()

    async def inside() -> None:
        handler = wiring.following(Newest(), updates)
        told = [update async for update in handler(cast(Any, SimpleNamespace(_data=detail)), cast(Any, SimpleNamespace(session_hash="a")))]
        assert told == [({"state": "live", **more}, None, gr.skip())]

    alone(inside())
