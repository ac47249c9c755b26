"""What the pages of all labs do alike when a visitor wishes for something."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

import gradio as gr

from explorer.engine import Page
from explorer.hosts import network
from explorer.widgets.newest import Newest
from models.errors import LARGEST, whole

Update = TypeVar("Update")
Handler = Callable[[gr.EventData, gr.Request], AsyncGenerator[Update, None]]

__all__ = ["HOW", "detail", "following", "halting", "session", "whole"]

GREATEST: Final = 10**300  # as a number with a point, which has room for a little more

# How every event of a page is listened to. None passes by the queue: Gradio sends such events to an address that is shut here.
# No component shows Gradio's own progress: to tell them of it, its script would copy everything they hold at every word of an answer.
HOW: Final[MappingProxyType[str, Any]] = MappingProxyType(
    {"show_progress": "hidden", "show_progress_on": (), "trigger_mode": "multiple", "api_visibility": "private"}
)


def session(caller: gr.Request) -> Page:
    """What tells one open page from another, "" where nothing does; with the address from which it asks."""
    return Page(str(caller.session_hash or ""), network(str(getattr(getattr(caller, "client", None), "host", "") or "")))


def detail(event: gr.EventData) -> Any:
    """What an event carries, whatever was sent; None where it is nested beyond all sense.

    A whole number of more digits than any request has becomes one with a point, as in a browser: an answer that repeats it can be sent,
    and `whole` says that it is too large.
    """
    try:
        return held(event._data)
    except RecursionError:
        return None


def held(value: Any) -> Any:
    """The same value; a whole number of more digits than any request has becomes one with a point. RecursionError where nested too deep."""
    if isinstance(value, dict):
        return {key: held(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [held(inner) for inner in value]
    if isinstance(value, int) and not -LARGEST < value < LARGEST:
        return float(max(-GREATEST, min(GREATEST, value)))
    return value


def following(newest: Newest, updates: Callable[[Any, str], AsyncGenerator[Update, None]]) -> Handler[Update]:
    """An event handler: what `updates` makes of the event's detail and the page's session, until a newer wish of that page comes."""

    async def handler(event: gr.EventData, caller: gr.Request) -> AsyncGenerator[Update, None]:
        page = session(caller)
        given = detail(event)
        order = _order(given)
        followed = newest.follow(page, updates(given, page), _unchanged, order)
        said = 0
        try:
            async for update in followed:
                said += 1
                yield _numbered(update, order, said)
        finally:
            await followed.aclose()

    return handler


def halting(newest: Newest, halt: Callable[[str], bool] = lambda _page: False) -> Callable[[gr.EventData, gr.Request], Awaitable[None]]:
    """An event handler: what the page has asked for until now ends. halt(page): does it end by itself, with what there is of it?"""

    async def handler(event: gr.EventData, caller: gr.Request) -> None:
        page = session(caller)
        if not await asyncio.to_thread(halt, page):  # a cluster's machines are told first
            newest.stop(page, _order(detail(event)))

    return handler


def _order(given: object) -> int | None:
    """The how-manieth wish of its page this is, as the browser counts them (widgets/lib/stored.js); None where it does not say."""
    order = given.get("wished") if isinstance(given, Mapping) else None
    return order if isinstance(order, int) and not isinstance(order, bool) else None


def _numbered(update: Any, order: int | None, said: int) -> Any:
    """The same values, each saying to which wish it is the answer, and the how-manieth: the browser keeps to the newest, in whatever order
    they arrive, and draws nothing twice."""
    if isinstance(update, tuple):
        return tuple(_numbered(value, order, said) for value in update)
    if order is None or not isinstance(update, Mapping) or update == gr.skip():
        return update
    return {**update, "wished": order, "said": said}


def _unchanged(update: Any) -> Any:
    return tuple(gr.skip() for _ in update) if isinstance(update, tuple) else gr.skip()
