"""One sender who asks for far more than the server can do, under as many names as it likes, and ten others who ask for one thing each."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from benchmarks.measure import counted
from benchmarks.visitors.recording import Recording
from benchmarks.visitors.sentences import captions
from benchmarks.visitors.visitor import Visitor, check

SIZE, INNOCENTS = 700, 10
FLOODER, ELSEWHERE = "127.0.0.2", "127.0.0.3"  # addresses of loopback
BEGUN = 1.0  # seconds of the flood after which the innocents come


@dataclass
class Outcome:
    """What became of the innocents. seconds: of each that was answered; refused: what the others were told."""

    seconds: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


async def beside_a_flood(url: str, recording: Recording, size: int = SIZE, innocents: int = INNOCENTS) -> Outcome:
    """The innocents open their pages, the flood begins, and each of them asks for the translation of a sentence of its own."""
    people = [Visitor(url, recording, ELSEWHERE) for _ in range(innocents)]
    await asyncio.gather(*(one.open(held=True) for one in people))
    outcome = Outcome()

    async def ask(visitor: Visitor, sentence: str) -> None:
        began = time.perf_counter()
        with counted(outcome.refused):
            check((await visitor.run(sentence)).values(), sentence, live=True)
            outcome.seconds.append(time.perf_counter() - began)

    async with flooding(url, recording, size):
        await asyncio.sleep(BEGUN)
        await asyncio.gather(*(ask(one, sentence) for one, sentence in zip(people, captions(seed=7), strict=False)))
    for one in people:
        one.leave()
    return outcome


@asynccontextmanager
async def flooding(url: str, recording: Recording, size: int = SIZE) -> AsyncIterator[None]:
    """So many names of one address ask for a sentence of their own at once; whoever still waits when it is over leaves."""
    visitors = [Visitor(url, recording, FLOODER) for _ in range(size)]
    for visitor in visitors:
        visitor.name()  # a name is all that asking needs
    tasks = [asyncio.create_task(visitor.run(sentence)) for visitor, sentence in zip(visitors, captions(seed=8), strict=False)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
