"""What the pages of all labs do alike when a visitor wishes for something."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

import gradio as gr

from explorer.widgets.newest import Newest

Update = TypeVar("Update")
Handler = Callable[[gr.EventData, gr.Request], AsyncGenerator[Update, None]]

# How every event of a page is listened to. None passes by the queue: Gradio sends such events to an address that is shut here.
HOW: Final[MappingProxyType[str, Any]] = MappingProxyType(
    {"show_progress": "hidden", "trigger_mode": "multiple", "api_visibility": "private"}
)


def session(caller: gr.Request) -> str:
    """What tells one open page from another; "" where nothing does."""
    return str(caller.session_hash or "")


def whole(value: object) -> int:
    """A whole number that came as JSON. TypeError for anything else."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is no whole number")
    return value


def following(newest: Newest, updates: Callable[[Any, str], AsyncGenerator[Update, None]]) -> Handler[Update]:
    """An event handler: what `updates` makes of the event's detail and the page's session, until a newer wish of that page comes.

    Each value says which wish of the page it answers ("wished"), so that the page does not draw what it has outdated meanwhile.
    """

    async def handler(event: gr.EventData, caller: gr.Request) -> AsyncGenerator[Update, None]:
        page, number = session(caller), _number(event._data)
        followed = newest.follow(page, updates(event._data, page), _unchanged, number)
        try:
            async for update in followed:
                yield update if number is None else _numbered(update, number)
        finally:
            await followed.aclose()

    return handler


def halting(newest: Newest) -> Callable[[gr.EventData, gr.Request], Awaitable[None]]:
    """An event handler: what the page has asked for until now ends."""

    async def handler(event: gr.EventData, caller: gr.Request) -> None:
        newest.stop(session(caller), _number(event._data))

    return handler


def _number(detail: object) -> int | None:
    """Which wish of its page this is, as the browser counts them (widgets/lib/stored.js); None where it does not say."""
    number = detail.get("number") if isinstance(detail, Mapping) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _numbered(update: Any, number: int) -> Any:
    if isinstance(update, tuple):
        return tuple(_numbered(value, number) for value in update)
    says = isinstance(update, Mapping) and "__type__" not in update  # Gradio's own words are no value
    return {**update, "wished": number} if says else update


def _unchanged(update: Any) -> Any:
    return tuple(gr.skip() for _ in update) if isinstance(update, tuple) else gr.skip()
