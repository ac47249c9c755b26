"""What the gate lets through as an event of a page, and when the page hears that it was taken."""

from __future__ import annotations

import asyncio
import json
import time

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from explorer.gate import CLOSING, DATA, JOIN, SETTLED, Gate, _event, rules

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
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{",
        b"[" * 100_000,
        b'{"fn_index":' + b"9" * 5_000 + b"}",
        *(json.dumps(USUAL | {"fn_index": number}).encode() for number in (5, -1, None, True, "3", 3.0, [3])),
        *(json.dumps(USUAL | {"session_hash": session}).encode() for session in ("", "a" * 65, None, 7, ["abc"])),
        *(json.dumps(USUAL | {"data": data}).encode() for data in (None, {}, "x")),
        *(json.dumps(USUAL | {"event_data": {"alpha": number}}).encode() for number in (float("nan"), float("inf"), -float("inf"))),
        json.dumps(USUAL).encode().replace(b'"A dog."', b"1e999"),
    ],
)
def test_anything_else_is_refused(body: bytes) -> None:
    assert _event(body, KNOWN) is None


def test_half_a_surrogate_pair_becomes_the_sign_for_what_cannot_be_read() -> None:
    body = json.dumps(USUAL | {"event_data": {"sentence": "half \ud83d, whole \ud83d\ude00"}}).encode()
    passed = _event(body, KNOWN)
    assert passed is not None
    assert json.loads(passed.body)["event_data"]["sentence"] == "half \ufffd, whole 😀"


def test_half_a_surrogate_pair_in_the_name_of_a_page_is_the_same_sign_everywhere() -> None:
    passed = _event(json.dumps(USUAL | {"session_hash": "a\ud83d"}).encode(), KNOWN)
    assert passed is not None
    assert passed.session == json.loads(passed.body)["session_hash"] == "a\ufffd"


def test_a_page_whose_stream_has_just_ended_is_told_of_its_next_event_after_it_has_heard_of_that() -> None:
    """A page that hears of its event first takes the old stream for an open one, and never opens another."""

    async def data(request: Request) -> Response:
        return Response(CLOSING + b',"event_id":null}\n\n', media_type="text/event-stream")

    async def taken(request: Request) -> Response:
        return JSONResponse({"event_id": "1"})

    async def seconds() -> list[float]:
        gate = Gate(Starlette(routes=[Route(DATA, data), Route(JOIN, taken, methods=["POST"])]), rules([]), lambda path, html: html)
        found = []
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=gate), base_url="http://here") as client:

            async def joined(session: str) -> None:
                began = time.monotonic()
                assert (await client.post(JOIN, json=USUAL | {"session_hash": session})).status_code == 200
                found.append(time.monotonic() - began)

            assert (await client.get(DATA, params={"session_hash": "abc"})).status_code == 200
            await joined("other")
            await joined("abc")
            await joined("abc")
        return found

    other, first, second = asyncio.run(seconds())
    assert first > 0.8 * SETTLED > other and second < 0.2 * SETTLED
