"""What a connection may begin and not finish, and how what is no request is answered."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from explorer.components import base
from explorer.web import connection
from explorer.web.connection import Connection
from explorer.web.server import Site
from tests.explorer.wishes import alone

Act = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[Any]]
WHOLE = b"GET /healthz HTTP/1.1\r\nhost: here\r\n\r\n"
LONG = 30.0  # seconds; more than any machine needs


def connected(site: Site, act: Act, keep_alive: float = LONG) -> Any:
    """What somebody sees on one connection to the application."""

    async def whole() -> Any:
        config = uvicorn.Config(
            site.gate, http=Connection, log_config=None, timeout_keep_alive=keep_alive
        )  # type: ignore[arg-type]
        state = ServerState()
        server = await asyncio.get_running_loop().create_server(
            lambda: Connection(config, state, {}), "127.0.0.1", 0
        )
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        try:
            return await asyncio.wait_for(act(reader, writer), LONG)
        finally:
            writer.close()
            server.close()
            await asyncio.gather(*state.tasks, return_exceptions=True)

    return alone(whole())


def sent(*parts: bytes) -> Act:
    """All that comes back until the server closes; a pause stands between the parts."""

    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        for part in parts:
            writer.write(part)
            await asyncio.sleep(0.02)
        return await reader.read()

    return act


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that waits a moment only."""
    monkeypatch.setattr(connection, "HEAD", 0.1)
    monkeypatch.setattr(connection, "REST", 0.1)


HALVES = [b"G", WHOLE[:-2], WHOLE + WHOLE[:-2], b"POST /gradio_api/queue/join HTTP/1.1\r\nx-a"]


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.usefixtures("hasty")
def test_half_a_head_is_answered_and_closed(shell: Site, half: bytes) -> None:
    *_, last = connected(shell, sent(half)).split(b"HTTP/1.1 ")
    assert (
        last.startswith(b"408 ")
        and b"x-content-type-options: nosniff" in last
        and last.endswith(connection.LATE.encode())
    )


@pytest.mark.usefixtures("hasty")
def test_a_head_that_trickles_has_no_longer_than_one_that_stops(shell: Site) -> None:
    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        async def trickle() -> None:
            writer.write(WHOLE[:-2])
            while True:
                writer.write(b"x-a: b\r\n")
                await asyncio.sleep(0.01)

        trickling = asyncio.create_task(trickle())
        try:
            return await reader.readline()
        finally:
            trickling.cancel()

    assert connected(shell, act).startswith(b"HTTP/1.1 408")


@pytest.mark.usefixtures("hasty")
def test_the_rest_of_a_body_is_not_awaited(shell: Site) -> None:
    answer = connected(
        shell, sent(b"POST /nothing HTTP/1.1\r\nhost: here\r\ncontent-length: 9\r\n\r\n", b"x")
    )
    assert answer.startswith(b"HTTP/1.1 404") and answer.count(b"HTTP/1.1") == 1


def test_a_refused_body_is_read_in_pauses_and_to_its_end(
    shell: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    monkeypatch.setattr(connection.Unwanted, "pause", lambda _self, size: read.append(size) or 0.02)
    size = 3 << 20
    head = b"POST /nothing HTTP/1.1\r\nhost: here\r\ncontent-length: %d\r\n\r\n" % size

    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[bytes]:
        writer.write(head + b"x" * size + WHOLE)
        return [await reader.readuntil(end) for end in (b"address.", b"true}")]

    refused, alive = connected(shell, act)
    assert refused.startswith(b"HTTP/1.1 404") and alive.startswith(b"HTTP/1.1 200")
    assert len(read) > 3 and size / 2 < sum(read) <= size


def test_refused_bodies_share_one_pace() -> None:
    now = 0.0
    unwanted = connection.Unwanted(lambda: now)
    assert [unwanted.pause(connection.UNWANTED) for _ in range(3)] == [1, 2, 3]
    now = 9.0
    assert unwanted.pause(connection.UNWANTED) == 1


def test_silent_connections_time_out(shell: Site) -> None:
    assert connected(shell, sent(), keep_alive=0.1) == b""


@pytest.mark.usefixtures("hasty")
def test_whole_requests_one_after_another_meet_no_deadline(shell: Site) -> None:
    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[bytes]:
        told = []
        for pause in (0, 0.2, 0.2):
            await asyncio.sleep(pause)
            writer.write(WHOLE)
            head = await reader.readuntil(b"\r\n\r\n")
            told.append(head.partition(b"\r\n")[0])
            await reader.readexactly(len(b'{"alive":true}'))
        writer.write(WHOLE * 3)
        told += [await reader.readuntil(b"true}") for _ in range(3)]
        return told

    assert all(b"200" in answer for answer in connected(shell, act))


def test_who_takes_nothing_is_cut_off(shell: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "TAKES", 0.1)
    large = f"GET {base.write_vendor_address('plotly')} HTTP/1.1\r\nhost: here\r\n\r\n".encode()

    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(large * 20)
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            await asyncio.wait_for(ended.wait(), LONG)
            answer = await reader.read(1 << 30)
        return answer

    ended, lost = asyncio.Event(), Connection.connection_lost

    def losing(self: Connection, error: Exception | None) -> None:
        ended.set()
        lost(self, error)

    monkeypatch.setattr(Connection, "connection_lost", losing)
    assert len(connected(shell, act)) < 20 * len(base.find_vendor_file("plotly").read_bytes())


MALFORMED = [
    *(
        b"\r\n\r\n",
        b"\0" * 99,
        b"GET\r\n\r\n",
        b"GET / HTTP/9\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01" * 9 + b"\r\n\r\n",
    ),
    *(b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", b"GET /" + b"a" * 70_000),
    (
        b"POST /gradio_api/queue/join HTTP/1.1\r\nhost: a\r\ntransfer-encoding:"
        b" chunked\r\n\r\nnothing\r\n"
    ),
]


@pytest.mark.parametrize("request_", MALFORMED)
def test_bad_requests_get_every_header(shell: Site, request_: bytes) -> None:
    answer = connected(shell, sent(request_))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400") and body == connection.MALFORMED.encode()
    for name in (
        b"x-content-type-options: nosniff",
        b"content-security-policy: default-src 'none'",
        b"cache-control: no-store",
    ):
        assert name in head
    assert b"server:" not in head
