"""The newest wish of a page wins: an older one ends as soon as it would say something.

Gradio's own ways do not fit events with a payload: "always_last" sends the first payload again instead of the last, and ``cancels``
may lose track of the run that replaces the cancelled one.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

T = TypeVar("T")

PAGES: Final = 4096  # whose last wish is remembered: more than a server has open at once


@dataclass(eq=False)
class _Wish:
    number: int | None
    over: bool


class Newest:
    """The wishes under way, by page, and the number of each page's newest one.

    The browser counts the wishes of a page, because two that leave it one right after the other may arrive in either order.
    """

    def __init__(self) -> None:
        self._under_way: dict[str, set[_Wish]] = {}
        self._latest: OrderedDict[str, int] = OrderedDict()

    def stop(self, page: str, number: int | None = None) -> None:
        """Everything that this page has asked for ends at its next update; nothing of it newer than `number`, where that is known."""
        if number is not None:
            self._latest[page] = max(number, self._latest.pop(page, number))
            if len(self._latest) > PAGES:
                self._latest.popitem(last=False)
        for wish in self._under_way.get(page, ()):
            wish.over |= number is None or wish.number is None or wish.number <= number

    async def follow(
        self, page: str, updates: AsyncGenerator[T, None], nothing: Callable[[T], T] | None = None, number: int | None = None
    ) -> AsyncGenerator[T, None]:
        """The updates of a new wish, until a newer one of the same page begins or `stop` is called; then `updates` is closed.

        page: what tells one open page from another; "" for one that cannot be told, whose wishes leave each other alone.
        nothing: makes of an update one that changes nothing, the last of a wish that is over: Gradio repeats the last update of an event
        that ends, and an older result would otherwise come again after a newer one's. A wish that is not over has no such update after
        its last: Gradio's client turns the value of an event's update into that of the next, and a result must have been drawn before.
        number: which wish of its page this is; one that comes after a newer one is over from the start. None: it is the newest.
        """
        wish = _Wish(number, over=number is not None and number < self._latest.get(page, number))
        if page:
            if not wish.over:
                self.stop(page, number)
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
        """How many pages have wishes under way."""
        return len(self._under_way)
