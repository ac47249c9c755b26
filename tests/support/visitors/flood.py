"""One sender who requests far more than the server can do, under as many names as it likes, and ten
other visitors who request one thing each."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from benchmarks.measure import count_errors
from benchmarks.sizes import size
from tests.support.visitors.recording import Recording
from tests.support.visitors.sentences import captions
from tests.support.visitors.visitor import Visitor, check

SIZE, INNOCENTS = size((700, 10), (4, 1))
FLOODER, ELSEWHERE = "127.0.0.2", "127.0.0.3"  # addresses of loopback
BEGUN = 1.0  # seconds of the flood after which the others come


@dataclass
class Outcome:
    """The outcome for the other visitors.

    seconds: of each that was answered.
    refused: the sentences of the refusals.
    """

    seconds: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


async def beside_a_flood(
    url: str,
    recording: Recording,
    flood: AbstractAsyncContextManager[None],
    innocents: int = INNOCENTS,
    seed: int = 7,
) -> Outcome:
    """Open the pages of the other visitors, begin the flood, and request a sentence for each of
    them.

    seed: that of these sentences.
    """
    people = [Visitor(url, recording, ELSEWHERE) for _ in range(innocents)]
    await asyncio.gather(*(one.open(held=True) for one in people))
    outcome = Outcome()

    async def ask(visitor: Visitor, sentence: str) -> None:
        began = time.perf_counter()
        with count_errors(outcome.refused):
            check((await visitor.run(sentence)).values(), sentence, live=True)
            outcome.seconds.append(time.perf_counter() - began)

    async with flood:
        await asyncio.sleep(BEGUN)
        pairs = zip(people, captions(seed=seed), strict=False)
        await asyncio.gather(*(ask(one, sentence) for one, sentence in pairs))
    for one in people:
        one.leave()
    return outcome


@asynccontextmanager
async def flooding(url: str, recording: Recording, size: int = SIZE) -> AsyncIterator[None]:
    """Let this many names of one address request a sentence of their own at once. Those that still
    wait at the end of the context leave."""
    visitors = [Visitor(url, recording, FLOODER) for _ in range(size)]
    for visitor in visitors:
        visitor.name()  # a request needs no more than a name
    tasks = [
        asyncio.create_task(visitor.run(sentence))
        for visitor, sentence in zip(visitors, captions(seed=8), strict=False)
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
