"""The newest wish of a page: what becomes of one that it overtakes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from explorer.widgets.newest import Newest


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
