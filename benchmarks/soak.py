"""Does memory stay where it is? 5,000 visitors of all labs who come once, then 10,000 requests of 1,000 sessions, twenty at a time.

What the app holds more after the 5,000 is what sessions cost: nothing is computed for them that was not known before. Then every session
asks once for the same known sentence, and nine times more: new sentences, sentences of others, the example. Growth counts from the first
request on, with all stores of results that fill.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Iterator

import torch

from benchmarks.measure import Bound, Report, counted
from benchmarks.visitors.guests import guests
from benchmarks.visitors.recording import Recording, record
from benchmarks.visitors.sentences import captions
from benchmarks.visitors.served import Served
from benchmarks.visitors.visitor import Visitor, check
from explorer.labs import LABS

GUESTS, SESSIONS, TOGETHER = 5_000, 1_000, 20
WISHES = ("new", "other", "example", "new", "other", "example", "new", "new", "example")  # of each session, after its first
KNOWN = "A man is riding a bike in the park."


def measure(device: torch.device) -> Report:
    """One app, watched from outside."""
    with Served() as served:
        served.prepare()
        recording = record(served.url)
        fresh, errors = asyncio.run(came(served))
        figures, more = asyncio.run(soaked(served, recording))
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
            "requests": f"{SESSIONS * (1 + len(WISHES)):,} of {SESSIONS:,} sessions; of ten one is known to all, four are new, two known "
            "from others, three the example",
            **{f"{count} ×": what for what, count in errors.most_common(5)},
        },
    )


async def came(served: Served, number: int = GUESTS) -> tuple[dict[str, float], Counter[str]]:
    """What so many visitors of all labs leave behind in the app's memory, and what went wrong."""
    pages = [lab.path for lab in LABS]
    errors = await guests(served.url, pages, 20 * len(pages))  # every path is gone before anything counts
    begin = served.resident_mb
    errors.update(await guests(served.url, pages, number))
    growth = served.resident_mb - begin
    return {"session_kb": max(0.0, growth) * 1000 / number, "rss_growth_mb": growth}, errors


async def soaked(served: Served, recording: Recording, sessions: int = SESSIONS) -> tuple[dict[str, float], Counter[str]]:
    """Figures of the app's memory, and what went wrong."""
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

    await _all(map(arrive, visitors[:TOGETHER]), errors)  # every path is gone once before anything counts
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
    """Every act, some of them at a time; what goes wrong is counted."""

    async def work() -> None:
        for act in acts:
            with counted(errors):
                await act

    await asyncio.gather(*(work() for _ in range(TOGETHER)))
