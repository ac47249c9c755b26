"""The moment in a lecture when every visitor clicks: 300 visitors from another process make exactly
the calls of the page, while two runs stream.

There are five rounds. In each, all visitors open the page anew, all at once (a new session; the
browser's cache is not fetched again), and then all click at once: half of them on the same example,
half of them on a new sentence. The answer is read as the page reads it: it is a live translation of
just that sentence with all its attention, or it counts as an error.

With `--visitors 3000` a course is measured instead, whose visitors come one after the other within
a minute: each has been there before, opens the page and clicks the example, and 300 of them type a
sentence. `--webs 2 --engine ray`: two web servers behind nginx, and two replicas on a Ray.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import torch

from benchmarks.measure import Bound, Figure, Report, count_errors, line_of, percentile
from benchmarks.sizes import size
from tests.support.visitors.balanced import balanced
from tests.support.visitors.recording import Recording, recorded
from tests.support.visitors.sentences import captions, stories
from tests.support.visitors.served import Served, a_ray, prepared
from tests.support.visitors.visitor import Heard, Visitor, check

VISITORS, ROUNDS, GENERATORS = size((300, 5, 2), (6, 1, 1))
SEED = 11  # of the sentences, which no other benchmark has sent to the same app before
LIVE, MINUTE = 300, 60.0  # of a course: visitors who type a sentence, and seconds in which all come
T = TypeVar("T")


@dataclass
class Times:
    """The times of a lecture's visitors, in seconds."""

    opened: list[float] = field(default_factory=list)  # from the address to the last script
    # from the click to the last byte of the answer
    stored: list[float] = field(default_factory=list)
    live: list[float] = field(default_factory=list)
    rounds: list[float] = field(default_factory=list)  # from the common click to the last answer
    streamed: list[float] = field(default_factory=list)  # the runs that stream
    gaps: list[float] = field(default_factory=list)  # the longest silence in each of them
    errors: Counter[str] = field(default_factory=Counter)

    def figures(self, live: float) -> dict[str, Figure]:
        """Return the figures by which every lecture is judged.

        live: seconds that 95 % of the live answers may take.
        """
        return {
            "errors": (self.errors.total(), Bound(0)),
            "stored_p95_s": (percentile(self.stored, 0.95), Bound(1)),
            "live_p95_s": (percentile(self.live, 0.95), Bound(live)),
            "opened_p95_s": percentile(self.opened, 0.95),
        }


def measure(device: torch.device, visitors: str = "", webs: str = "1", engine: str = "") -> Report:
    """Measure a lecture on the app as it is shipped, in a process of its own, which chooses its
    device itself; or a course of this many visitors."""
    if visitors:
        return course(int(visitors), int(webs), engine)
    with prepared() as served:
        recording = recorded(served.url)
        times = asyncio.run(lecture(served.url, recording, seed=SEED))
        times.errors.update(served.defects())
    return Report.of(
        figures={
            **times.figures(5),
            "stored_median_s": statistics.median(times.stored),
            "live_median_s": statistics.median(times.live),
            "live_per_s": len(times.live) / sum(times.rounds),
            "generator_silence_p95_s": percentile(times.gaps, 0.95),
        },
        notes={
            "visitors": (
                f"{VISITORS} in {ROUNDS} rounds; {len(recording.opening)} calls to open the page,"
                f" {len(recording.again)} where it was opened before, {len(recording.stored)} for"
                f" the example, {len(recording.own)} for a sentence"
            ),
            "answers": (
                f"{len(times.stored)} of the example and {len(times.live)} live, each checked;"
                f" beside them {len(times.streamed)} long runs of {GENERATORS} generators"
            ),
            **{f"{count} ×": what for what, count in (+times.errors).most_common(5)},
        },
    )


def course(visitors: int, webs: int, engine: str) -> Report:
    """Measure many visitors within a minute, some of whom request more than an example."""
    with contextlib.ExitStack() as stack:
        servers = stack.enter_context(served_by(webs, engine))
        recording = recorded(servers[0].url)
        url = (
            f"http://127.0.0.1:{stack.enter_context(balanced([one.port for one in servers]))}"
            if webs > 1
            else servers[0].url
        )
        times = asyncio.run(open_pages(url, recording, visitors))
        for server in servers:
            times.errors.update(server.defects())
    return Report.of(
        figures=times.figures(8),
        notes={
            "visitors": (
                f"{visitors} within a minute, with browsers that were there before; {webs} web"
                f" servers, engine: {engine or 'own'}"
            ),
            "answers": (
                f"{len(times.stored)} of the example and {len(times.live)} live, each checked"
            ),
            **{f"{count} ×": what for what, count in (+times.errors).most_common(5)},
        },
    )


@contextlib.contextmanager
def served_by(webs: int, engine: str) -> Iterator[Sequence[Served]]:
    """Yield this many web servers, ready.

    engine: "ray" for one Ray of two replicas before which they all stand, else as $EXPLORER_ENGINE.
    """
    with contextlib.ExitStack() as stack:
        if engine == "ray":
            from explorer.web.options import VERSION

            engine = f"ray://{stack.enter_context(a_ray(VERSION, all='2')).address}"
        servers = []
        # one after the other: the others read from disk what the first computes in advance
        for _ in range(webs):
            servers.append(stack.enter_context(Served(EXPLORER_ENGINE=engine)))
            servers[-1].prepare()
        yield servers


async def open_pages(
    url: str,
    recording: Recording,
    visitors: int,
    live: int = LIVE,
    seconds: float = MINUTE,
    seed: int = 0,
) -> Times:
    """Let one visitor after the other open the page and click the example. Every n-th of them then
    requests a sentence of their own."""
    times, sentences, every = Times(), captions(seed), max(1, visitors // live)

    async def visit(number: int) -> None:
        await asyncio.sleep(seconds * number / visitors)
        visitor = Visitor(url, recording.carrying(f"tfe_web={number}"))
        try:
            times.opened.append(await visitor.open(held=True))
            heard, sentence, _ = await _click(visitor, recording.example)
            check(heard.values(), sentence, live=False)
            times.stored.append(heard.seconds)
            if number % every == 0:
                heard, sentence, _ = await _run(visitor, next(sentences))
                check(heard.values(), sentence, live=True)
                times.live.append(heard.seconds)
        finally:
            visitor.leave()

    await _together((visit(number) for number in range(visitors)), times)
    return times


async def lecture(
    url: str, recording: Recording, visitors: int = VISITORS, rounds: int = ROUNDS, seed: int = 0
) -> Times:
    """Let all visitors open the page and click, round after round."""
    times = Times()
    audience = [Visitor(url, recording) for _ in range(visitors)]
    sentences, long_ones = captions(seed), stories(seed)
    generators = [
        asyncio.create_task(_generate(Visitor(url, recording), long_ones, times))
        for _ in range(GENERATORS)
    ]
    try:
        for turn in range(rounds):
            times.opened += await _together((visitor.open() for visitor in audience), times)
            began = time.perf_counter()
            wishes = [_click(visitor, recording.example) for visitor in audience[turn % 2 :: 2]]
            wishes += [_run(visitor, next(sentences)) for visitor in audience[1 - turn % 2 :: 2]]
            answers = await _together(wishes, times)
            times.rounds.append(time.perf_counter() - began)
            for heard, sentence, live in answers:
                with count_errors(times.errors):
                    check(heard.values(), sentence, live)
                    (times.live if live else times.stored).append(heard.seconds)
    finally:
        for generator in generators:
            generator.cancel()
        await asyncio.gather(*generators, return_exceptions=True)
        for visitor in audience:
            visitor.leave()
    return times


async def _click(visitor: Visitor, example: str) -> tuple[Heard, str, bool]:
    return await visitor.click(), example, False


async def _run(visitor: Visitor, sentence: str) -> tuple[Heard, str, bool]:
    return await visitor.run(sentence), sentence, True


async def _generate(visitor: Visitor, sentences: Iterator[str], times: Times) -> None:
    """Run one long request after the other, for as long as the lecture lasts."""
    try:
        for sentence in sentences:
            with count_errors(times.errors):
                await visitor.open()
                heard = await visitor.run(sentence)
                check(heard.values(), sentence, live=True)
                times.streamed.append(heard.seconds)
                times.gaps.append(heard.gap)
    finally:
        visitor.leave()


async def _together(acts: Iterable[Awaitable[T]], times: Times) -> list[T]:
    """Return the results of the acts that did not fail. Failures are counted."""
    done: list[T] = []
    for outcome in await asyncio.gather(*acts, return_exceptions=True):
        if isinstance(outcome, BaseException):
            times.errors[line_of(outcome)] += 1
        else:
            done.append(outcome)
    return done
