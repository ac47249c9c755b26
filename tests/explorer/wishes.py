"""Wishes of a visitor without a browser: what a page's widgets are told to draw."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

from explorer.components.folded import with_drawings_as_text
from explorer.contract import controls
from explorer.engine import Engine
from explorer.labs import DECLARED
from explorer.page.answers import render_folded_view, stream_answer
from explorer.page.program import Program

T = TypeVar("T")
Page = Program[Any, Any, Any, Any]


def alone(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, in a thread of its own: where a browser is driven, this thread has
    a running loop already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def said(
    updates: Callable[[Engine], AsyncGenerator[Any, None]], engine: Engine | None = None
) -> list[Any]:
    """All that a handler says, at an engine of its own if none is given."""

    async def everything() -> list[Any]:
        used = engine or Engine()
        try:
            async with contextlib.aclosing(updates(used)) as news:
                return [update async for update in news]
        finally:
            if engine is None:
                await asyncio.to_thread(used.close, 1.0)

    return alone(everything())


def told(
    page: Page, query: str, given: object = None, engine: Engine | None = None
) -> list[dict[str, Any]]:
    """All updates of a wish: what each widget that is told anything draws, by its name."""
    return said(lambda used: stream_answer(page, used, query, given, "a page"), engine)


def answered(
    page: Page, query: str, given: object = None, engine: Engine | None = None
) -> dict[str, list[Any]]:
    """What each widget was given, in order."""
    updates = told(page, query, given, engine)
    return {
        name: [update[name] for update in updates if name in update] for name in page.widget_names
    }


def finished(page: Page, request: Any, engine: Engine | None = None) -> dict[str, Any]:
    """What all widgets draw in the end of a request that is run anew."""
    return {
        name: drawn[-1]
        for name, drawn in answered(page, "", controls.spell_fields(request), engine).items()
        if drawn
    }


def opened(page: Page, view: str, detail: dict[str, Any], engine: Engine | None = None) -> Any:
    """What a view that is opened on demand draws last."""
    look = next(one.look for one in page.views if one.name == view)
    assert look is not None
    last = said(lambda used: render_folded_view(page, used, look, detail), engine)[-1]
    return with_drawings_as_text(last) if isinstance(last, dict) else last


def program_of(slug: str) -> Page:
    """The program of a lab's page, whose drawings are not remembered under its name."""
    found = next(lab for lab in DECLARED if lab.slug == slug)
    return replace(found.build_program(), slug="")
