"""What goes wrong in the engine stays with whoever it went wrong for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.engine import Answer, Engine, Failed, Limits, TooSlow
from models.errors import InputError
from tests.explorer.engine.fakes import PATIENCE, Ask, Count, Echo, run, until


def test_an_input_error_is_raised_to_its_asker_alone(engine: Engine) -> None:
    async def go() -> tuple[object, ...]:
        echo = Echo()
        return tuple(await asyncio.gather(*(engine.ask(echo, Ask(t)) for t in ("a", "", "b")), return_exceptions=True))

    a, empty, b = run(go())
    assert isinstance(a, Answer) and isinstance(b, Answer)
    assert isinstance(empty, InputError) and empty.code == "empty"


def test_an_exception_spoils_no_other_request_of_its_batch(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    echo = Echo()

    async def go() -> list[object]:
        texts = ["a", "b", "bug", "c"]
        first = await asyncio.gather(*(engine.ask(echo, Ask(t)) for t in texts), return_exceptions=True)
        return [*first, await engine.ask(echo, Ask("next"))]

    a, b, bug, c, after = run(go())
    assert [x.value for x in (a, b, c, after)] == ["A", "B", "C", "NEXT"]
    assert isinstance(bug, Failed) and isinstance(bug.__cause__, KeyError)
    assert set(bug.text) == {"en", "zh"} and "KeyError" not in bug.text["en"]
    assert "KeyError" in caplog.text and "aaa" not in caplog.text


def test_a_function_that_forgets_a_request_fails_it_clearly(engine: Engine) -> None:
    with pytest.raises(Failed):
        run(engine.ask(lambda requests: [], Ask("x")))


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes")]
)
def test_out_of_memory_halves_the_batch_once_then_answers_clearly(error: Exception) -> None:
    engine = Engine(limits=Limits(batch_wait=0.4))  # a busy machine too brings all eight together
    sizes: list[int] = []
    fits = 4

    def hungry(requests: list[Ask]) -> list[str]:
        sizes.append(len(requests))
        if len(requests) > fits:
            raise error
        return [r.text for r in requests]

    async def go(n: int, prefix: str) -> list[object]:
        return list(await asyncio.gather(*(engine.ask(hungry, Ask(f"{prefix}{i}")) for i in range(n)), return_exceptions=True))

    assert [a.value for a in run(go(8, "a"))] == [f"a{i}" for i in range(8)]
    assert sizes == [8, 4, 4]
    fits = 0
    refused = run(go(2, "b"))
    assert all(isinstance(r, Failed) and r.code == "memory" for r in refused)
    fits = 4
    assert [a.value for a in run(go(1, "c"))] == ["c0"]
    engine.close()
    assert engine.snapshot().out_of_memory >= 3


def test_a_spoiled_stream_is_tried_again_alone_and_tells_no_step_twice(engine: Engine) -> None:
    def brittle(requests: list[Ask]) -> Iterator[list[object]]:
        yield [[r.text[0]] for r in requests]
        if len(requests) > 1:
            raise ValueError
        if requests[0].text == "bug":
            raise KeyError
        yield [list(requests[0].text[1:])]
        yield [requests[0].text.upper()]

    async def letters(text: str) -> str:
        told = ""
        async for update in engine.stream(brittle, Ask(text)):
            told += "".join(update) if isinstance(update, list) else ""
        return told

    async def go() -> list[object]:
        return list(await asyncio.gather(letters("good"), letters("bug"), letters("fine"), return_exceptions=True))

    good, bug, fine = run(go())
    assert (good, fine) == ("good", "fine")
    assert isinstance(bug, Failed)


def test_a_call_past_its_deadline_is_told_so_and_the_next_one_is_served() -> None:
    engine, stuck, echo = Engine(limits=Limits(loading=0.0, deadline=0.5, heartbeat=0.02)), Echo(held=True), Echo()

    async def go() -> object:
        with pytest.raises(TooSlow) as slow:
            await engine.ask(stuck, Ask("for ever"))
        assert "0.5 seconds" in slow.value.text["en"]
        return (await engine.ask(echo, Ask("next"))).value

    assert run(go()) == "NEXT"
    assert engine.snapshot().too_slow == 1
    stuck.free.set()  # what it computed in the end is remembered

    async def remembered() -> None:
        await until(lambda: engine.known(stuck, Ask("for ever")) is not None)

    run(remembered())
    assert run(engine.ask(echo, Ask("still there"))).value == "STILL THERE"
    engine.close()


def test_the_deadline_counts_computing_and_not_waiting() -> None:
    engine, echo, held = Engine(limits=Limits(loading=0.0, deadline=1.0, heartbeat=0.02, batch=1)), Echo(), Echo(held=True)

    async def go() -> list[object]:
        running = asyncio.create_task(engine.ask(held, Ask("held")))
        await until(held.called.is_set)
        waiting = asyncio.create_task(engine.ask(echo, Ask("patient")))
        return list(await asyncio.gather(running, waiting, return_exceptions=True))

    slow, patient = run(go())
    held.free.set()
    engine.close()
    assert isinstance(slow, TooSlow)
    assert isinstance(patient, Answer)  # it waited as long as the other one computed


def test_a_stream_past_its_deadline_is_closed() -> None:
    engine, count = Engine(limits=Limits(loading=0.0, deadline=0.05, turn=0.01)), Count()

    def slow(requests: list[Ask]) -> Iterator[list[object]]:
        try:
            while True:
                time.sleep(0.01)
                yield [["x"]]
        finally:
            count.closed.set()

    with pytest.raises(TooSlow):
        run(engine.ask(slow, Ask("x")))
    assert count.closed.wait(PATIENCE)
    engine.close()


def test_a_failing_import_is_told_to_whoever_warms_and_whoever_asks(engine: Engine) -> None:
    with pytest.raises(ModuleNotFoundError):
        engine.warm("no_such_module:explain")[0].result(PATIENCE)
    with pytest.raises(Failed):
        run(engine.ask("no_such_module:explain", Ask("x")))


def test_importing_what_a_call_needs_is_no_part_of_its_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(0.6)\ndef explain(requests):\n    return requests\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    engine = Engine(limits=Limits(loading=0.0, deadline=0.2, heartbeat=0.02))
    assert run(engine.ask("slow_to_import:explain", "x")).value == "x"
    engine.close(0.0)


def test_the_first_call_of_a_function_gets_time_to_read_its_model() -> None:
    engine = Engine(limits=Limits(deadline=0.2, loading=PATIENCE, heartbeat=0.02))

    def explain(requests: list[Ask]) -> list[str]:
        time.sleep(0.5)
        return ["done"]

    assert run(engine.ask(explain, Ask("first"))).value == "done"
    with pytest.raises(TooSlow):
        run(engine.ask(explain, Ask("second")))
    engine.close(0.0)
