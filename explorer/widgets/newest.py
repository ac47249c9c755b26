"""The newest wish of a page wins: an older one ends as soon as it would say something.

Gradio's own ways do not fit events with a payload: "always_last" sends the first payload again instead of the last, and ``cancels``
may lose track of the run that replaces the cancelled one.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(eq=False)
class _Wish:
    over: bool = False


class Newest:
    """The wishes under way, by page. It remembers a page only while one of its wishes is being fulfilled."""

    def __init__(self) -> None:
        self._under_way: dict[str, set[_Wish]] = {}

    def stop(self, page: str) -> None:
        """Everything that this page has asked for ends at its next update."""
        for wish in self._under_way.get(page, ()):
            wish.over = True

    async def follow(self, page: str, updates: AsyncGenerator[T, None], nothing: Callable[[T], T] | None = None) -> AsyncGenerator[T, None]:
        """The updates of a new wish, until a newer one of the same page begins or `stop` is called; then `updates` is closed.

        page: what tells one open page from another; "" for one that cannot be told, whose wishes leave each other alone.
        nothing: makes of an update one that changes nothing, the last of a wish that is over: Gradio repeats the last update of an event
        that ends, and half a result would otherwise come again after the newer wish's whole one.
        """
        wish = _Wish()
        if page:
            self.stop(page)
            self._under_way.setdefault(page, set()).add(wish)
        try:
            async with contextlib.aclosing(updates):
                async for update in updates:
                    if wish.over:
                        if nothing is not None:
                            yield nothing(update)
                        return
                    yield update
        finally:
            if page:
                self._under_way[page].discard(wish)
                if not self._under_way[page]:
                    del self._under_way[page]

    def __len__(self) -> int:
        """How many pages have wishes under way."""
        return len(self._under_way)
