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

from explorer.gradio_adapter import streams
from explorer.gradio_adapter.streams import ANSWERED, CLOSING
from explorer.web.events import JOIN, read_event
from explorer.web.gate import DATA, Gate, build_rules
from tests.conftest import PATIENCE

USUAL = {
    "data": [],
    "event_data": {"sentence": "A dog."},
    "fn_index": 3,
    "trigger_id": 1,
    "session_hash": "abc",
}
KNOWN = {3: 0, 4: 1}  # event -> how many values it takes


def test_an_event_of_a_page_passes_unchanged() -> None:
    body = json.dumps(USUAL).encode()
    for known in (KNOWN, None):
        event = read_event(body, known)
        assert event is not None and event.body == body and event.session == "abc"


@pytest.mark.parametrize(
    "body",
    [
        *(
            b"",
            b"\xff\xfe",
            b"null",
            b"[]",
            b"{",
            b"[" * 100_000,
            b'{"fn_index":' + b"9" * 5_000 + b"}",
        ),
        *(
            json.dumps(USUAL | {"fn_index": number}).encode()
            for number in (5, -1, None, True, "3", 3.0, [3])
        ),
        *(
            json.dumps(USUAL | {"session_hash": session}).encode()
            for session in ("", "a" * 65, None, 7, ["abc"])
        ),
        *(json.dumps(USUAL | {"data": data}).encode() for data in (None, {}, "x", ["a text"])),
        *(
            json.dumps(USUAL | {"fn_index": 4, "data": data}).encode()
            for data in ([], ["a text"] * 2)
        ),
        *(
            json.dumps(USUAL | {"event_data": {"alpha": number}}).encode()
            for number in (float("nan"), float("inf"), -float("inf"))
        ),
        json.dumps(USUAL).encode().replace(b'"A dog."', b"1e999"),
    ],
)
def test_anything_else_is_refused(body: bytes) -> None:
    assert read_event(body, KNOWN) is None


def test_half_a_surrogate_pair_is_replaced() -> None:
    strange = USUAL | {
        "event_data": {"sentence": "half \ud83d, whole \ud83d\ude00"},
        "session_hash": "a\ud83d",
    }
    passed: Any = read_event(json.dumps(strange).encode(), KNOWN)
    told = json.loads(passed.body)
    assert (
        told["event_data"]["sentence"] == "half \ufffd, whole 😀"
        and passed.session == told["session_hash"] == "a\ufffd"
    )


class Pages:
    """A gate before an app that ends every stream of answers at once, and takes every event."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, lingers: float) -> None:
        monkeypatch.setattr(streams, "LINGERS", lingers)
        monkeypatch.setattr(streams, "HEARD", 0.0)
        self.asked = 0  # streams that the app was asked for
        # it has said so of the first; its answer ends then
        self.ended, self.ends = asyncio.Event(), asyncio.Event()
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
        self.gate = Gate(Starlette(routes=routes), build_rules([]), lambda path, html: html)
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=self.gate), base_url="http://here"
        )

    async def listen(self, session: str = "abc") -> str:
        """All that a stream of answers says."""
        answer = await self.client.get(DATA, params={"session_hash": session})
        assert answer.status_code == 200
        return answer.text

    async def ask(self, session: str = "abc") -> None:
        """Until an event is taken."""
        assert (
            await self.client.post(JOIN, json=USUAL | {"session_hash": session})
        ).status_code == 200


async def test_requests_at_a_streams_end_share_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A page that hears of its event before it hears that its stream has ended would open no other,
    and wait for ever."""
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


async def test_early_requests_are_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pages = Pages(monkeypatch, 0.0)
    pages.ends.clear()
    stream = asyncio.create_task(pages.listen())
    await pages.ended.wait()
    await pages.ask()  # Gradio has looked for the last time, and does not answer it on this stream
    pages.ends.set()
    said = await stream
    assert re.findall(r"data: (\d)", said) == ["1", "2"] and said.count("close_stream") == 1


async def test_requests_wait_for_a_closed_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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


async def test_an_unclosed_stream_is_not_awaited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pages = Pages(monkeypatch, 0.0)
    monkeypatch.setattr(streams, "HEARD", 0.05)
    assert (await pages.listen()).count("close_stream") == 1
