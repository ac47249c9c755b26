"""Who asks for very much from one address does not keep out those who ask from others."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from explorer import wiring
from explorer.engine import Answer, Busy, Engine, Limits, Page
from tests.explorer.engine.fakes import PATIENCE, Ask, Echo, run, until

FLOODER, HALL, INNOCENT = "203.0.113.1", "203.0.113.2", "203.0.113.3"


def asking(engine: Engine, echo: Echo, address: str, count: int) -> list[asyncio.Task[Answer[Any]]]:
    """So many requests from one address, each of an open page with a name of its own."""
    return [
        asyncio.create_task(engine.ask(echo, Ask(f"{address} {number}"), Page(f"{address} page {number}", address)))
        for number in range(count)
    ]


async def refused(tasks: list[asyncio.Task[Answer[Any]]]) -> list[Busy]:
    """Those of the outcomes that are refusals."""
    return [outcome for outcome in await asyncio.gather(*tasks, return_exceptions=True) if isinstance(outcome, Busy)]


def test_seven_hundred_names_from_one_address_leave_places_for_others_who_go_first() -> None:
    engine, echo = Engine(), Echo(held=True)

    async def go() -> None:
        running = asyncio.create_task(engine.ask(echo, Ask("running")))
        await until(echo.called.is_set)
        flood = asking(engine, echo, FLOODER, 700)
        await until(lambda: engine.snapshot().asked == 701)
        innocents = asking(engine, echo, INNOCENT, 10)
        await until(lambda: engine.snapshot().asked == 711)
        echo.free.set()
        assert await refused(innocents) == []
        too_many = await refused(flood)
        assert len(too_many) == 400
        assert "300 requests from your network" in too_many[0].text["en"] and "300" in too_many[0].text["zh"]
        await running

    run(go())
    engine.close(0)
    order = [text for batch in echo.batches[1:] for text in batch]
    assert all(text in order[:25] for text in (f"{INNOCENT} {number}" for number in range(10)))


def test_a_lecture_hall_behind_one_address_always_passes_with_one_request_each() -> None:
    engine, echo = Engine(), Echo(held=True)

    async def go() -> None:
        running = asyncio.create_task(engine.ask(echo, Ask("running")))
        await until(echo.called.is_set)
        flood = asking(engine, echo, FLOODER, 700)
        await until(lambda: engine.snapshot().asked == 701)
        hall = asking(engine, echo, HALL, 300)
        await until(lambda: engine.snapshot().asked == 1001)
        assert engine.snapshot().waiting == 600
        late = asking(engine, echo, INNOCENT, 1)
        await until(lambda: engine.snapshot().asked == 1002)
        echo.free.set()
        assert await refused(hall) == []
        (full,) = await refused(late)
        assert "600 requests are waiting, about" in full.text["en"]
        await refused(flood)
        await running

    run(go())
    engine.close(0)


def test_an_address_that_is_alone_may_fill_half_a_queue_and_its_order_is_when_things_are_due() -> None:
    engine, echo = Engine(limits=Limits(queue=8, share=4, batch=1)), Echo(held=True)

    async def go() -> None:
        running = asyncio.create_task(engine.ask(echo, Ask("running")))
        await until(echo.called.is_set)
        hall = asking(engine, echo, HALL, 4)
        await until(lambda: engine.snapshot().waiting == 4)
        itself = asyncio.create_task(engine.ask(echo, Ask("of the server itself")))
        await until(lambda: engine.snapshot().waiting == 5)
        echo.free.set()
        await asyncio.gather(running, *hall, itself)

    run(go())
    engine.close(0)
    assert [texts[0] for texts in echo.batches[1:]] == [*(f"{HALL} {number}" for number in range(4)), "of the server itself"]


def test_a_request_that_others_made_too_goes_when_the_first_of_them_may() -> None:
    engine, echo = Engine(limits=Limits(batch=1)), Echo(held=True)

    async def go() -> None:
        running = asyncio.create_task(engine.ask(echo, Ask("running")))
        await until(echo.called.is_set)
        flood = asking(engine, echo, FLOODER, 20)
        await until(lambda: engine.snapshot().waiting == 20)
        same = asyncio.create_task(engine.ask(echo, Ask(f"{FLOODER} 19"), Page("somebody", INNOCENT)))
        await until(lambda: engine.snapshot().shared == 1)
        echo.free.set()
        await asyncio.gather(running, same, *flood)

    run(go())
    engine.close(0)
    assert [texts[0] for texts in echo.batches[1:3]] == [f"{FLOODER} 0", f"{FLOODER} 19"], "addresses take turns"


def test_streams_of_one_address_leave_room_for_another_s_and_every_second_turn() -> None:
    engine, order = Engine(limits=Limits(streams=2, turn=0.0, batch_wait=0.0)), list[str]()
    flood, both, others = threading.Event(), threading.Event(), threading.Event()

    def spell(requests: list[Ask]) -> Iterator[list[Any]]:
        for _ in range(8):
            assert flood.wait(PATIENCE)
            order.append(requests[0].text)
            if "b" in order:
                both.set()
                assert others.wait(PATIENCE)
            yield [["x"]]
        yield ["done"]

    def ask(text: str, width: int, address: str) -> asyncio.Task[Answer[Any]]:
        return asyncio.create_task(engine.ask(spell, Ask(text, width), Page(text, address)))

    async def go() -> None:
        tasks = [ask(text, width, FLOODER) for width, text in enumerate("abc")]
        await until(lambda: engine.snapshot().waiting == 2)
        flood.set()
        await until(both.is_set)
        tasks.append(ask("I", 3, INNOCENT))
        await until(lambda: engine.snapshot().waiting == 2)
        others.set()
        await asyncio.gather(*tasks)

    run(go())
    engine.close(0)
    said = "".join(order)
    its_own = said[said.index("I") : said.rindex("I") + 1]
    assert re.fullmatch("(I[ab])*I", its_own) and its_own.count("I") == 8, said
    assert said.index("I") < 6 and said.rindex("I") < said.index("c"), said


@pytest.mark.parametrize(
    ("host", "known_by"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("testclient", ""),
        ("", ""),
    ],
)
def test_a_visitor_is_known_by_the_address_or_the_network_that_it_has_for_itself(host: str, known_by: str) -> None:
    caller: Any = SimpleNamespace(session_hash="abc", client=SimpleNamespace(host=host))
    page = wiring.session(caller)
    assert page == "abc" and page.address == known_by
    assert wiring.session(SimpleNamespace(session_hash=None, client=None)).address == ""  # type: ignore[arg-type]
