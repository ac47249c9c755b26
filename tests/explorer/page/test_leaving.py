"""Who leaves frees the worker, whoever it is: a visitor whose page closes, one who stops, and the
server itself."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from explorer.engine import Busy, Engine
from explorer.gradio_adapter.queue_events import ENDED, cancel_events, forget_page
from explorer.web.server import Site
from explorer.web.site import build_blocks
from tests.conftest import Running, built
from tests.explorer.asking import Stream, event, join, raw

LONG = (
    "A man in a red shirt and a woman in a blue dress are walking along a street with their small"
    " dog while children play soccer."
)
SHORT = "a small dog runs."
SOON = 2.0  # seconds in which a worker is free again
PATIENCE = 90.0  # seconds after which a test has failed on any machine
SLOW = ["-m", "tests.slow_site", "PORT"]


@pytest.fixture(scope="module")
def slow() -> Iterator[Running]:
    """A server whose translator pauses before each word, and comes to no end with a long sentence;
    the last of these tests ends it."""
    server = Running(command=[*SLOW, "4"], EXPLORER_METRICS="1", HOLD="30", PAUSE="0.1")
    server.start()
    yield server
    server.close()


def wish(number: int, beam: int = 1, words: str = LONG) -> dict[str, object]:
    """A sentence that nobody else asks for."""
    return given(f"{number} times: {words}", beam)


def given(sentence: str, beam: int = 1) -> dict[str, object]:
    """A wish for a translation, as the page sends it."""
    return {"query": "", "set": {"sentence": sentence, "beam": str(beam)}}


def runs(server: Running) -> int:
    """Requests that wait or are computed now."""
    text = raw(server.url, "GET", "/metrics")[1].decode()
    return sum(
        int(count)
        for count in re.findall(r'^explorer_queue\{state="\w+"\} (\d+)$', text, flags=re.M)
    )


def until(true: Callable[[], bool], seconds: float) -> float:
    """Waits; how long it took."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < seconds, f"not within {seconds} s"
        time.sleep(0.02)
    return time.monotonic() - began


def late(server: Running) -> float:
    """Seconds that a machine with other things to do may take longer, by how long it takes over
    nothing."""
    began = time.monotonic()
    for _ in range(5):
        raw(server.url, "GET", "/healthz")
    return 20 * (time.monotonic() - began) / 5


def streaming(server: Running, session: str, number: int, words: str = LONG) -> tuple[Stream, str]:
    """A visitor in the middle of a stream: its connection, and the name of its event."""
    until(lambda: runs(server) == 0, PATIENCE)
    name = join(
        server.url, event(server.url, "/translation", "ask"), wish(number, words=words), session
    )
    stream = Stream(server.url, session)
    stream.until(lambda message: "running" in json.dumps(message.get("output")))
    assert runs(server) == 1
    return stream, name


def cancels(server: Running, session: str, name: str | None) -> int:
    """Cancels an event of a page, all of them without a name; the status of the answer."""
    body = json.dumps(
        {
            "session_hash": session,
            "fn_index": event(server.url, "/translation", "ask"),
            "event_id": name,
        }
    )
    return raw(
        server.url, "POST", "/gradio_api/cancel", body, {"content-type": "application/json"}
    )[0]


def freed(server: Running, soon: float = SOON) -> bool:
    """Is the worker free again soon?"""
    return until(lambda: runs(server) == 0, PATIENCE) < soon + late(server)


def completed(message: dict[str, Any]) -> bool:
    return bool(message["msg"] == "process_completed")


def test_a_connection_that_breaks_in_mid_stream_frees_the_worker(slow: Running) -> None:
    stream, _ = streaming(slow, "breaks", 1)
    stream.close()
    assert freed(slow)


@pytest.mark.parametrize("named", [True, False])
def test_cancelling_frees_the_worker(slow: Running, named: bool) -> None:
    stream, name = streaming(slow, f"cancels{named}", 2 + 100 * named)
    assert cancels(slow, f"cancels{named}", name if named else None) == 200 and freed(slow)
    *_, last, end = stream.messages + list(stream)
    assert (last["msg"], last["event_id"], last["output"]) == (
        "process_completed",
        name,
        {"error": ENDED},
    ) and not last["success"]
    assert end["msg"] == "close_stream"
    stream.close()


def test_a_leaving_script_frees_the_worker(
    slow: Running,
) -> None:
    until(lambda: runs(slow) == 0, PATIENCE)
    known = json.loads(raw(slow.url, "GET", "/config")[1])["dependencies"]
    number, inputs = next(
        (one["id"], one["inputs"]) for one in known if one["api_name"] == "translation"
    )
    data = [f"script: {LONG}", *[None] * (len(inputs) - 2), []]
    body = json.dumps({"data": data, "fn_index": number, "session_hash": "script"})
    assert (
        raw(slow.url, "POST", "/gradio_api/queue/join", body, {"content-type": "application/json"})[
            0
        ]
        == 200
    )
    stream = Stream(slow.url, "script")
    until(lambda: runs(slow) == 1, PATIENCE)
    stream.close()
    assert freed(slow)


def test_of_two_events_of_a_page_the_other_goes_on(slow: Running) -> None:
    stream, _ = streaming(slow, "two", 3, SHORT)
    number = event(slow.url, "/translation", "ask")
    gone = join(slow.url, number, {**wish(103), "wished": 1}, "two")
    kept = join(slow.url, number, {**wish(104, words=SHORT), "wished": 2}, "two")
    assert cancels(slow, "two", gone) == 200
    ends = {message["event_id"]: message["success"] for message in stream if completed(message)}
    assert ends[kept] and not ends[gone] and stream.messages[-1]["msg"] == "close_stream"
    stream.close()


def test_who_leaves_without_listening_leaves_nothing_behind() -> None:
    engine = Engine()
    engine.close(0)
    queue = built(lambda: build_blocks((), engine)._queue)
    queue.pending_messages_per_session["gone"] = asyncio.Queue()
    queue.pending_event_ids_session["gone"] = {"a", "b"}
    asyncio.run(cancel_events(queue, "gone", "a", heard=False))
    assert queue.pending_event_ids_session["gone"], "another is still under way"
    asyncio.run(cancel_events(queue, "gone", None, heard=False))
    assert not queue.pending_event_ids_session and not queue.pending_messages_per_session


def test_finished_pages_leave_nothing_behind() -> None:
    engine = Engine()
    engine.close(0)
    queue: Any = built(lambda: build_blocks((), engine)._queue)
    pages, asked = queue.pending_messages_per_session, queue.pending_event_ids_session
    pages.max_size, queue.event_ids_to_events = 3, {"runs": None}
    for session, events in {
        "runs": {"runs"},
        **{f"over{i}": {f"over{i}"} for i in range(5)},
    }.items():
        pages[session], asked[session] = asyncio.Queue(), events
    assert set(pages) == set(asked) == {"runs", "over3", "over4"}
    queue.event_ids_to_events |= {"over3": None, "over4": None}
    pages["one more"], asked["one more"] = asyncio.Queue(), set()
    assert len(pages) == 4, "all of them are under way"
    for session in ("one more", "runs", "nobody"):
        forget_page(queue, session)
    assert set(pages) == set(asked) == {"runs", "over3", "over4"}, (
        "one that has asked for more by now is kept"
    )


def test_those_who_leave_the_queue_leave_no_work_behind(slow: Running) -> None:
    stream, _ = streaming(slow, "first", 5)
    number, streams = event(slow.url, "/translation", "ask"), []
    for i in range(12):
        join(slow.url, number, wish(100 + i, beam=8), f"waits{i}")
        streams.append(Stream(slow.url, f"waits{i}"))
    for one in [*streams, stream]:
        one.close()
    assert freed(slow, 2 * SOON), "what is being computed ends, nothing new begins"


def test_a_cancel_of_somebody_elses_event_needs_its_name(slow: Running) -> None:
    stream, _ = streaming(slow, "victim", 8, SHORT)
    for session, name in (
        ("victim", "0" * 32),
        ("other", "0" * 32),
        ("other", ""),
        ("victi", None),
        ("", None),
        ("*", None),
    ):
        cancels(slow, session, name)
    assert stream.until(completed)["success"]
    stream.close()


def test_a_taken_event_may_still_ask() -> None:
    site, ended = built(lambda: Site((), grace=60)), threading.Event()
    events: dict[str, object] = site.blocks._queue.event_ids_to_events
    events["taken"] = "whatever Gradio holds of it"
    site.drain(ended.set)
    assert not ended.wait(0.2), "one is on its way"
    assert asyncio.run(site.engine.ask("builtins:sorted", "request")).value == "request"
    del events["taken"]
    assert ended.wait(PATIENCE)
    with pytest.raises(Busy, match="closing"):
        asyncio.run(site.engine.ask("builtins:sorted", "another"))


def test_a_server_that_nobody_uses_costs_nothing(slow: Running) -> None:
    until(lambda: runs(slow) == 0, PATIENCE)

    def seconds() -> float:
        text = raw(slow.url, "GET", "/metrics")[1].decode()
        return float(re.findall(r"^process_cpu_seconds_total (\S+)$", text, flags=re.M)[0])

    time.sleep(0.5)
    before, began = seconds(), time.monotonic()
    time.sleep(1)
    assert (seconds() - before) / (time.monotonic() - began) < 0.04, (
        "an idle server is busy with something"
    )


def test_running_work_ends_with_a_last_word(
    slow: Running,
) -> None:
    short, _ = streaming(slow, "short", 7, SHORT)
    join(slow.url, event(slow.url, "/translation", "ask"), wish(9), "last")
    stream = Stream(slow.url, "last")
    slowness = late(slow)
    slow.signal(signal.SIGTERM)
    until(lambda: draining(slow), PATIENCE)
    assert raw(slow.url, "GET", "/translation")[0] == 200, (
        "it listens on, but says that it wants no new visitors"
    )
    assert short.until(completed)["success"], short.messages
    short.close()
    stream.until(completed)
    stream.close()
    assert "closing for a restart" in json.dumps(stream.messages), stream.messages[-3:]
    assert slow.wait(PATIENCE) == 0, slow.log()
    assert "Traceback" not in slow.log(), slow.log()
    assert (
        drained(slow)["all_answered"] is False
        and float(str(drained(slow)["seconds"])) < 5 + slowness
    )


def draining(server: Running) -> bool:
    """Does it say that it is leaving?"""
    return bool(json.loads(raw(server.url, "GET", "/readyz")[1])["draining"])


def drained(server: Running) -> dict[str, object]:
    """What the server said of its last drain."""
    return [json.loads(line) for line in server.log().splitlines() if '"said": "drained"' in line][
        -1
    ]
