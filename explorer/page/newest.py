"""The newest request of a page wins: an older one ends at its next update.

Gradio's own ways do not fit events with a payload: "always_last" sends the first payload again
instead of the last, and ``cancels`` may lose track of the run that replaces the cancelled one.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

T = TypeVar("T")

PAGES: Final = 4096  # pages whose last request is remembered: more than a server has open at once


@dataclass(eq=False)
class _Wish:
    number: int | None
    over: bool


class Newest:
    """The requests under way, by page, and the number of each page's newest one.

    The browser counts the requests of a page, because two that leave it one right after the other
    may arrive in either order.
    """

    def __init__(self) -> None:
        self._under_way: dict[str, set[_Wish]] = {}
        self._latest: OrderedDict[str, int] = OrderedDict()

    def stop_page(self, page: str, number: int | None = None) -> None:
        """End every request of this page at its next update, but none newer than `number`, where
        that is known."""
        if number is not None:
            self._latest[page] = max(number, self._latest.pop(page, number))
            if len(self._latest) > PAGES:
                self._latest.popitem(last=False)
        for wish in self._under_way.get(page, ()):
            wish.over |= number is None or wish.number is None or wish.number <= number

    async def follow_newest(
        self,
        page: str,
        updates: AsyncGenerator[T, None],
        nothing: Callable[[T], T] | None = None,
        number: int | None = None,
    ) -> AsyncGenerator[T, None]:
        """Yield the updates of a new request, until a newer one of the same page begins or
        `stop_page` is called. Then `updates` is closed.

        page: the identity of an open page; "" for an unknown one, whose requests do not end each
            other.
        nothing: turns an update into one that changes nothing, the last of a request that has
            ended. Gradio repeats the last update of an event that ends, and an older result would
            otherwise come again after a newer one's. A request that finishes has no such update
            after its last one: Gradio's client computes the value of an event's update from the one
            before, and a result must have been drawn by then.
        number: the number of this request on its page. A request that comes after a newer one ends
            from the start. None: it is the newest.
        """
        wish = _Wish(number, over=number is not None and number < self._latest.get(page, number))
        if page:
            if not wish.over:
                self.stop_page(page, number)
            self._under_way.setdefault(page, set()).add(wish)
        try:
            async with contextlib.aclosing(updates):
                some = False
                async for update in updates:
                    some = True
                    if wish.over:
                        break
                    yield update
                if some and wish.over and nothing is not None:
                    yield nothing(update)
        finally:
            if page:
                self._under_way[page].discard(wish)
                if not self._under_way[page]:
                    del self._under_way[page]

    def __len__(self) -> int:
        """Return the number of pages with requests under way."""
        return len(self._under_way)
