"""The engine: who runs a model, for many visitors at once. Nothing here waits for time to pass, except where time is what is tested."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from explorer.engine import Answer, Busy, Engine, Failed, Limits, TooSlow, Waiting
from models.errors import InputError

PATIENCE = 10.0  # seconds after which a test has failed


@dataclass(frozen=True)
class Ask:
    """A request."""

    text: str
    width: int = 1

    def group(self) -> int:
        return self.width


class Echo:
    """A function that can be held, and remembers the batches it was called with."""

    def __init__(self, held: bool = False) -> None:
        self.batches: list[list[str]] = []
        self.called = threading.Event()
        self.free = threading.Event()
        if not held:
            self.free.set()

    def __call__(self, requests: list[Ask]) -> list[str | InputError]:
        self.batches.append([r.text for r in requests])
        self.called.set()
        assert self.free.wait(PATIENCE)
        if any(r.text == "bug" for r in requests):
            raise KeyError(requests[0].text * 3)
        return [InputError("empty", en="Empty.", zh="空。") if not r.text else r.text.upper() for r in requests]


class Count:
    """A function that yields: one letter a turn, each turn let through by hand unless it is free."""

    def __init__(self, free: bool = False) -> None:
        self.turns = threading.Semaphore(10**6 if free else 0)
        self.made = 0
        self.begun: list[list[str]] = []
        self.closed = threading.Event()

    def __call__(self, requests: list[Ask]) -> Iterator[list[list[str] | str | None]]:
        return self._generate(requests)

    def _generate(self, requests: list[Ask]) -> Iterator[list[list[str] | str | None]]:
        self.begun.append([r.text for r in requests])
        try:
            for i in range(max(len(r.text) for r in requests)):
                assert self.turns.acquire(timeout=PATIENCE)
                self.made += 1
                yield [[r.text[i]] if i < len(r.text) else (r.text.upper() if i == len(r.text) else None) for r in requests]
            longest = max(len(r.text) for r in requests)
            yield [r.text.upper() if len(r.text) == longest else None for r in requests]
        finally:
            self.closed.set()


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine(limits=Limits(turn=0.0))  # one yield a turn
    yield made
    made.close(0.0)


def run(awaitable: Awaitable[object]) -> object:
    async def bounded() -> object:
        return await asyncio.wait_for(awaitable, PATIENCE)  # type: ignore[arg-type]

    return asyncio.run(bounded())


async def until(true: Callable[[], bool]) -> None:
    while not true():
        await asyncio.sleep(0.002)


def test_an_answer_carries_the_result_its_time_and_its_device() -> None:
    engine = Engine(device="platform:system")
    answer = run(engine.ask(Echo(), Ask("hello")))
    engine.close()
    assert isinstance(answer, Answer)
    assert (answer.value, answer.known) == ("HELLO", False)
    assert answer.milliseconds >= 0
    assert answer.device == __import__("platform").system()


def test_a_function_may_be_given_by_name_and_is_imported_where_it_runs(engine: Engine) -> None:
    async def go() -> object:
        await asyncio.wrap_future(engine.warm("math:prod")[0])
        return (await engine.ask("builtins:sorted", "request")).value  # sorted([request]) is a list of one result

    assert run(go()) == "request"


def test_requests_of_one_group_share_a_call_and_others_do_not(engine: Engine) -> None:
    echo = Echo(held=True)

    async def go() -> list[str]:
        first = asyncio.create_task(engine.ask(echo, Ask("first")))
        await until(echo.called.is_set)
        rest = [asyncio.create_task(engine.ask(echo, Ask(f"{i}", width=1 + i % 2))) for i in range(20)]
        await until(lambda: engine.snapshot().waiting == 20)
        echo.free.set()
        return [answer.value for answer in await asyncio.gather(first, *rest)]

    assert run(go()) == ["FIRST", *(f"{i}" for i in range(20))]
    assert sorted(len(b) for b in echo.batches) == [1, 10, 10]
    assert [b for b in echo.batches if "0" in b] == [[f"{i}" for i in range(0, 20, 2)]]


def test_a_batch_holds_at_most_its_limit() -> None:
    engine, echo = Engine(limits=Limits(batch=4)), Echo(held=True)

    async def go() -> None:
        tasks = [asyncio.create_task(engine.ask(echo, Ask(f"{i}"))) for i in range(11)]
        await until(lambda: engine.snapshot().waiting == 7)
        echo.free.set()
        await asyncio.gather(*tasks)

    run(go())
    engine.close()
    assert [len(b) for b in echo.batches] == [4, 4, 3]
    assert engine.snapshot().batch_sizes == ((3, 1), (4, 2))


def test_slow_requests_travel_in_smaller_batches() -> None:
    engine, echo = Engine(limits=Limits(batch_seconds=0.4)), Echo(held=True)  # a request is expected to take 0.1 s at first

    async def go() -> None:
        tasks = [asyncio.create_task(engine.ask(echo, Ask(f"{i}"))) for i in range(10)]
        await until(lambda: engine.snapshot().waiting == 6)
        echo.free.set()
        await asyncio.gather(*tasks)

    run(go())
    engine.close()
    assert len(echo.batches[0]) == 4


def test_identical_requests_in_flight_share_one_run_and_are_known_afterwards(engine: Engine) -> None:
    echo = Echo(held=True)

    async def go() -> list[Answer[str]]:
        hall = [asyncio.create_task(engine.ask(echo, Ask("permalink"), session=f"{i}")) for i in range(300)]
        await until(lambda: engine.snapshot().shared == 299)
        assert engine.known(echo, Ask("permalink")) is None
        echo.free.set()
        return [*await asyncio.gather(*hall), await engine.ask(echo, Ask("permalink"))]

    answers = run(go())
    assert echo.batches == [["permalink"]]
    assert [a.known for a in answers] == [False] * 300 + [True]
    assert engine.known(echo, Ask("permalink")) == answers[-1]


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
    engine = Engine()
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
        places = [await place(f"{i}") for i in range(3)]
        assert [(p.place, p.of) for p in places] == [(1, 3), (2, 3), (3, 3)]
        assert 0 < places[0].seconds < places[1].seconds < places[2].seconds
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


def test_a_call_past_its_deadline_is_told_so_and_the_next_one_is_served() -> None:
    engine, stuck, echo = Engine(limits=Limits(deadline=0.5, heartbeat=0.02)), Echo(held=True), Echo()

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
    engine, echo, held = Engine(limits=Limits(deadline=1.0, heartbeat=0.02, batch=1)), Echo(), Echo(held=True)

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


def test_the_store_forgets_the_oldest_and_keeps_within_its_bytes() -> None:
    engine = Engine(limits=Limits(store=10_000))

    def arrays(requests: list[Ask]) -> list[object]:
        whole = np.zeros((len(requests), 1000), np.float32)
        return [{"weights": whole[i].copy()} for i, _ in enumerate(requests)]

    async def go() -> None:
        for i in range(5):
            await engine.ask(arrays, Ask(f"{i}"))
            await engine.ask(arrays, Ask("0"))  # looked at again and again: the most recently used stays

    run(go())
    engine.close()
    seen = engine.snapshot()
    assert seen.store_bytes <= 10_000 and seen.store_items == 2
    assert [engine.known(arrays, Ask(f"{i}")) is not None for i in range(5)] == [True, False, False, False, True]


def test_a_view_counts_as_the_array_it_keeps_alive() -> None:
    engine = Engine(limits=Limits(store=10_000))
    run(engine.ask(lambda requests: [np.zeros((100, 1000))[0]], Ask("x")))
    engine.close()
    assert engine.snapshot().store_items == 0


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
    engine = Engine(limits=Limits(streams=2, turn=0.0, company=0.0))
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


def test_a_stream_past_its_deadline_is_closed() -> None:
    engine, count = Engine(limits=Limits(deadline=0.05, turn=0.01)), Count()

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
        engine._work_of(work).cost(9).seconds = 60.0
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


def test_the_engine_serves_several_event_loops_at_once(engine: Engine) -> None:
    echo, results = Echo(), []
    threads = [threading.Thread(target=lambda i=i: results.append(run(engine.ask(echo, Ask(f"{i}"))).value)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert sorted(results) == ["0", "1", "2", "3"]


def test_a_failing_import_is_told_to_whoever_warms_and_whoever_asks(engine: Engine) -> None:
    with pytest.raises(ModuleNotFoundError):
        engine.warm("no_such_module:explain")[0].result(PATIENCE)
    with pytest.raises(Failed):
        run(engine.ask("no_such_module:explain", Ask("x")))


def test_the_engine_can_be_imported_without_torch_or_gradio() -> None:
    import subprocess
    import sys

    code = "import sys, explorer.engine; print(sorted({'torch', 'gradio', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_nothing_is_left_behind_after_many_visitors(engine: Engine) -> None:
    echo = Echo()

    async def go() -> None:
        for i in range(30):
            await asyncio.gather(*(engine.ask(echo, Ask(f"{i}-{j}"), session=f"{i}-{j}") for j in range(32)))

    run(go())
    seen = engine.snapshot()
    assert (seen.waiting, seen.running, seen.asked, seen.answered) == (0, 0, 960, 960)
    assert not engine._sessions and not engine._runs and engine._askers == 0
    assert sum(size * n for size, n in seen.batch_sizes) == 960
    assert seen.latency_median <= seen.latency_p95
