"""What goes wrong in the engine stays with whoever it went wrong for."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.cluster.replica import Key, Replica
from explorer.engine import Answer, Engine, Failed, Limits, TooSlow
from models.explaining.errors import InputError
from tests.explorer.engine.fakes import PATIENCE, Ask, Count, Echo, asked, held, until, values


async def test_a_bad_request_spoils_no_other(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    echo = Echo()
    a, empty, b = await values(asked(engine, echo, "a", "", "b"))
    assert (a, b) == ("A", "B") and isinstance(empty, InputError) and empty.code == "empty"
    c, bug, d = await values(asked(engine, echo, "c", "bug", "d"))
    assert [c, d, *await values(asked(engine, echo, "next"))] == ["C", "D", "NEXT"]
    assert isinstance(bug, Failed) and isinstance(bug.__cause__, KeyError)
    assert set(bug.text) == {"en", "zh"} and "KeyError" not in bug.text["en"]
    assert "KeyError" in caplog.text and "ccc" not in caplog.text


async def test_a_function_that_forgets_a_request_fails_it_clearly(engine: Engine) -> None:
    with pytest.raises(Failed):
        await engine.ask(lambda requests: [], Ask("x"))


@pytest.mark.limits(batch_wait=0.4)  # a busy machine too brings all eight together
@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
    ],
)
async def test_out_of_memory_halves_the_batch_once(engine: Engine, error: Exception) -> None:
    sizes: list[int] = []
    fits = 4

    def hungry(requests: list[Ask]) -> list[str]:
        sizes.append(len(requests))
        if len(requests) > fits:
            raise error
        return [r.text for r in requests]

    assert await values(asked(engine, hungry, *(f"a{i}" for i in range(8)))) == [
        f"a{i}" for i in range(8)
    ]
    assert sizes == [8, 4, 4]
    fits = 0
    assert all(
        isinstance(r, Failed) and r.code == "memory"
        for r in await values(asked(engine, hungry, "b0", "b1"))
    )
    fits = 4
    assert await values(asked(engine, hungry, "c0")) == ["c0"]
    engine.close()
    assert engine.snapshot().out_of_memory >= 3


async def test_a_spoiled_stream_repeats_no_step(
    engine: Engine,
) -> None:
    def brittle(requests: list[Ask]) -> Iterator[list[object]]:
        yield [[r.text[0]] for r in requests]
        if len(requests) > 1:
            raise ValueError
        if requests[0].text == "bug":
            raise KeyError
        yield [list(requests[0].text[1:])]
        yield [requests[0].text.upper()]

    async def letters(text: str) -> str:
        return "".join(
            [
                "".join(update)
                async for update in engine.stream(brittle, Ask(text))
                if isinstance(update, list)
            ]
        )

    good, bug, fine = await values(map(letters, ("good", "bug", "fine")))
    assert (good, fine) == ("good", "fine") and isinstance(bug, Failed)


@pytest.mark.limits(loading=0.0, deadline=0.5, heartbeat=0.02)
async def test_a_call_past_its_deadline_is_told_so(
    engine: Engine,
) -> None:
    stuck, echo = Echo(held=True), Echo()
    with pytest.raises(TooSlow) as slow:
        await engine.ask(stuck, Ask("for ever"))
    assert "0.5 seconds" in slow.value.text["en"]
    assert await values(asked(engine, echo, "next")) == ["NEXT"] and engine.snapshot().too_slow == 1
    stuck.free.set()  # what it computed in the end is remembered
    await until(lambda: engine.recall(stuck, Ask("for ever")) is not None)
    assert await values(asked(engine, echo, "still there")) == ["STILL THERE"]


@pytest.mark.limits(loading=0.0, deadline=0.2, heartbeat=0.02, batch=1)
async def test_a_stuck_engine_refuses_who_waits(engine: Engine) -> None:
    stuck, echo = Echo(held=True), Echo()
    async with asyncio.timeout(PATIENCE):
        tasks = asked(engine, stuck, "a", "b") + asked(engine, echo, "c")
        first, second, waiting = await values(tasks)
        assert isinstance(first, TooSlow) and isinstance(second, TooSlow) and engine.is_stuck
        (later,) = await values(asked(engine, echo, "d"))
        assert [waiting.code, later.code] == ["stuck", "stuck"] and not echo.batches
        stuck.free.set()
        await until(lambda: not engine.is_stuck)
        assert await values(asked(engine, echo, "e")) == ["E"]


@pytest.mark.limits(loading=0.0, deadline=0.2, heartbeat=0.02, batch=1)
async def test_a_call_nobody_follows_is_left_behind(engine: Engine) -> None:
    stuck = Echo(held=True)
    async with asyncio.timeout(PATIENCE):
        for text in ("a", "b"):
            (left,) = asked(engine, stuck, text)
            await until(lambda text=text: [text] in stuck.batches)  # type: ignore[misc]
            left.cancel()
        await until(lambda: engine.is_stuck)
    stuck.free.set()


async def test_a_replica_with_a_stuck_engine_is_ill() -> None:
    replica = Replica("tests.explorer.engine.lent:version")
    await replica.check_health()
    limits = Limits(loading=0.0, deadline=0.2, heartbeat=0.02, batch=1)
    engine, stuck = replica._find_engine(Key("engine", "cpu", limits)).engine, Echo(held=True)
    await values(asked(engine, stuck, "a", "b"))
    with pytest.raises(RuntimeError, match="deadline"):
        await replica.check_health()
    stuck.free.set()
    logging.getLogger("explorer").removeHandler(replica)


@pytest.mark.limits(loading=0.0, deadline=1.0, heartbeat=0.02, batch=1)
async def test_the_deadline_counts_computing_and_not_waiting(engine: Engine) -> None:
    echo, stuck = Echo(), Echo(held=True)
    slow, patient = await values(await held(engine, stuck) + asked(engine, echo, "patient"))
    stuck.free.set()
    # it waited as long as the other one computed
    assert isinstance(slow, TooSlow) and patient == "PATIENT"


@pytest.mark.limits(loading=0.0, deadline=0.05, turn=0.01)
async def test_a_stream_past_its_deadline_is_closed(engine: Engine) -> None:
    count = Count()

    def slow(requests: list[Ask]) -> Iterator[list[object]]:
        try:
            while True:
                time.sleep(0.01)
                yield [["x"]]
        finally:
            count.closed.set()

    with pytest.raises(TooSlow):
        await engine.ask(slow, Ask("x"))
    assert await asyncio.to_thread(count.closed.wait, PATIENCE)


async def test_without_a_thread_the_next_is_served(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", full)
        (told,) = await values(asked(engine, Echo(), "first", session="one page"))
    assert (
        isinstance(told, Failed)
        and told.code == "failed"
        and "can't start new thread" in caplog.text
    )
    seen = engine.snapshot()
    assert (seen.waiting, seen.running, seen.sessions, seen.failed) == (0, 0, 0, 1)
    async with asyncio.timeout(PATIENCE):
        assert await values(asked(engine, Echo(), "next")) == ["NEXT"]


async def test_unsendable_calls_free_their_place(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise TypeError("such as can travel")

    monkeypatch.setattr(engine._worker, "ensure_thread", broken)
    (told,) = await values(asked(engine, Echo(), "x", session="one page"))
    seen = engine.snapshot()
    assert isinstance(told, TypeError) and (seen.waiting, seen.running, seen.sessions) == (0, 0, 0)


async def test_a_failing_import_is_told_to_callers(engine: Engine) -> None:
    with pytest.raises(ModuleNotFoundError):
        await asyncio.wrap_future(engine.warm("no_such_module:explain")[0])
    with pytest.raises(Failed):
        await engine.ask("no_such_module:explain", Ask("x"))


@pytest.mark.limits(loading=0.0, deadline=0.2, heartbeat=0.02)
async def test_importing_what_a_call_needs_is_no_part_of_its_deadline(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_to_import.py").write_text(
        "import time\ntime.sleep(0.6)\ndef explain(requests):\n    return requests\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert (await engine.ask("slow_to_import:explain", "x")).value == "x"


@pytest.mark.limits(deadline=0.2, loading=PATIENCE, heartbeat=0.02)
async def test_the_first_call_may_read_its_model(engine: Engine) -> None:
    def explain(requests: list[Ask]) -> list[str]:
        time.sleep(0.5)
        return ["done"]

    first, second = await engine.ask(explain, Ask("first")), engine.ask(explain, Ask("second"))
    assert isinstance(first, Answer) and first.value == "done"
    with pytest.raises(TooSlow):
        await second
