"""The bodies that the gate takes: their size, structure, form and pace."""

from __future__ import annotations

import asyncio
import json
import tempfile
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from explorer.web import bodies
from explorer.web.bodies import BODIES, BODY
from explorer.web.events import CANCEL, RESET
from explorer.web.gate import DATA
from explorer.web.server import Site
from tests.explorer.asking import ask

JOIN = "/gradio_api/queue/join"
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize("length", [str(BODY + 1), "99999999999999999999", "-1", "many", "٣", None])
def test_too_large_bodies_are_refused_or_cut(shell: Site, length: str | None) -> None:
    read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal read
        while read < 100:
            read += 1
            yield b"x" * (1 << 20)

    headers = {"content-length": length.encode()} if length else {}
    assert ask(shell, JOIN, "POST", content=body(), headers=headers).status_code == 413
    assert read < 100 and (length is None or read == 0), "its body was asked for"


def test_what_arrives_never_becomes_a_file(
    shell: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    body = b"--x\r\nContent-Disposition: form-data; name=a; filename=b\r\n\r\n" * 50_000
    for kind in ("application/json", "multipart/form-data; boundary=x", "image/png"):
        ask(shell, JOIN, "POST", content=body, headers={"content-type": kind})
    assert list(tmp_path.rglob("*")) == []


class Senders:
    """Requests whose bodies arrive in part."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.waiting: list[asyncio.Task[int]] = []

    async def post(self, content: Any, address: str = "", **headers: str) -> int:
        """The status of the answer to a whole request."""
        return (await self.answer(content, address, **headers)).status_code

    async def answer(
        self, content: Any, address: str = "", path: str = JOIN, **headers: str
    ) -> httpx.Response:
        """The answer to a whole request."""
        transport = httpx.ASGITransport(app=self.site.gate, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.post(path, content=content, headers=headers)

    async def begin(self, size: int, address: str) -> None:
        """One more that sends so many bytes of as many as a request may have, and nothing more."""
        arrived = asyncio.Event()

        async def slowly() -> AsyncIterator[bytes]:
            yield b"x" * size
            arrived.set()  # asked for more: these were taken
            await asyncio.Event().wait()

        self.waiting.append(
            asyncio.create_task(self.post(slowly(), address, **{"content-length": str(BODY)}))
        )
        await arrived.wait()

    async def leave(self) -> None:
        """All of them."""
        for task in self.waiting:
            task.cancel()
        await asyncio.gather(*self.waiting, return_exceptions=True)


@pytest.fixture
def senders(shell: Site) -> Senders:
    """Who share one server."""
    return Senders(shell)


async def test_who_says_much_and_sends_little_takes_no_place(senders: Senders) -> None:
    for _ in range(BODIES // BODY + 9):
        await senders.begin(1, "idle")
    assert [
        await senders.post(content, who)
        for content, who in ((b"{}", ""), (b"x" * BODY, ""), (b"x" * BODY, "idle"))
    ] == [422] * 3
    await senders.leave()


async def test_arrived_bytes_are_bounded(senders: Senders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODIES", 4 * BODY)
    monkeypatch.setattr(bodies, "SHARE", 2 * BODY)

    async def seen(size: int, *addresses: str) -> list[int]:
        return [await senders.post(b"x" * size, who) for who in addresses]

    # whoever has one of IPv6 has its /64
    first, second, neighbour, other = "203.0.113.1", "2001:db8::1", "2001:db8::2", "203.0.113.2"
    for address, again, expected in ((first, first, [503, 422]), (second, neighbour, [503, 503])):
        await senders.begin(BODY, address)
        await senders.begin(BODY, again)
        assert await seen(BODY, address, other) == expected
        assert await seen(bodies.SMALL, address, other) == [422, 422]
    await senders.leave()
    assert await seen(BODY, first, other) == [422, 422]


async def test_a_body_that_trickles_is_given_up(
    senders: Senders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "PATIENCE", 0.05)
    monkeypatch.setattr(bodies, "RATE", 1 << 20)

    async def trickle() -> AsyncIterator[bytes]:
        while True:
            yield b"x"
            await asyncio.sleep(0.01)

    assert await senders.post(trickle()) == 408


async def test_what_came_early_buys_no_silence(
    senders: Senders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "PATIENCE", 0.05)
    monkeypatch.setattr(bodies, "RATE", 1)

    async def silent() -> AsyncIterator[bytes]:
        yield b"x" * (1 << 20)
        await asyncio.Event().wait()

    answer = await asyncio.wait_for(senders.answer(silent(), path=senders.site.uploads[0].path), 60)
    assert answer.status_code == 408 and answer.text.endswith(".")


async def test_who_is_sent_away_hears_when_to_come_again(
    senders: Senders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(senders.site.gate, "_rates", bodies.Rates())
    monkeypatch.setattr(bodies, "SHARE", 0)
    full = await senders.answer(b"x" * BODY)
    monkeypatch.setattr(bodies, "BURST", 0)
    often = await senders.answer(b"x", "203.0.113.9")
    assert (full.status_code, often.status_code) == (503, 429)
    for answer in (full, often):
        assert int(answer.headers["retry-after"]) > 0 and answer.text.endswith(".")


async def test_an_address_that_asks_too_often_shuts_out_no_other(
    senders: Senders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(senders.site.gate, "_rates", bodies.Rates())
    monkeypatch.setattr(bodies, "BURST", 2)
    monkeypatch.setattr(bodies, "PER_SECOND", 1e-3)
    for forwarded in (
        {},
        {"x-forwarded-for": "192.0.2.1, 192.0.2.2"},
        {"x-forwarded-for": "made-up"},
    ):
        told = [await senders.post(b"x", "127.0.0.1", **forwarded) for _ in range(3)]
        assert told == [422, 422, 429]
    assert await senders.post(b"x", "127.0.0.1", **{"x-forwarded-for": "also no address"}) == 429
    assert (
        await senders.post(b"x", "127.0.0.1", **{"x-forwarded-for": "192.0.2.2, 192.0.2.3"}) == 422
    )
    body = b'{"session_hash": "a", "fn_index": 0, "event_id": "a"}'
    assert (await senders.answer(body, "127.0.0.1", CANCEL)).status_code == 200, (
        "who cancels asks for nothing"
    )


@pytest.mark.parametrize("path", [CANCEL, RESET, JOIN])
@pytest.mark.parametrize("begin", [b'{"data":[', b'{"event_id":"\\\\","session_hash":[', b"[" * 33])
def test_much_structure_is_refused_before_it_is_parsed(
    path: str, begin: bytes, senders: Senders, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal read
        for part in (begin, *[b"[]," * (bodies.SMALL // 3)] * 70):
            read += 1
            yield part

    def parse(text: str, **_how: Any) -> None:
        raise AssertionError("it is parsed")

    monkeypatch.setattr("explorer.web.events.json.loads", parse)
    answer = asyncio.run(senders.answer(body(), path=path, **JSON))
    assert answer.status_code == 422 and answer.text.count(".") == 1 and read <= 2


def test_structure_cannot_hide_in_another_encoding(shell: Site) -> None:
    # Ģ is 22 01 in UTF-16, of which the first is a quote to who counts bytes: what follows would
    # stand in a text.
    body = '{"event_id":"a","is":"Ģ","all":[' + "[]," * bodies.STRUCTURE + "[]]}"
    assert ask(shell, RESET, "POST", content=body.encode("utf-16-le")).status_code == 422


async def test_others_are_answered_while_a_large_body_is_parsed(
    senders: Senders, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def parse(text: str, **_how: Any) -> None:
        begun.set()
        assert go_on.wait(60)

    monkeypatch.setattr("explorer.web.gate.read_event", lambda body, _events: parse(body))
    sending = asyncio.create_task(senders.post(b'"' + b"x" * bodies.SMALL, **JSON))
    try:
        assert await asyncio.to_thread(begun.wait, 60)
        assert await senders.post(b"small") == 422 and not sending.done()
    finally:
        go_on.set()
    assert await sending == 422


@pytest.mark.parametrize("path", [CANCEL, RESET, JOIN])
@pytest.mark.parametrize(
    "body",
    [
        *(
            b'{"event_id": 1e999}',
            b'{"event_id": NaN}',
            b'{"event_id": -Infinity}',
            b'{"event_id": 7}',
            b'{"event_id": ["a"]}',
            b"[]",
            b"",
        ),
        *(
            b'{"event_id": "a", "fn_index": 1e999, "session_hash": "a"}',
            b'{"event_id": "a", "fn_index": 0, "session_hash": NaN}',
        ),
        *(
            b"null",
            b"{" * 9999,
            b'"\xff"',
            b'{"event_id": "a", "fn_index": 0, "session_hash": "a", "data": [], "batched": 1e999}',
        ),
        b'{"event_id": "a", "fn_index": 0, "session_hash": "a", "data": [], "trigger_id": "a"}',
    ],
)
def test_a_body_of_another_form_is_refused_in_one_sentence(
    shell: Site, path: str, body: bytes
) -> None:
    answer = ask(shell, path, "POST", content=body, headers=JSON)
    if path == RESET and answer.status_code == 200:
        assert type(json.loads(body)["event_id"]) is str, "its other fields are read by nobody"
    elif path == CANCEL and answer.status_code == 200:
        assert json.loads(body).keys() >= {
            "event_id",
            "fn_index",
            "session_hash",
        } and "1e999" not in str(body)
    else:
        assert answer.status_code == 422 and answer.headers["content-type"].startswith("text/plain")
        assert answer.text.count(".") == 1 and answer.text.endswith(".")


@pytest.mark.parametrize("session", ["x", "%F0%9F%8E%B9" * 9, "", "x" * 65, None])
def test_unknown_sessions_end_their_streams(shell: Site, session: str | None) -> None:
    answer = ask(shell, DATA + ("" if session is None else f"?session_hash={session}"))
    if not session or len(session) == 65:
        assert answer.status_code == 422 and answer.text.endswith(".")
    else:
        told, *rest = [
            json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n\n") if line
        ]
        assert told["msg"] == "unexpected_error" and [message["msg"] for message in rest] == [
            "close_stream"
        ]
        assert told["session_not_found"] and told["message"].endswith(".")
