"""The engine answers calls: batches, shared runs, what is remembered."""

from __future__ import annotations

import asyncio
import logging
import platform
import subprocess
import sys
import threading

import numpy as np
import pytest

from explorer.engine import Answer, Engine, Limits
from tests.explorer.engine.fakes import PATIENCE, Ask, Echo, asked, held, until, values


async def test_an_answer_carries_the_result_its_time_and_its_device() -> None:
    engine = Engine(device="platform:system")
    answer = await engine.ask(Echo(), Ask("hello"))
    engine.close()
    assert isinstance(answer, Answer) and (answer.value, answer.known, answer.device) == (
        "HELLO",
        False,
        platform.system(),
    )
    assert answer.milliseconds >= 0


async def test_a_function_is_imported_by_name(
    engine: Engine,
) -> None:
    await asyncio.wrap_future(engine.warm("math:prod")[0])
    # sorted([request]) is a list of one result
    assert (await engine.ask("builtins:sorted", "request")).value == "request"


async def test_requests_of_one_group_share_a_call_and_others_do_not(engine: Engine) -> None:
    echo = Echo(held=True)
    first = await held(engine, echo)
    rest = [task for i in range(20) for task in asked(engine, echo, i, width=1 + i % 2)]
    await until(lambda: engine.snapshot().waiting == 20)
    echo.free.set()
    assert await values(first + rest) == ["RUNNING", *(f"{i}" for i in range(20))]
    assert sorted(len(b) for b in echo.batches) == [1, 10, 10]
    assert [b for b in echo.batches if "0" in b] == [[f"{i}" for i in range(0, 20, 2)]]


@pytest.mark.parametrize(
    ("sizes", "count"),
    [
        pytest.param(
            [4, 4, 3], 11, marks=pytest.mark.limits(batch=4, batch_wait=1.0), id="at most its limit"
        ),
        # a request is expected to take 0.1 s
        pytest.param(
            [4],
            10,
            marks=pytest.mark.limits(batch_seconds=0.4, batch_wait=1.0),
            id="slow ones in smaller batches",
        ),
    ],
)
async def test_a_batch_holds_only_so_many(engine: Engine, sizes: list[int], count: int) -> None:
    echo = Echo(held=True)
    tasks = asked(engine, echo, *range(count))
    await until(lambda: engine.snapshot().waiting == count - 4)
    echo.free.set()
    await values(tasks)
    engine.close()
    assert [len(b) for b in echo.batches][: len(sizes)] == sizes
    assert len(sizes) == 1 or engine.snapshot().batch_sizes == ((3, 1), (4, 2))


async def test_identical_requests_share_one_run(
    engine: Engine,
) -> None:
    echo = Echo(held=True)
    hall = [task for i in range(300) for task in asked(engine, echo, "permalink", session=f"{i}")]
    await until(lambda: engine.snapshot().shared == 299)
    assert engine.recall(echo, Ask("permalink")) is None
    echo.free.set()
    answers = [*await asyncio.gather(*hall), await engine.ask(echo, Ask("permalink"))]
    assert echo.batches == [["permalink"]]
    assert [a.known for a in answers] == [False] * 300 + [True]
    assert engine.recall(echo, Ask("permalink")) == answers[-1]


@pytest.mark.limits(store=10_000)
async def test_the_store_forgets_the_oldest_and_keeps_within_its_bytes(engine: Engine) -> None:
    def arrays(requests: list[Ask]) -> list[object]:
        whole = np.zeros((len(requests), 1000), np.float32)
        return [{"weights": whole[i].copy()} for i, _ in enumerate(requests)]

    for i in range(5):
        for text in (f"{i}", "0"):  # looked at again and again: the most recently used stays
            await engine.ask(arrays, Ask(text))
    engine.close()
    seen = engine.snapshot()
    assert 0 < seen.store_bytes <= 10_000
    assert [engine.recall(arrays, Ask(f"{i}")) is not None for i in range(5)] == [
        True,
        False,
        False,
        False,
        True,
    ]


async def test_a_view_counts_as_the_array_it_keeps_alive() -> None:
    engine = Engine(limits=Limits(store=10_000))
    await engine.ask(lambda requests: [np.zeros((100, 1000))[0]], Ask("x"))
    engine.close()
    assert engine.snapshot().store_bytes == 0


def test_the_engine_serves_several_event_loops_at_once(engine: Engine) -> None:
    echo, results = Echo(), []
    work = lambda i: results.append(asyncio.run(engine.ask(echo, Ask(f"{i}"))).value)  # noqa: E731
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert sorted(results) == ["0", "1", "2", "3"]


def test_it_can_be_imported_without_torch_or_gradio() -> None:
    code = (
        "import sys, explorer.engine; print(sorted({'torch', 'gradio', 'numpy'} &"
        " set(sys.modules)))"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


async def test_nothing_is_left_behind_after_many_visitors(engine: Engine) -> None:
    echo = Echo()
    for i in range(30):
        await asyncio.gather(
            *(engine.ask(echo, Ask(f"{i}-{j}"), session=f"{i}-{j}") for j in range(32))
        )
    seen = engine.snapshot()
    assert (seen.waiting, seen.running, seen.asked, seen.answered) == (0, 0, 960, 960)
    assert (
        not engine._scheduler.sessions
        and not engine._scheduler.runs
        and engine._scheduler.askers == 0
    )
    assert sum(size * n for size, n in seen.batch_sizes) == 960
    assert sum(seen.latencies) == 960 and seen.latency_seconds > 0


async def test_every_batch_leaves_one_log_line(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "explorer.engine")
    await engine.ask(Echo(), Ask("a secret"))
    engine.close(60)  # the line may come after the answer
    (record,) = [record for record in caplog.records if record.name == "explorer.engine.worker"]
    assert {"requests": 1, "outcome": "done"}.items() <= record.facts.items()
    assert "secret" not in str(record.__dict__)
