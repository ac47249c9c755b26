"""The losses when the app is told to end while 20 calls run: each call must still get its answer.

Three times, 20 visitors request long translations. As soon as the app works on all of them it gets
SIGTERM. Before the last time 5,000 other visitors have come.
"""

from __future__ import annotations

import asyncio
import signal
import time
from dataclasses import dataclass

import torch

from benchmarks.measure import Bound, Report
from benchmarks.sizes import size
from tests.support.visitors.guests import guests
from tests.support.visitors.recording import Recording, record
from tests.support.visitors.sentences import stories
from tests.support.visitors.served import Served
from tests.support.visitors.small_app import LABS
from tests.support.visitors.visitor import Visitor, check

CALLS, ROUNDS, GUESTS = size((20, 3, 5_000), (2, 1, 20))


@dataclass(frozen=True)
class Drained:
    """One end of the app.

    unanswered: calls under way at the signal.
    lost: those of them without their translation.
    """

    unanswered: int
    lost: int
    seconds: float  # from the signal until the process has ended
    status: int
    wrong: tuple[str, ...]


def measure(device: torch.device) -> Report:
    """Measure every end in an app of its own. The page's calls are recorded from the first."""
    ends: list[Drained] = []
    recording: Recording | None = None
    for turn in range(ROUNDS):
        with Served() as served:
            served.prepare()
            recording = recording or record(served.url)
            if turn == ROUNDS - 1:
                asyncio.run(guests(served.url, [lab.path for lab in LABS], GUESTS))
            ends.append(asyncio.run(drain_app(served, recording, seed=turn)))
    return Report.of(
        figures={
            "lost": (sum(end.lost for end in ends), Bound(0)),
            "running": sum(end.unanswered for end in ends),
            "exit_s": (max(end.seconds for end in ends), Bound(6)),
            "exit_status": (max(abs(end.status) for end in ends), Bound(0)),
        },
        notes={
            "running": (
                f"calls without their answer at the signal, in {ROUNDS} ends of {CALLS} calls each"
            ),
            **{
                f"wrong {number}": what
                for number, what in enumerate([what for end in ends for what in end.wrong][:5], 1)
            },
        },
    )


async def drain_app(
    served: Served, recording: Recording, calls: int = CALLS, seed: int = 0
) -> Drained:
    """End an app during this many calls."""
    visitors = [Visitor(served.url, recording) for _ in range(calls)]
    await asyncio.gather(*(visitor.open(held=True) for visitor in visitors))
    sentences = [sentence for _, sentence in zip(range(calls), stories(seed), strict=False)]
    working, answered, signalled = 0, 0, 0.0
    unanswered = calls

    async def call(visitor: Visitor, sentence: str) -> str | None:
        nonlocal working, answered, signalled, unanswered
        begun = False

        def hear(event: bytes) -> None:
            nonlocal working, begun, signalled, unanswered
            if not begun and b'"process_starts"' in event:
                begun, working = True, working + 1
                if working == calls:
                    served.signal(signal.SIGTERM)
                    signalled, unanswered = time.perf_counter(), calls - answered

        try:
            heard = await visitor.run(sentence, hear)
            check(heard.values(), sentence, live=True)
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:300]
        finally:
            answered += 1
        return None

    wrong = await asyncio.gather(
        *(call(visitor, sentence) for visitor, sentence in zip(visitors, sentences, strict=True))
    )
    if not signalled:  # a visitor's run never began
        served.signal(signal.SIGTERM)
        signalled = time.perf_counter()
    status = await asyncio.to_thread(served.wait, 60)
    seconds = time.perf_counter() - signalled
    for visitor in visitors:
        visitor.leave()
    found = tuple(what for what in wrong if what is not None)
    return Drained(unanswered, len(found), seconds, status, found)
