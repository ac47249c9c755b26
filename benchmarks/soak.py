"""A check that memory stays bounded: 5,000 visitors of all labs who come once, then 10,000 requests
of 1,000 sessions, twenty at a time.

The app's growth after the 5,000 is the cost of sessions: nothing is computed for them that was not
known before. Then every session requests the same known sentence once, and nine further sentences:
new ones, those of others, the example. Growth counts from the first request on, with all stores of
results that fill.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Iterator

import torch

from benchmarks.measure import Bound, Report, count_errors
from benchmarks.sizes import size
from tests.support.visitors.guests import guests
from tests.support.visitors.recording import Recording, recorded
from tests.support.visitors.sentences import captions
from tests.support.visitors.served import Served, prepared
from tests.support.visitors.small_app import LABS
from tests.support.visitors.visitor import Visitor, check

GUESTS, SESSIONS, TOGETHER = size((5_000, 1_000, 20), (20, 4, 2))
# of each session, after its first
WISHES = ("new", "other", "example", "new", "other", "example", "new", "new", "example")
KNOWN = "A man is riding a bike in the park."


def measure(device: torch.device) -> Report:
    """Measure one app from outside."""
    with prepared() as served:
        recording = recorded(served.url)
        fresh, errors = asyncio.run(came(served))
        figures, more = asyncio.run(soak_app(served, recording))
        errors.update(more)
        errors.update(served.defects())
    return Report.of(
        figures={
            "errors": (errors.total(), Bound(0)),
            **{f"visitors_{name}": value for name, value in figures.items()},
            "visitors_rss_growth_mb": (figures["rss_growth_mb"], Bound(150)),
            "session_kb": (fresh["session_kb"], Bound(20)),
            "rss_growth_mb": (fresh["rss_growth_mb"], Bound(150)),
        },
        notes={
            "requests": (
                f"{SESSIONS * (1 + len(WISHES)):,} of {SESSIONS:,} sessions; of ten one is known to"
                " all, four are new, two known from others, three the example"
            ),
            **{f"{count} ×": what for what, count in errors.most_common(5)},
        },
    )


async def came(served: Served, number: int = GUESTS) -> tuple[dict[str, float], Counter[str]]:
    """Measure the memory that this many visitors of all labs leave behind in the app, and count the
    errors."""
    pages = [lab.path for lab in LABS]
    # every path runs before anything counts
    errors = await guests(served.url, pages, 20 * len(pages))
    begin = served.resident_mb
    errors.update(await guests(served.url, pages, number))
    growth = served.resident_mb - begin
    return {"session_kb": max(0.0, growth) * 1000 / number, "rss_growth_mb": growth}, errors


async def soak_app(
    served: Served, recording: Recording, sessions: int = SESSIONS
) -> tuple[dict[str, float], Counter[str]]:
    """Measure the app's memory, and count the errors."""
    errors: Counter[str] = Counter()
    fresh = captions(seed=1)
    asked = deque([KNOWN], maxlen=50)
    visitors = [Visitor(served.url, recording) for _ in range(sessions)]

    async def arrive(visitor: Visitor) -> None:
        await visitor.open(held=True)
        check((await visitor.run(KNOWN)).values(), KNOWN, live=True, known=True)
        visitor.leave()

    async def stay(visitor: Visitor) -> None:
        for wish in WISHES:
            if wish == "example":
                check((await visitor.click()).values(), recording.example, live=False)
                continue
            sentence = next(fresh) if wish == "new" else asked[0]
            check((await visitor.run(sentence)).values(), sentence, live=True, known=wish != "new")
            asked.append(sentence)
        visitor.leave()

    # every path runs once before anything counts
    await _all(map(arrive, visitors[:TOGETHER]), errors)
    begin = served.resident_mb
    await _all(map(arrive, visitors[TOGETHER:]), errors)
    arrived = served.resident_mb
    await _all(map(stay, visitors[: sessions // 2]), errors)
    half = served.resident_mb
    await _all(map(stay, visitors[sessions // 2 :]), errors)
    end = served.resident_mb
    for visitor in visitors:
        visitor.leave()
    figures = {
        "rss_growth_mb": end - begin,
        "rss_growth_second_half_mb": end - half,
        "rss_mb": end,
        "session_kb": max(0.0, arrived - begin) * 1000 / (sessions - TOGETHER),
    }
    return figures, errors


async def _all(acts: Iterator[Awaitable[None]], errors: Counter[str]) -> None:
    """Run every act, some of them at a time, and count the errors."""

    async def work() -> None:
        for act in acts:
            with count_errors(errors):
                await act

    await asyncio.gather(*(work() for _ in range(TOGETHER)))
