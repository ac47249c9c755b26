"""The queue of the engine: places, limits of one visitor and of one address, leaving, closing."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from explorer.engine import Answer, Busy, Engine, Limits, OpenPage, QueuePlace
from explorer.engine.runs import RunBatch, Work
from explorer.page import wiring
from tests.explorer.engine.fakes import PATIENCE, Ask, Count, Echo, asked, held, until, values

FLOODER, HALL, INNOCENT = "203.0.113.1", "203.0.113.2", "203.0.113.3"


@pytest.mark.limits(queue=3, batch=1, heartbeat=0.01)
async def test_the_queue_tells_place_and_time(engine: Engine) -> None:
    echo = Echo(held=True)

    async def place(text: str) -> QueuePlace:
        async with contextlib.aclosing(engine.watch(echo, Ask(text))) as updates:
            return await anext(updates)

    async def three() -> list[QueuePlace]:
        return await asyncio.gather(*map(place, "012"))

    running = await held(engine, echo)
    waiting = asked(engine, echo, *range(3))
    await until(lambda: engine.snapshot().waiting == 3)
    places = await three()
    # of one moment: they are told anew ten times a second
    while not 0 < places[0].seconds < places[1].seconds < places[2].seconds:
        places = await three()
    assert [(p.place, p.of) for p in places] == [(1, 3), (2, 3), (3, 3)]
    assert (await place("running")).place == 0
    with pytest.raises(Busy) as refused:
        await engine.ask(echo, Ask("one too many"))
    assert "3 requests" in refused.value.text["en"] and "3" in refused.value.text["zh"]
    echo.free.set()
    assert await values(running + waiting) == ["RUNNING", "0", "1", "2"]
    engine.close()
    assert engine.snapshot().refused == 1


@pytest.mark.limits(session=2)
async def test_one_session_takes_only_a_few_places_and_gets_them_back(engine: Engine) -> None:
    echo = Echo(held=True)
    mine = asked(engine, echo, 0, 1, session="me")
    await until(lambda: engine.snapshot().asked == 2)
    with pytest.raises(Busy):
        await engine.ask(echo, Ask("third"), session="me")
    other = asked(engine, echo, "third", session="you")
    echo.free.set()
    assert await values(mine + other) == ["0", "1", "THIRD"]
    assert await values(asked(engine, echo, "fourth", session="me")) == ["FOURTH"]


async def test_watching_yields_every_half_second(engine: Engine) -> None:
    echo, times = Echo(held=True), [time.monotonic()]
    async for update in engine.watch(echo, Ask("x")):  # noqa: B007
        times.append(time.monotonic())
        if len(times) == 4:
            echo.free.set()
    assert isinstance(update, Answer) and update.value == "X"
    gaps = [b - a for a, b in itertools.pairwise(times)]
    assert len(gaps) == 4 and max(gaps) < 2  # half a second each, on a machine that has time


@pytest.mark.limits(batch=1)
async def test_short_calls_go_before_long_ones(engine: Engine) -> None:
    order: list[str] = []
    gate = threading.Event()

    def work(requests: list[Ask]) -> list[str]:
        if requests[0].text == "hold":
            assert gate.wait(PATIENCE)
        order.append(requests[0].text)
        return ["done"]

    engine._scheduler.find_work(work).find_cost(9).seconds = 60.0
    tasks = asked(engine, work, "hold")
    await until(lambda: engine.snapshot().running == 1)
    for count, (text, width) in enumerate((("long", 9), ("short", 1)), 1):
        tasks += asked(engine, work, text, width=width)
        await until(lambda count=count: engine.snapshot().waiting == count)
    gate.set()
    await values(tasks)
    assert order == ["hold", "short", "long"]


async def test_a_cancelled_call_in_the_queue_is_never_run(engine: Engine) -> None:
    echo = Echo(held=True)
    running = await held(engine, echo)
    (left,) = asked(engine, echo, "left", session="me")
    await until(lambda: engine.snapshot().waiting == 1)
    left.cancel()
    with pytest.raises(asyncio.CancelledError):
        await left
    assert engine.snapshot().waiting == 0
    echo.free.set()
    await values(running)
    await engine.ask(echo, Ask("after"))
    assert echo.batches == [["running"], ["after"]] and engine.snapshot().cancelled == 1


async def test_one_of_two_askers_may_leave_without_harm(engine: Engine) -> None:
    echo = Echo(held=True)
    first, second = asked(engine, echo, "same", "same")
    await until(lambda: engine.snapshot().shared == 1)
    first.cancel()
    await asyncio.sleep(0)
    echo.free.set()
    assert (await second).value == "SAME"


@pytest.mark.limits(batch=1)
async def test_closing_finishes_accepted_work(engine: Engine) -> None:
    echo = Echo(held=True)
    tasks = asked(engine, echo, *range(3))
    await until(lambda: engine.snapshot().waiting == 2)
    closing = asyncio.create_task(asyncio.to_thread(engine.close, PATIENCE))
    with pytest.raises(Busy) as refused:
        while True:  # until the other thread has come so far
            await asyncio.wait_for(engine.ask(echo, Ask("0")), 0.01) if not closing.done() else None
    assert refused.value.code == "closing"
    echo.free.set()
    assert await closing is True and await values(tasks) == ["0", "1", "2"]


@pytest.mark.limits(turn=0.0)
async def test_closing_hands_back_what_the_grace_does_not_suffice_for(engine: Engine) -> None:
    count = Count()
    (task,) = asked(engine, count, "abc")
    await until(lambda: bool(count.begun))
    assert await asyncio.to_thread(engine.close, 0.01) is False
    with pytest.raises(Busy) as handed_back:
        await task
    assert handed_back.value.code == "closing"
    count.turns.release(10)
    await until(count.closed.is_set)


def test_looking_at_a_computation_as_it_ends_is_harmless() -> None:
    batch, over = (
        RunBatch(Work("f", lambda requests: requests), None, [], Limits()),
        threading.Event(),
    )

    def compute() -> None:
        while not over.is_set():
            batch.begin_turn()
            batch.end_turn()

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        assert all(batch.measure_turn() >= 0 for _ in range(200_000))
    finally:
        over.set()
        thread.join()


# ---- addresses


def asking(engine: Engine, echo: Echo, address: str, count: int) -> list[asyncio.Task[Answer[Any]]]:
    """So many requests from one address, each of an open page with a name of its own."""
    return [
        task
        for n in range(count)
        for task in asked(
            engine, echo, f"{address} {n}", session=OpenPage(f"{address} page {n}", address)
        )
    ]


async def refused(tasks: list[asyncio.Task[Answer[Any]]]) -> list[str]:
    """The sentences of those of the outcomes that are refusals."""
    return [
        outcome.text["en"]
        for outcome in await values(tasks)
        if isinstance(outcome, Busy) and outcome.text["zh"]
    ]


@pytest.mark.limits()
@pytest.mark.parametrize("count", [10, 300], ids=["some visitors", "a lecture hall"])
async def test_seven_hundred_names_leave_places(engine: Engine, count: int) -> None:
    echo = Echo(held=True)
    running = await held(engine, echo)
    flood = asking(engine, echo, FLOODER, 700)
    await until(lambda: engine.snapshot().asked == 701)
    others = asking(engine, echo, HALL, count)
    await until(lambda: engine.snapshot().asked == 701 + count)
    assert engine.snapshot().waiting == 300 + count
    late = (
        await refused(asking(engine, echo, INNOCENT, 1))
        if count == 300
        else ["600 requests are waiting, about"]
    )
    echo.free.set()
    assert await refused(others) == [] and "600 requests are waiting, about" in late[0]
    too_many = await refused(flood)
    assert len(too_many) == 400 and "300 requests from your network" in too_many[0]
    await values(running)
    engine.close(0)
    order = [text for batch in echo.batches[1:] for text in batch]
    assert all(text in order[:25] for text in (f"{HALL} {number}" for number in range(10)))


@pytest.mark.limits(queue=8, share=4, batch=1)
async def test_one_address_may_fill_half_a_queue(
    engine: Engine,
) -> None:
    echo = Echo(held=True)
    tasks = await held(engine, echo) + asking(engine, echo, HALL, 4)
    await until(lambda: engine.snapshot().waiting == 4)
    tasks += asked(engine, echo, "of the server itself")
    await until(lambda: engine.snapshot().waiting == 5)
    echo.free.set()
    await asyncio.gather(*tasks)
    engine.close(0)
    assert [texts[0] for texts in echo.batches[1:]] == [
        *(f"{HALL} {number}" for number in range(4)),
        "of the server itself",
    ]


@pytest.mark.limits(batch=1)
async def test_pages_of_an_address_take_turns(engine: Engine) -> None:
    echo = Echo(held=True)
    tasks = await held(engine, echo)
    for page, count in (("eager", 5), ("patient", 2)):
        before = len(tasks)
        names = [f"{page} {number}" for number in range(count)]
        tasks += asked(engine, echo, *names, session=OpenPage(page, HALL))
        until_all = before + count - 1
        await until(lambda all_=until_all: engine.snapshot().waiting == all_)
    echo.free.set()
    await asyncio.gather(*tasks)
    engine.close(0)
    order = ["eager 0", "patient 0", "eager 1", "patient 1", "eager 2", "eager 3", "eager 4"]
    assert [texts[0] for texts in echo.batches[1:]] == order


@pytest.mark.limits(batch=1)
async def test_a_shared_request_goes_first(
    engine: Engine,
) -> None:
    echo = Echo(held=True)
    tasks = await held(engine, echo) + asking(engine, echo, FLOODER, 20)
    await until(lambda: engine.snapshot().waiting == 20)
    tasks += asked(engine, echo, f"{FLOODER} 19", session=OpenPage("somebody", INNOCENT))
    await until(lambda: engine.snapshot().shared == 1)
    echo.free.set()
    await asyncio.gather(*tasks)
    engine.close(0)
    assert [texts[0] for texts in echo.batches[1:3]] == [
        f"{FLOODER} 0",
        f"{FLOODER} 19",
    ], "addresses take turns"


@pytest.mark.limits(streams=2, turn=0.0, batch_wait=0.0)
async def test_one_address_leaves_room_for_others(
    engine: Engine,
) -> None:
    order = list[str]()
    flood, both, others = threading.Event(), threading.Event(), threading.Event()

    def spell(requests: list[Ask]) -> Iterator[list[Any]]:
        for _ in range(8):
            assert flood.wait(PATIENCE)
            order.append(requests[0].text)
            if "b" in order:
                both.set()
                assert others.wait(PATIENCE)
            yield [["x"]]
        order.append(requests[0].text)
        yield ["done"]

    def ask(text: str, width: int, address: str) -> list[asyncio.Task[Any]]:
        return asked(engine, spell, text, width=width, session=OpenPage(text, address))

    tasks = ask("a", 0, FLOODER)
    await until(lambda: engine.snapshot().running == 1)
    tasks += [*ask("b", 1, FLOODER), *ask("c", 2, FLOODER)]
    await until(lambda: engine.snapshot().waiting == 2)
    flood.set()
    await until(both.is_set)
    tasks += ask("I", 3, INNOCENT)
    await until(lambda: engine.snapshot().waiting == 2)
    others.set()
    await asyncio.gather(*tasks)
    said = "".join(order)
    its_own = said[said.index("I") : said.rindex("I") + 1]
    # What has ended is closed in a turn of its own, in which nothing is spelled.
    assert re.fullmatch("(I[ab])+I?(I[ab])*I", its_own) and its_own.count("I") == 9, said
    assert said.index("I") < 6 and said.rindex("I") < said.index("c"), said


@pytest.mark.parametrize(
    ("host", "known_by"),
    [
        *(
            ("203.0.113.7", "203.0.113.7"),
            ("::ffff:203.0.113.7", "203.0.113.7"),
            ("testclient", "unknown"),
            ("", "unknown"),
        ),
        *(("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("2001:db8:1:2::9", "2001:db8:1:2::/64")),
    ],
)
def test_a_visitor_is_known_by_its_network(host: str, known_by: str) -> None:
    caller: Any = SimpleNamespace(session_hash="abc", client=SimpleNamespace(host=host))
    page = wiring.read_session(caller)
    assert page == "abc" and page.address == known_by
    assert wiring.read_session(SimpleNamespace(session_hash=None, client=None)).address == "unknown"
