"""The event handling that the pages of all labs share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

import gradio as gr

from explorer.engine import OpenPage
from explorer.gradio_adapter.event_details import get_event_detail
from explorer.page.newest import Newest
from explorer.values.hosts import find_network
from models.explaining.errors import LARGEST

Update = TypeVar("Update")
Handler = Callable[[gr.EventData, gr.Request], AsyncGenerator[Update, None]]

__all__ = [
    "HOW",
    "follow_newest_request",
    "read_detail",
    "read_session",
    "stop_on_event",
]

GREATEST: Final = 10**300  # larger whole numbers become floats, which reach a little further

# The settings of every event of a page. No event bypasses the queue: Gradio sends such events to an
# address that is shut here. No component shows Gradio's own progress: for it, Gradio's script would
# copy each component's whole value at every word of an answer.
HOW: Final[MappingProxyType[str, Any]] = MappingProxyType(
    {
        "show_progress": "hidden",
        "show_progress_on": (),
        "trigger_mode": "multiple",
        "api_visibility": "private",
    }
)


def read_session(caller: gr.Request) -> OpenPage:
    """Return the identity of an open page, "" for none, with the address of its browser."""
    return OpenPage(
        str(caller.session_hash or ""),
        find_network(str(getattr(getattr(caller, "client", None), "host", "") or "")),
    )


def read_detail(event: gr.EventData) -> Any:
    """Return the detail of an event. Any detail is accepted; None where it is nested too deep.

    A whole number with more digits than any request has becomes one with a decimal point, as in a
    browser. An answer that repeats it can then be sent, and `whole` says that it is too large.
    """
    try:
        return bound_numbers(get_event_detail(event))
    except RecursionError:
        return None


def bound_numbers(value: Any) -> Any:
    """Return the same value, where a whole number with more digits than any request has becomes one
    with a decimal point. Raise RecursionError where it is nested too deep."""
    if isinstance(value, dict):
        return {key: bound_numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [bound_numbers(inner) for inner in value]
    if isinstance(value, int) and not -LARGEST < value < LARGEST:
        return float(max(-GREATEST, min(GREATEST, value)))
    return value


def follow_newest_request(
    newest: Newest, updates: Callable[[Any, str], AsyncGenerator[Update, None]]
) -> Handler[Update]:
    """Return an event handler that yields the updates for the event's detail and the page's
    session, until a newer request of that page comes."""

    async def handler(event: gr.EventData, caller: gr.Request) -> AsyncGenerator[Update, None]:
        page = read_session(caller)
        given = read_detail(event)
        order = _read_order(given)
        followed = newest.follow_newest(page, updates(given, page), _keep_unchanged, order)
        said = 0
        try:
            async for update in followed:
                said += 1
                yield _number_update(update, order, said)
        finally:
            await followed.aclose()

    return handler


def stop_on_event(
    newest: Newest, halt: Callable[[str], bool] = lambda _page: False
) -> Callable[[gr.EventData, gr.Request], Awaitable[None]]:
    """Return an event handler that ends every request of the page so far.

    halt(page): whether the run ends by itself, with the part of its result that exists.
    """

    async def handler(event: gr.EventData, caller: gr.Request) -> None:
        page = read_session(caller)
        if not await asyncio.to_thread(halt, page):  # a cluster's machines are told first
            newest.stop_page(page, _read_order(read_detail(event)))

    return handler


def _read_order(given: object) -> int | None:
    """Return the number of this request on its page, as the browser counts them (lib/stored.js);
    None where it does not say."""
    order = given.get("wished") if isinstance(given, Mapping) else None
    return order if isinstance(order, int) and not isinstance(order, bool) else None


def _number_update(update: Any, order: int | None, said: int) -> Any:
    """Return the same values, each with the number of its request and of its update. The browser
    keeps to the newest, in whatever order they arrive, and draws nothing twice."""
    if isinstance(update, tuple):
        return tuple(_number_update(value, order, said) for value in update)
    if order is None or not isinstance(update, Mapping) or update == gr.skip():
        return update
    return {**update, "wished": order, "said": said}


def _keep_unchanged(update: Any) -> Any:
    return tuple(gr.skip() for _ in update) if isinstance(update, tuple) else gr.skip()
