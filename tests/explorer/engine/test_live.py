"""A request that is live is computed alone, one at a time, never remembered, and ends with what there is where it is stopped."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from explorer.engine import Answer, Busy, Engine
from models.errors import Stopped
from tests.explorer.engine.fakes import PATIENCE


@dataclass(frozen=True)
class Timed:
    """A request whose answer is another one every time."""

    text: str
    live: bool = True


class Watch:
    """A function that yields its letters one by one, each let through by hand, and says how far it came."""

    def __init__(self) -> None:
        self.turns = threading.Semaphore(0)
        self.batches: list[int] = []

    def __call__(self, requests: list[Timed]) -> Iterator[list[Any]]:
        self.batches.append(len(requests))
        return self._run(requests[0].text)

    def _run(self, text: str) -> Iterator[list[Any]]:
        done = ""
        try:
            for letter in text:
                assert self.turns.acquire(timeout=PATIENCE)
                done += letter
                yield [[letter]]
        except Stopped:
            done += "."
        yield [done]


async def _begun(engine: Engine, watch: Watch, session: str, text: str = "abc") -> tuple[Any, Any]:
    """A stream under way, past its first letter."""
    watch.turns.release()
    stream = engine.stream(watch, Timed(text), session)
    async for update in stream:
        if isinstance(update, list):
            return stream, update
    raise AssertionError("no step came")


async def _end(stream: Any) -> Answer[Any]:
    async for update in stream:
        if isinstance(update, Answer):
            return update
    raise AssertionError("no answer came")


def test_it_is_not_remembered_and_is_computed_alone(engine: Engine) -> None:
    watch = Watch()
    watch.turns.release(100)

    async def twice() -> list[Answer[Any]]:
        return [await engine.ask(watch, Timed("ab"), "one page") for _ in range(2)]

    answers = asyncio.run(twice())
    assert [one.known for one in answers] == [False, False]
    assert watch.batches == [1, 1] and engine.known(watch, Timed("ab")) is None


def test_a_second_one_of_another_page_is_refused_in_a_sentence(engine: Engine) -> None:
    watch = Watch()

    async def both() -> Busy:
        stream, _ = await _begun(engine, watch, "one page")
        with pytest.raises(Busy) as refused:
            await engine.ask(watch, Timed("abc"), "another page")
        watch.turns.release(100)
        assert (await _end(stream)).value == "abc"
        assert (await engine.ask(watch, Timed("xy"), "another page")).value == "xy", "the clock is free again"
        return refused.value

    refusal = asyncio.run(both())
    assert refusal.code == "clock" and "another visitor" in refusal.text["en"] and refusal.text["zh"]


def test_what_a_page_asked_before_does_not_stand_in_its_own_way(engine: Engine) -> None:
    watch = Watch()

    async def both() -> Any:
        stream, _ = await _begun(engine, watch, "one page")
        newer = asyncio.create_task(engine.ask(watch, Timed("xy"), "one page"))
        await asyncio.sleep(0)
        await stream.aclose()
        watch.turns.release(100)
        return (await newer).value

    assert asyncio.run(both()) == "xy"


def test_where_it_is_halted_its_answer_is_what_there_is(engine: Engine) -> None:
    watch = Watch()

    async def halted() -> Answer[Any]:
        stream, _ = await _begun(engine, watch, "one page")
        assert not engine.halt("another page") and engine.halt("one page")
        watch.turns.release()
        return await _end(stream)

    said = asyncio.run(halted()).value
    assert said in {"a.", "ab."}
    assert not engine.halt("one page"), "nothing is under way any more"
