"""The queue of the engine: places, limits of one visitor, leaving, closing."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
import time

import pytest

from explorer.engine import Answer, Busy, Engine, Limits, Waiting
from tests.explorer.engine.fakes import PATIENCE, Ask, Count, Echo, run, until


def test_the_queue_tells_place_and_time_and_refuses_beyond_its_bound() -> None:
    engine, echo = Engine(limits=Limits(queue=3, batch=1, heartbeat=0.01)), Echo(held=True)

    async def place(text: str) -> Waiting:
        async with contextlib.aclosing(engine.watch(echo, Ask(text))) as updates:
            async for update in updates:
                return update
        raise AssertionError

    async def go() -> None:
        running = asyncio.create_task(engine.ask(echo, Ask("running")))
        await until(echo.called.is_set)
        waiting = [asyncio.create_task(engine.ask(echo, Ask(f"{i}"))) for i in range(3)]
        await until(lambda: engine.snapshot().waiting == 3)
        places = await asyncio.gather(*(place(f"{i}") for i in range(3)))
        while not 0 < places[0].seconds < places[1].seconds < places[2].seconds:  # of one moment: they are told anew ten times a second
            places = await asyncio.gather(*(place(f"{i}") for i in range(3)))
        assert [(p.place, p.of) for p in places] == [(1, 3), (2, 3), (3, 3)]
        assert (await place("running")).place == 0
        with pytest.raises(Busy) as refused:
            await engine.ask(echo, Ask("one too many"))
        assert "3 requests" in refused.value.text["en"] and "3" in refused.value.text["zh"]
        echo.free.set()
        assert [a.value for a in await asyncio.gather(running, *waiting)] == ["RUNNING", "0", "1", "2"]

    run(go())
    engine.close()
    assert engine.snapshot().refused == 1


def test_one_session_takes_only_a_few_places_and_gets_them_back() -> None:
    engine, echo = Engine(limits=Limits(session=2)), Echo(held=True)

    async def go() -> None:
        mine = [asyncio.create_task(engine.ask(echo, Ask(f"{i}"), session="me")) for i in range(2)]
        await until(lambda: engine.snapshot().asked == 2)
        with pytest.raises(Busy):
            await engine.ask(echo, Ask("third"), session="me")
        other = asyncio.create_task(engine.ask(echo, Ask("third"), session="you"))
        echo.free.set()
        await asyncio.gather(*mine, other)
        assert (await engine.ask(echo, Ask("fourth"), session="me")).value == "FOURTH"

    run(go())
    engine.close()


def test_watching_yields_where_one_stands_at_least_every_half_second(engine: Engine) -> None:
    echo = Echo(held=True)

    async def go() -> list[float]:
        times = [time.monotonic()]
        async for update in engine.watch(echo, Ask("x")):
            times.append(time.monotonic())
            if len(times) == 4:
                echo.free.set()
            if isinstance(update, Answer):
                assert update.value == "X"
        return [b - a for a, b in itertools.pairwise(times)]

    gaps = run(go())
    assert len(gaps) == 4 and max(gaps) < 2  # half a second each, on a machine that has time


def test_short_calls_go_before_long_ones_that_came_a_little_earlier() -> None:
    engine = Engine(limits=Limits(batch=1))
    order: list[str] = []
    gate = threading.Event()

    def work(requests: list[Ask]) -> list[str]:
        if requests[0].text == "hold":
            assert gate.wait(PATIENCE)
        order.append(requests[0].text)
        return ["done"]

    async def go() -> None:
        engine._scheduler.work(work).cost(9).seconds = 60.0
        hold = asyncio.create_task(engine.ask(work, Ask("hold")))
        await until(lambda: engine.snapshot().running == 1)
        long = asyncio.create_task(engine.ask(work, Ask("long", width=9)))
        await until(lambda: engine.snapshot().waiting == 1)
        short = asyncio.create_task(engine.ask(work, Ask("short")))
        await until(lambda: engine.snapshot().waiting == 2)
        gate.set()
        await asyncio.gather(hold, long, short)

    run(go())
    engine.close()
    assert order == ["hold", "short", "long"]


def test_a_cancelled_call_in_the_queue_is_never_run(engine: Engine) -> None:
    echo = Echo(held=True)

    async def go() -> None:
        running = asyncio.create_task(engine.ask(echo, Ask("running")))
        await until(echo.called.is_set)
        left = asyncio.create_task(engine.ask(echo, Ask("left"), session="me"))
        await until(lambda: engine.snapshot().waiting == 1)
        left.cancel()
        with pytest.raises(asyncio.CancelledError):
            await left
        assert engine.snapshot().waiting == 0
        echo.free.set()
        await running
        await engine.ask(echo, Ask("after"))

    run(go())
    assert echo.batches == [["running"], ["after"]]
    assert engine.snapshot().cancelled == 1


def test_one_of_two_askers_may_leave_without_harm(engine: Engine) -> None:
    echo = Echo(held=True)

    async def go() -> object:
        first, second = (asyncio.create_task(engine.ask(echo, Ask("same"))) for _ in range(2))
        await until(lambda: engine.snapshot().shared == 1)
        first.cancel()
        await asyncio.sleep(0)
        echo.free.set()
        return (await second).value

    assert run(go()) == "SAME"


def test_closing_refuses_new_work_and_finishes_what_runs_and_waits() -> None:
    engine, echo = Engine(limits=Limits(batch=1)), Echo(held=True)

    async def go() -> list[object]:
        tasks = [asyncio.create_task(engine.ask(echo, Ask(f"{i}"))) for i in range(3)]
        await until(lambda: engine.snapshot().waiting == 2)
        closing = asyncio.create_task(asyncio.to_thread(engine.close, PATIENCE))
        with pytest.raises(Busy) as refused:
            while True:  # until the other thread has come so far
                await asyncio.wait_for(engine.ask(echo, Ask("0")), 0.01) if not closing.done() else None
        assert refused.value.code == "closing"
        echo.free.set()
        assert await closing is True
        return [a.value for a in await asyncio.gather(*tasks)]

    assert run(go()) == ["0", "1", "2"]


def test_closing_hands_back_what_the_grace_does_not_suffice_for() -> None:
    engine, count = Engine(limits=Limits(turn=0.0)), Count()

    async def go() -> None:
        task = asyncio.create_task(engine.ask(count, Ask("abc")))
        await until(lambda: bool(count.begun))
        assert await asyncio.to_thread(engine.close, 0.01) is False
        with pytest.raises(Busy) as handed_back:
            await task
        assert handed_back.value.code == "closing"
        count.turns.release(10)
        await until(count.closed.is_set)

    run(go())
