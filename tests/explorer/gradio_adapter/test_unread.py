"""What pages do not read is bounded, and what had to go is named by a sentence."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from gradio.queueing import Event
from gradio.server_messages import ProcessCompletedMessage, ProcessGeneratingMessage
from starlette.requests import Request

from explorer.engine import Engine
from explorer.gradio_adapter.queue_events import cancel_events
from explorer.gradio_adapter.unread import LEFT, UnreadBudget
from explorer.web.server import Site
from explorer.web.site import build_blocks
from tests.conftest import built
from tests.explorer.asking import ask

WORDS = "字" * 1000  # 3 kB of an answer


class Pages:
    """Gradio's queue with events of pages, as `join` leaves them."""

    def __init__(self, page: int, address: int = 1 << 30) -> None:
        """page, address: bytes that may wait unread."""
        engine = Engine()
        engine.close(0)
        self.queue: Any = built(lambda: build_blocks((), engine)._queue)
        self.unread = self.queue.pending_messages_per_session
        self.unread.bounds = UnreadBudget(self.queue, page, address)

    def take(self, session: str, address: str = "1.1.1.1") -> Any:
        """Take one event of a page from an address."""
        request = Request({"type": "http", "headers": [], "client": (address, 1)})
        function: Any = SimpleNamespace(concurrency_id="any", api_visibility="private")
        event = Event(session, function, request, None)
        if session not in self.unread:
            self.unread[session] = asyncio.Queue()
        self.queue.pending_event_ids_session.setdefault(session, set()).add(event._id)
        self.queue.event_ids_to_events[event._id] = event
        return event

    def answer(self, event: Any, words: str = WORDS) -> None:
        """Answer an event."""
        message = ProcessCompletedMessage(output={"data": [words]}, success=True)
        self.queue.send_message(event, message)

    def read(self, session: str) -> list[dict[str, Any]]:
        """Read all that waits for a page, as its stream is sent it."""
        waiting = self.unread[session]
        messages = [waiting.get_nowait() for _ in range(waiting.qsize())]
        return [json.loads(orjson.dumps(one.model_dump(), default=str)) for one in messages]


def test_a_page_keeps_its_newest_answers() -> None:
    pages = Pages(page=20_000)
    events = [pages.take("a") for _ in range(9)]
    for event in events:
        pages.answer(event)
        assert pages.unread.bounds.size <= 20_000
    read = pages.read("a")
    assert [one["event_id"] for one in read] == [event._id for event in events]
    left = [one["output"] == {"error": LEFT} for one in read]
    assert left == [True] * 6 + [False] * 3
    assert [one["success"] for one in read] == [not gone for gone in left]
    assert read[-1]["output"] == {"data": [WORDS]} and read[-1]["msg"] == "process_completed"
    assert pages.unread.bounds.size == 0


def test_sentences_too_are_bounded() -> None:
    pages = Pages(page=20_000)
    for _ in range(99):
        pages.answer(pages.take("a"))
    assert pages.unread.bounds.size <= 20_000
    read = pages.read("a")
    assert read[-1]["output"] == {"data": [WORDS]}
    waiting = pages.queue.pending_event_ids_session["a"]
    assert waiting == {one["event_id"] for one in read}, "none is waited for that is not told"


def test_an_answer_alone_may_be_larger() -> None:
    pages = Pages(page=1_000)
    pages.answer(pages.take("a"))
    assert pages.read("a")[0]["success"]


def test_an_address_keeps_its_newest_answers() -> None:
    pages = Pages(page=1 << 30, address=20_000)
    pages.answer(pages.take("elsewhere", "2.2.2.2"))
    for number in range(9):
        pages.answer(pages.take(f"page {number}"))
    assert pages.unread.bounds.size <= 20_000 + 5_000
    told = [pages.read(f"page {number}")[0]["success"] for number in range(9)]
    assert told == [False] * 6 + [True] * 3 and pages.read("elsewhere")[0]["success"]


def test_an_answer_that_grows_goes_as_a_whole() -> None:
    pages = Pages(page=20_000)
    growing, other = pages.take("a"), pages.take("a")
    pages.answer(other, "short")
    for _ in range(9):
        message = ProcessGeneratingMessage(output={"data": [WORDS]}, success=True)
        pages.queue.send_message(growing, message)
    assert not growing.alive and pages.unread.bounds.size <= 20_000
    read = {one["event_id"]: one["output"] for one in pages.read("a")}
    assert read == {growing._id: {"error": LEFT}, other._id: {"error": LEFT}}


def test_a_page_that_leaves_holds_nothing() -> None:
    pages = Pages(page=1 << 30)
    pages.answer(pages.take("a"))
    assert pages.unread.bounds.size > 3_000
    asyncio.run(cancel_events(pages.queue, "a", None, heard=False))
    assert pages.unread.bounds.size == 0 and "a" not in pages.unread


def test_metrics_count_every_bounded_store(shell: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLORER_METRICS", "1")
    text = ask(shell, "/metrics").text
    for store in ("answers", "arrays", "drawings", "frames", "results", "rows", "sounds"):
        assert f'explorer_held_bytes{{store="{store}"}}' in text
