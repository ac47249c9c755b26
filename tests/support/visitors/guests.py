"""Visitors who come once: each opens a lab's page under a new name, has its first example drawn,
and never comes back."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import cycle, islice

from benchmarks.measure import count_errors
from tests.support.visitors.recording import asking, events_of
from tests.support.visitors.visitor import Visitor, Wrong

TOGETHER = 8


async def guests(url: str, paths: list[str], number: int) -> Counter[str]:
    """Let this many visitors come, over the pages in turn, some at a time; return the errors, and
    how often each came."""
    errors = Counter[str]()
    events = [(await asyncio.to_thread(events_of, url + path))["ask"] for path in paths]
    waiting = islice(cycle(events), number)

    async def work() -> None:
        visitor = Visitor(url, asking(events[0]))
        for event in waiting:
            visitor.name()
            with count_errors(errors):
                heard = await visitor.wish({"query": ""}, event=event)
                if not heard.events or b'"success":true' not in heard.events[-1]:
                    raise Wrong(f"status {heard.replies[0].status}: {heard.events[-1:]!r:.90}")
        visitor.leave()

    await asyncio.gather(*(work() for _ in range(TOGETHER)))
    return errors
