"""Functions that yield: steps as they come, turns, and nobody left behind; and those whose answer
is another one every time."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from explorer.engine import Answer, Busy, Engine, Limits
from tests.explorer.engine.fakes import PATIENCE, Ask, Count, Echo, Timed, asked, until, values


async def letters(stream: AsyncIterator[Any]) -> str:
    """All steps of a stream."""
    return "".join(["".join(update) async for update in stream if isinstance(update, list)])


async def test_a_stream_tells_all_steps_in_order_and_its_answer_last(engine: Engine) -> None:
    *updates, answer = [update async for update in engine.stream(Count(free=True), Ask("abcdefgh"))]
    assert [letter for u in updates if isinstance(u, list) for letter in u] == list("abcdefgh")
    assert isinstance(answer, Answer) and answer.value == "ABCDEFGH"


async def test_a_stream_gives_at_most_ten_updates_a_second(engine: Engine) -> None:
    count, times = Count(), []
    count.turns.release(3)
    async for update in engine.stream(count, Ask("x" * 60)):
        count.turns.release(5)
        if isinstance(update, list):
            times.append(time.monotonic())
    assert len(times) >= 4
    # the last steps come with the answer
    assert min(b - a for a, b in itertools.pairwise(times[:-1])) > 0.09


async def test_a_second_asker_gets_all_steps(
    engine: Engine,
) -> None:
    count = Count()
    count.turns.release(3)
    first = asyncio.create_task(letters(engine.stream(count, Ask("abcdef"))))
    await until(lambda: count.made == 3)
    second = asyncio.create_task(letters(engine.stream(count, Ask("abcdef"))))
    await until(lambda: engine.snapshot().shared == 1)
    count.turns.release(10)
    assert (await first, await second) == ("abcdef", "abcdef") and count.begun == [["abcdef"]]


async def test_streams_share_a_batch(
    engine: Engine,
) -> None:
    count = Count(free=True)
    assert await values(asked(engine, count, "ab", "abcd", "a")) == ["AB", "ABCD", "A"]
    assert count.begun == [["ab", "abcd", "a"]]


async def test_a_call_goes_between_the_turns_of_a_stream(engine: Engine) -> None:
    count, echo = Count(), Echo()
    (stream,) = asked(engine, count, "x" * 1000)
    calls: list[asyncio.Task[Any]] = []
    while not calls or not calls[0].done():
        count.turns.release()
        if not calls and count.made:
            calls = asked(engine, echo, "short")
        await asyncio.sleep(0.002)
    made = count.made
    assert not stream.done() and made < 1000
    stream.cancel()
    count.turns.release(1000)


@pytest.mark.limits(streams=2, turn=0.0, batch_wait=0.0)
async def test_streams_advance_four_at_a_time(
    engine: Engine,
) -> None:
    order: list[str] = []
    gate = threading.Event()

    def spell(requests: list[Ask]) -> Iterator[list[object]]:
        assert gate.wait(PATIENCE)
        for _ in range(3):
            order.append(requests[0].text)
            yield [["x"]]
        yield ["done"]

    tasks = [task for i, text in enumerate("abc") for task in asked(engine, spell, text, width=i)]
    await until(lambda: engine.snapshot().waiting == 2)
    gate.set()
    await asyncio.gather(*tasks)
    said = "".join(order)
    assert said.index("b") < 3, "b began before a had ended"
    assert said.index("c") > said.rindex("a") or said.index("c") > said.rindex("b")


@pytest.mark.parametrize("brief", [60.0, 0.0])
async def test_brief_streams_end_before_long_ones(
    brief: float,
) -> None:
    engine, said, gate = (
        Engine(limits=Limits(turn=0.0, batch_wait=0.0, brief=brief)),
        list[str](),
        threading.Event(),
    )

    def spell(requests: list[Ask]) -> Iterator[list[object]]:
        assert gate.wait(PATIENCE)
        yield [["ready"]]
        yield [["ready"]]  # the other has begun too
        for _ in range(4):
            said.append(requests[0].text)
            yield [["x"]]
        yield ["done"]

    tasks = [task for i, text in enumerate("ab") for task in asked(engine, spell, text, width=i)]
    await until(lambda: engine.snapshot().waiting == 1)
    gate.set()
    await asyncio.gather(*tasks)
    engine.close()
    assert ("".join(said) == "aaaabbbb") is bool(brief), said


async def test_an_abandoned_stream_is_closed_soon(engine: Engine) -> None:
    count = Count()
    count.turns.release(2)
    (task,) = asked(engine, count, "x" * 100_000)
    await until(lambda: count.made == 2)
    task.cancel()
    began = time.monotonic()
    count.turns.release(100_000)
    await until(count.closed.is_set)
    assert time.monotonic() - began < 2 and count.made < 100_000


async def test_closing_a_generator_is_leaving(engine: Engine) -> None:
    count = Count()
    count.turns.release(1)
    async with contextlib.aclosing(engine.stream(count, Ask("x" * 100_000))) as updates:
        async for update in updates:
            if isinstance(update, list):
                break
    count.turns.release(100_000)
    await until(count.closed.is_set)
    assert count.made < 100_000


# ---- a request that is live is computed alone, one at a time, never remembered, and ends with what
# there is where it is stopped ---------


async def begun(engine: Engine, watch: Count) -> Any:
    """A stream of one page under way, past its first letter."""
    watch.turns.release()
    stream = engine.stream(watch, Timed("abc"), "one page")
    async for update in stream:
        if isinstance(update, list):
            return stream
    raise AssertionError("no step came")


async def end(stream: Any) -> Any:
    """What a stream comes to."""
    return [update async for update in stream if isinstance(update, Answer)][-1].value


async def test_what_is_live_is_not_remembered_and_is_computed_alone(engine: Engine) -> None:
    watch = Count(free=True)
    answers = [await engine.ask(watch, Timed("ab"), "one page") for _ in range(2)]
    assert [one.known for one in answers] == [False, False]
    assert watch.begun == [["ab"], ["ab"]] and engine.recall(watch, Timed("ab")) is None


async def test_a_second_one_of_another_page_is_refused_in_a_sentence(engine: Engine) -> None:
    watch = Count()
    stream = await begun(engine, watch)
    with pytest.raises(Busy) as refused:
        await engine.ask(watch, Timed("abc"), "another page")
    watch.turns.release(100)
    assert await end(stream) == "ABC"
    assert (await engine.ask(watch, Timed("xy"), "another page")).value == "XY", (
        "the clock is free again"
    )
    assert (
        refused.value.code == "clock"
        and "another visitor" in refused.value.text["en"]
        and refused.value.text["zh"]
    )


async def test_what_a_page_asked_before_does_not_stand_in_its_own_way(engine: Engine) -> None:
    watch = Count()
    stream = await begun(engine, watch)
    newer = asyncio.create_task(engine.ask(watch, Timed("xy"), "one page"))
    await asyncio.sleep(0)
    await stream.aclose()
    watch.turns.release(100)
    assert (await newer).value == "XY"


async def test_where_it_is_halted_its_answer_is_what_there_is(engine: Engine) -> None:
    watch = Count()
    stream = await begun(engine, watch)
    assert not engine.halt("another page") and engine.halt("one page")
    watch.turns.release()
    assert await end(stream) in {"A.", "AB."}
    assert not engine.halt("one page"), "nothing is under way any more"
