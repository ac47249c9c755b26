"""What the gate lets through as an event of a page, and when the page hears that it was taken."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from explorer import streams
from explorer.gate import DATA, JOIN, Gate, _event, rules
from explorer.streams import ANSWERED, CLOSING
from tests.conftest import PATIENCE

USUAL = {"data": [], "event_data": {"sentence": "A dog."}, "fn_index": 3, "trigger_id": 1, "session_hash": "abc"}
KNOWN = frozenset({3, 4})


def test_an_event_of_a_page_passes_unchanged() -> None:
    body = json.dumps(USUAL).encode()
    for known in (KNOWN, None):
        event = _event(body, known)
        assert event is not None and event.body == body and event.session == "abc"


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"\xff\xfe", b"null", b"[]", b"{", b"[" * 100_000, b'{"fn_index":' + b"9" * 5_000 + b"}"),
        *(json.dumps(USUAL | {"fn_index": number}).encode() for number in (5, -1, None, True, "3", 3.0, [3])),
        *(json.dumps(USUAL | {"session_hash": session}).encode() for session in ("", "a" * 65, None, 7, ["abc"])),
        *(json.dumps(USUAL | {"data": data}).encode() for data in (None, {}, "x")),
        *(json.dumps(USUAL | {"event_data": {"alpha": number}}).encode() for number in (float("nan"), float("inf"), -float("inf"))),
        json.dumps(USUAL).encode().replace(b'"A dog."', b"1e999"),
    ],
)
def test_anything_else_is_refused(body: bytes) -> None:
    assert _event(body, KNOWN) is None


def test_half_a_surrogate_pair_becomes_the_sign_for_what_cannot_be_read_everywhere() -> None:
    strange = USUAL | {"event_data": {"sentence": "half \ud83d, whole \ud83d\ude00"}, "session_hash": "a\ud83d"}
    passed: Any = _event(json.dumps(strange).encode(), KNOWN)
    told = json.loads(passed.body)
    assert told["event_data"]["sentence"] == "half \ufffd, whole 😀" and passed.session == told["session_hash"] == "a\ufffd"


class Pages:
    """A gate before an app that ends every stream of answers at once, and takes every event."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, lingers: float) -> None:
        monkeypatch.setattr(streams, "LINGERS", lingers)
        monkeypatch.setattr(streams, "HEARD", 0.0)
        self.asked = 0  # streams that the app was asked for
        self.ended, self.ends = asyncio.Event(), asyncio.Event()  # it has said so of the first; its answer ends then
        self.ends.set()

        async def data(request: Request) -> Response:
            self.asked += 1

            async def said() -> AsyncGenerator[bytes, None]:
                yield b"data: %d\n\n" % self.asked
                yield ANSWERED + b',"event_id":"1"}\n\n'
                yield CLOSING + b',"event_id":null}\n\n'
                self.ended.set()
                await self.ends.wait()

            return StreamingResponse(said(), media_type="text/event-stream")

        async def taken(request: Request) -> Response:
            return JSONResponse({"event_id": "1"})

        routes = [Route(DATA, data), Route(JOIN, taken, methods=["POST"])]
        self.gate = Gate(Starlette(routes=routes), rules([]), lambda path, html: html)
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(app=self.gate), base_url="http://here")

    async def listen(self, session: str = "abc") -> str:
        """All that a stream of answers says."""
        answer = await self.client.get(DATA, params={"session_hash": session})
        assert answer.status_code == 200
        return answer.text

    async def ask(self, session: str = "abc") -> None:
        """Until an event is taken."""
        assert (await self.client.post(JOIN, json=USUAL | {"session_hash": session})).status_code == 200


async def test_what_a_page_asks_at_the_end_of_its_stream_is_answered_on_that_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that hears of its event before it hears that its stream has ended would open no other, and wait for ever."""
    pages = Pages(monkeypatch, PATIENCE)
    stream = asyncio.create_task(pages.listen())
    for count in (1, 2):
        while pages.asked < count or "abc" not in pages.gate._streams.lingering:
            await asyncio.sleep(0)
        await pages.ask("other")
        monkeypatch.setattr(streams, "LINGERS", PATIENCE if count == 1 else 0.0)
        await pages.ask()
    said = await stream
    assert pages.asked == 3 and re.findall(r"data: (\d)", said) == ["1", "2", "3"]
    assert said.count("close_stream") == 1 and said.endswith(',"event_id":null}\n\n')


async def test_what_a_page_asks_between_the_last_word_and_the_end_of_an_answer_is_answered_too(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = Pages(monkeypatch, 0.0)
    pages.ends.clear()
    stream = asyncio.create_task(pages.listen())
    await pages.ended.wait()
    await pages.ask()  # Gradio has looked for the last time, and does not answer it on this stream
    pages.ends.set()
    said = await stream
    assert re.findall(r"data: (\d)", said) == ["1", "2"] and said.count("close_stream") == 1


async def test_what_a_page_asks_as_its_stream_ends_is_taken_once_it_has_closed_that(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = Pages(monkeypatch, 0.0)
    monkeypatch.setattr(streams, "HEARD", PATIENCE)
    stream = asyncio.create_task(pages.listen())
    while "abc" not in pages.gate._streams.closing:
        await asyncio.sleep(0)
    asks = asyncio.create_task(pages.ask())
    await pages.ask("other")  # whose stream nobody waits for
    assert not asks.done()
    stream.cancel()  # the page has heard, and closes it
    await asks
    await pages.ask()
    assert dict(pages.gate._streams.closing) == {}


async def test_a_page_that_never_closes_its_stream_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = Pages(monkeypatch, 0.0)
    monkeypatch.setattr(streams, "HEARD", 0.05)
    assert (await pages.listen()).count("close_stream") == 1
