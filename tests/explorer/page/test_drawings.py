"""Drawings take turns, are bounded, and are made once for all who ask for them."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.engine import Busy, Engine, Limits, OpenPage
from explorer.labs import LABS
from explorer.page import answers, drawings, program
from explorer.page.drawings import DrawingStore
from explorer.page.program import Program
from explorer.page.views import View
from explorer.values import exact_rows, packing
from explorer.web.server import Site
from models.explaining.errors import InputError
from tests.explorer.asking import ask
from tests.explorer.small_lab import PROGRAM
from tests.explorer.wishes import alone, program_of, told

ONE = np.full((1, 1, 2, 2), 0.5, np.float32)
STORED = [lab.slug for lab in LABS if program_of(lab.slug).first() is not None]


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> DrawingStore:
    """Drawings of a process in which nothing was drawn yet."""
    one = DrawingStore()
    monkeypatch.setattr(program, "drawings", lambda: one)
    monkeypatch.setattr(answers, "drawings", lambda: one)
    monkeypatch.setattr("explorer.web.result_routes.drawings", lambda: one)
    return one


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often each lab's runs were drawn."""
    count: Counter[str] = Counter()
    draw = Program._render_views

    def counting(self: Program[Any, Any], *run: Any) -> dict[str, Any]:
        count[self.slug] += 1
        return draw(self, *run)

    monkeypatch.setattr(Program, "_render_views", counting)
    yield count


async def last(one: DrawingStore, make: Any, page: str = "", key: str = "") -> Any:
    """Return the values of a drawing."""
    async with contextlib.aclosing(one.draw(make, page, key=key)) as updates:
        return [update async for update in updates][-1].value


@pytest.mark.parametrize("slug", STORED)
def test_a_bare_event_draws_nothing_anew(slug: str, drawn: Counter[str]) -> None:
    page = replace(program_of(slug), slug=slug)
    kept = page.first()
    assert kept is not None
    page._render_stored_example(kept)  # as when the page is built
    drawn.clear()
    first, second = (told(page, query)[-1] for query in ("", "utm_source=mail"))
    assert first["ask"]["state"] == second["ask"]["state"] == "stored" and not drawn
    assert {**second, "ask": None} == {**first, "ask": None}
    assert "utm_source" in second["ask"]["notice"]["en"]


def test_a_run_is_drawn_once_while_it_is_known(drawn: Counter[str]) -> None:
    page, engine = replace(PROGRAM, slug="small"), Engine()
    states = [told(page, "v=1&text=xy", None, engine)[-1]["ask"]["state"] for _ in range(3)]
    assert states == ["live", "remembered", "remembered"] and drawn["small"] == 2
    engine.close(0.0)


def test_what_left_the_memory_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    small, made = packing.ArrayStore(capacity=1 << 10), 0
    monkeypatch.setattr(drawings, "array_store", lambda: small)

    def draw() -> dict[str, str]:
        nonlocal made
        made += 1
        return {"url": f"/arrays/{small.put(b'an array')}"}

    async def through() -> list[Any]:
        one = DrawingStore()
        seen = [(await last(one, draw, key="a"), made) for _ in range(2)]
        for number in range(99):
            small.put(bytes(str(number), "ascii"))
        return [*seen, (await last(one, draw, key="a"), made)]

    values, times = zip(*alone(through()), strict=True)
    assert times == (1, 1, 2) and values[0] == values[2] and small.get(values[2]["url"][-32:])


def test_remembered_drawings_are_bounded() -> None:
    async def through() -> int:
        one = DrawingStore(capacity=10_000)
        for number in range(50):
            await last(one, lambda number=number: [number] * 100, key=str(number))
        return one.size

    assert 5_000 < alone(through()) <= 10_000


def test_drawings_take_turns_by_address_and_page() -> None:
    order, free, begun = list[str](), threading.Event(), threading.Event()

    def make(name: str) -> None:
        begun.set()
        assert free.wait(60)
        order.append(name)

    async def through() -> None:
        one = DrawingStore()

        def wish(name: str, page: str, address: str) -> asyncio.Task[Any]:
            return asyncio.create_task(last(one, lambda: make(name), OpenPage(page, address)))

        tasks = [wish("first", "a", "1.1.1.1")]
        await asyncio.to_thread(begun.wait, 60)
        tasks += [wish(f"flood {number}", f"name {number}", "1.1.1.1") for number in range(9)]
        tasks += [wish("innocent", "b", "2.2.2.2")]
        tasks += [wish(f"again {number}", "b", "2.2.2.2") for number in range(2)]
        tasks += [wish("neighbour", "c", "2.2.2.2")]
        while one._engine.snapshot().waiting < len(tasks) - 1:
            await asyncio.sleep(0)
        free.set()
        await asyncio.gather(*tasks)

    alone(through())
    assert order.index("innocent") <= 2
    of_others = [name for name in order if name in {"innocent", "neighbour"} or "again" in name]
    assert of_others == ["innocent", "neighbour", "again 0", "again 1"]


def test_a_page_has_a_limit_of_drawings() -> None:
    free = threading.Event()

    async def through() -> list[Any]:
        one = DrawingStore(limits=Limits(batch=1, batch_wait=0.0, store=0, session=2))
        make = lambda: free.wait(60)  # noqa: E731
        tasks = [asyncio.create_task(last(one, make, OpenPage("a", "1.1.1.1"))) for _ in range(3)]
        while not any(task.done() for task in tasks):
            await asyncio.sleep(0)
        free.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    outcomes = alone(through())
    assert [type(one) for one in outcomes] == [bool, bool, Busy]


def test_who_waits_for_a_drawing_reads_the_place() -> None:
    free = threading.Event()

    def draw(seen: Any, request: Any, state: str) -> Any:
        assert free.wait(60)
        return {"sentence": "drawn"}

    slow = replace(PROGRAM, views=(View("difficulty", lambda value: None, draw),))

    async def through() -> list[dict[str, Any]]:
        engine, updates = Engine(), []
        async with contextlib.aclosing(answers.stream_answer(slow, engine, "v=1&text=xy")) as news:
            async for update in news:
                updates.append(update)
                if update["ask"]["state"] == "waiting" and engine.snapshot().answered:
                    free.set()
        engine.close(0.0)
        return updates

    *places, end = alone(through())
    assert places[0]["ask"]["state"] == "waiting" and end["ask"]["state"] == "live"


def test_an_error_of_a_drawing_reaches_who_asked() -> None:
    def refuse() -> None:
        raise InputError("long", en="Too long.", zh="太长。")

    async def through() -> list[Any]:
        one = DrawingStore()
        asked = [last(one, refuse, key=key) for key in ("", "a", "a")]
        return await asyncio.gather(*asked, return_exceptions=True)

    assert [one.code for one in alone(through())] == ["long"] * 3


def test_exact_rows_have_the_limits_of_drawings(
    shell: Site, fresh: DrawingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = exact_rows.keep_rows(
        "rows", lambda layer, head, rows: ONE[layer, head, rows.start :], ONE
    )
    answered = ask(shell, f"{address}/0/0/0/2")
    full = DrawingStore(limits=Limits(batch=1, store=0, queue=0))
    monkeypatch.setattr("explorer.web.result_routes.drawings", lambda: full)
    refused = ask(shell, f"{address}/0/0/0/2")
    assert answered.status_code == 200 and len(answered.content) == 2 * 2 * 2
    assert refused.status_code == 503 and int(refused.headers["retry-after"]) > 0
    assert "requests are waiting" in refused.text
