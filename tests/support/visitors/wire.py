"""HTTP/1.1 as a browser speaks it to one host: connections that stay open, at most six at once,
answers read whole or event by event.

It uses no library: three hundred visitors share one core, and no library would let some of their
requests pass.
"""

from __future__ import annotations

import asyncio
import contextlib
import zlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

import brotli

CONNECTIONS = 6  # of a browser to one host
LONGEST = 16 << 20  # bytes of one line or event, at most


class Lost(Exception):
    """The error for a connection that the server closed in the middle of an answer."""


@dataclass(frozen=True)
class Reply:
    """An answer: status, headers by lower-case name, and the body as it came."""

    status: int
    headers: dict[str, str]
    body: bytes

    def text(self) -> str:
        """Return the body, unpacked. Raise ValueError for an unexpected encoding."""
        encoding = self.headers.get("content-encoding", "identity")
        if encoding == "br":
            return str(brotli.decompress(self.body).decode())
        if encoding == "gzip":
            return zlib.decompress(self.body, 16 + zlib.MAX_WBITS).decode()
        if encoding == "identity":
            return self.body.decode()
        raise ValueError(f"an answer encoded as {encoding}")


def written(
    method: str, path: str, headers: Sequence[tuple[str, str]], body: bytes | None = None
) -> bytes:
    """Return a request as it goes over the wire. `headers` carry no content-length."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    if body is not None:
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + (body or b"")


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.used = False

    async def head(self, request: bytes) -> tuple[int, dict[str, str]]:
        """Send a request and read the first part of its answer."""
        self._writer.write(request)
        first, *lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines if line)
        }
        return int(first.split(" ", 2)[1]), headers

    async def parts(self, status: int, headers: dict[str, str]) -> AsyncGenerator[bytes, None]:
        """Yield the body as it comes."""
        if status in {204, 304}:
            return
        if headers.get("transfer-encoding") != "chunked":
            yield await self._reader.readexactly(int(headers.get("content-length", "0")))
            return
        while size := int((await self._reader.readline()).strip() or b"-1", 16):
            if size < 0:
                raise asyncio.IncompleteReadError(b"", None)
            part = await self._reader.readexactly(size + 2)
            yield part[:-2]
        await self._reader.readline()

    def close(self) -> None:
        """Close the connection at once, as a closed tab does."""
        self._writer.transport.abort()


class Connections:
    """One browser's connections to the server."""

    def __init__(self, host: str, port: int, own: str | None = None) -> None:
        """Set the server's address.

        own: the address of this machine from which the browser speaks; loopback has many.
        """
        self._address = host, port
        self._own = None if own is None else (own, 0)
        self._free: list[_Connection] = []
        self._places = asyncio.Semaphore(CONNECTIONS)

    async def ask(self, request: bytes) -> Reply:
        """Return the answer to a request, read whole. Raise Lost, or OSError where no server
        listens."""
        parts: list[bytes] = []
        async with self._places, self._answer(request) as (connection, status, headers):
            async for part in connection.parts(status, headers):
                parts.append(part)  # noqa: PERF401 - what came before a loss is kept for the error
        return Reply(status, headers, b"".join(parts))

    async def events(self, request: bytes) -> AsyncGenerator[bytes, None]:
        """Yield the events of a text/event-stream, one by one, without their blank lines. Raise
        Lost, also for any other answer."""
        async with self._places, self._answer(request) as (connection, status, headers):
            if status != 200 or not headers.get("content-type", "").startswith("text/event-stream"):
                raise Lost(f"status {status} instead of a stream of events")
            rest = b""
            async with contextlib.aclosing(connection.parts(status, headers)) as parts:
                async for part in parts:
                    *whole, rest = (rest + part).split(b"\n\n")
                    for event in whole:
                        yield event

    def close(self) -> None:
        """Close every connection that waits for a next request."""
        while self._free:
            self._free.pop().close()

    @contextlib.asynccontextmanager
    async def _answer(
        self, request: bytes
    ) -> AsyncGenerator[tuple[_Connection, int, dict[str, str]], None]:
        connection = None
        try:
            while True:
                connection = self._free.pop() if self._free else await self._opened()
                try:
                    status, headers = await connection.head(request)
                except (OSError, asyncio.IncompleteReadError):
                    connection.close()
                    if not connection.used:
                        raise
                    # the server had closed it while it waited, as servers do; browsers try again
                    continue
                break
            connection.used = True
            yield connection, status, headers
        except (
            asyncio.IncompleteReadError,
            ConnectionResetError,
            BrokenPipeError,
            ValueError,
        ) as error:
            if connection is not None:
                connection.close()
            raise Lost(
                f"{type(error).__name__} while reading the answer to {request[:80]!r}"
            ) from None
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        if headers.get("connection", "").lower() == "close":
            connection.close()
        else:
            self._free.append(connection)

    async def _opened(self) -> _Connection:
        return _Connection(
            *await asyncio.open_connection(*self._address, limit=LONGEST, local_addr=self._own)
        )
