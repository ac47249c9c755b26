"""Functions that yield: steps as they come, turns, and nobody left behind."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
import time
from collections.abc import Iterator

from explorer.engine import Answer, Engine, Limits
from tests.explorer.engine.fakes import PATIENCE, Ask, Count, Echo, run, until


def test_a_stream_tells_all_steps_in_order_and_its_answer_last(engine: Engine) -> None:
    async def go() -> list[object]:
        return [update async for update in engine.stream(Count(free=True), Ask("abcdefgh"))]

    *updates, answer = run(go())
    assert [letter for u in updates if isinstance(u, list) for letter in u] == list("abcdefgh")
    assert isinstance(answer, Answer) and answer.value == "ABCDEFGH"


def test_a_stream_gives_at_most_ten_updates_a_second(engine: Engine) -> None:
    count = Count()

    async def go() -> list[float]:
        times = []
        for _ in range(3):
            count.turns.release()
        async for update in engine.stream(count, Ask("x" * 60)):
            count.turns.release(5)
            if isinstance(update, list):
                times.append(time.monotonic())
        return times[:-1]  # the last steps come with the answer

    times = run(go())
    assert len(times) >= 3
    assert min(b - a for a, b in itertools.pairwise(times)) > 0.09


def test_a_second_asker_of_a_running_stream_gets_all_steps_so_far_and_follows(engine: Engine) -> None:
    count = Count()

    async def letters() -> str:
        text = ""
        async for update in engine.stream(count, Ask("abcdef")):
            text += "".join(update) if isinstance(update, list) else ""
        return text

    async def go() -> tuple[str, str]:
        count.turns.release(3)
        first = asyncio.create_task(letters())
        await until(lambda: count.made == 3)
        second = asyncio.create_task(letters())
        await until(lambda: engine.snapshot().shared == 1)
        count.turns.release(10)
        return await first, await second

    assert run(go()) == ("abcdef", "abcdef")
    assert count.begun == [["abcdef"]]


def test_streams_that_start_together_share_a_batch_and_end_each_in_its_own_time(engine: Engine) -> None:
    count = Count(free=True)

    async def go() -> list[str]:
        return [a.value for a in await asyncio.gather(*(engine.ask(count, Ask(t)) for t in ("ab", "abcd", "a")))]

    assert run(go()) == ["AB", "ABCD", "A"]
    assert count.begun == [["ab", "abcd", "a"]]


def test_a_call_goes_between_the_turns_of_a_stream(engine: Engine) -> None:
    count, echo = Count(), Echo()

    async def go() -> int:
        stream = asyncio.create_task(engine.ask(count, Ask("x" * 1000)))
        call = None
        while call is None or not call.done():
            count.turns.release()
            if call is None and count.made:
                call = asyncio.create_task(engine.ask(echo, Ask("short")))
            await asyncio.sleep(0.002)
        made = count.made
        assert not stream.done()
        stream.cancel()
        count.turns.release(1000)
        return made

    assert run(go()) < 1000


def test_running_streams_advance_in_turns_and_no_more_than_four_at_once() -> None:
    engine = Engine(limits=Limits(streams=2, turn=0.0, batch_wait=0.0))
    order: list[str] = []
    gate = threading.Event()

    def spell(requests: list[Ask]) -> Iterator[list[object]]:
        assert gate.wait(PATIENCE)
        for _ in range(3):
            order.append(requests[0].text)
            yield [["x"]]
        yield ["done"]

    async def go() -> None:
        tasks = [asyncio.create_task(engine.ask(spell, Ask(t, width=i))) for i, t in enumerate("abc")]
        await until(lambda: engine.snapshot().waiting == 2)
        gate.set()
        await asyncio.gather(*tasks)

    run(go())
    engine.close()
    assert "".join(order).index("b") < 3  # b began before a had ended
    assert "".join(order).index("c") > "".join(order).rindex("a") or "".join(order).index("c") > "".join(order).rindex("b")


def test_a_stream_that_everybody_left_is_closed_within_two_seconds(engine: Engine) -> None:
    count = Count()

    async def go() -> float:
        count.turns.release(2)
        task = asyncio.create_task(engine.ask(count, Ask("x" * 100_000)))
        await until(lambda: count.made == 2)
        task.cancel()
        began = time.monotonic()
        count.turns.release(100_000)
        await until(count.closed.is_set)
        return time.monotonic() - began

    assert run(go()) < 2
    assert count.made < 100_000


def test_leaving_an_asynchronous_generator_early_counts_as_leaving(engine: Engine) -> None:
    count = Count()

    async def go() -> None:
        count.turns.release(1)
        async with contextlib.aclosing(engine.stream(count, Ask("x" * 100_000))) as updates:
            async for update in updates:
                if isinstance(update, list):
                    break
        count.turns.release(100_000)
        await until(count.closed.is_set)

    run(go())
    assert count.made < 100_000
