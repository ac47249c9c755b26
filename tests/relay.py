"""A line between browsers and a server that tests can hold back, break, freeze and lead to another
server."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

HOST = "127.0.0.1"
STREAM = b"/gradio_api/queue/data"
JOIN = b"POST /gradio_api/queue/join"
HEAD = b"\r\n\r\n"  # the end of the head of an answer
PIECE = 1 << 16  # bytes that are handed on at once


@dataclass(eq=False)
class _Connection:
    browser: asyncio.StreamWriter
    server: asyncio.StreamWriter
    streams: bool = False  # does it carry a stream of answers?
    begins: bool = False  # has nothing of that come yet?
    frozen: bool = False

    def abort(self) -> None:
        for writer in (self.browser, self.server):
            _abort(writer)


@dataclass
class Relay:
    """Hands on what browsers and the server on a port say to each other; entering it as a context
    begins that.

    holds: are answers kept from the browser that come on a stream of answers? away: is nobody let
    through? joined, streams: how many events have passed, and streams of answers begun.
    """

    port: int
    holds: bool = False
    away: bool = False
    joined: int = 0
    streams: int = 0
    url: str = ""
    _connections: set[_Connection] = field(default_factory=set)

    def __enter__(self) -> Self:
        self._loop, listening = asyncio.new_event_loop(), threading.Event()
        self._thread = threading.Thread(target=self._run, args=(listening,), daemon=True)
        self._thread.start()
        listening.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def cut(self, away: bool = True) -> None:
        """Every connection breaks; away: nobody is let through from now on."""
        self.away = away
        self._break(lambda _one: True)

    def freeze(self) -> None:
        """The streams of answers say nothing any more, and do not break; all other connections do,
        as in a sleep of the machine."""
        for one in list(self._connections):
            one.frozen = one.streams
        self._break(lambda one: not one.frozen)

    def lead(self, port: int) -> None:
        """Browsers are let through, to the server on this port."""
        self.port, self.away = port, False

    def _break(self, which: Callable[[_Connection], bool]) -> None:
        """Breaks connections, before any of what is held back passes."""
        broken = threading.Event()

        def abort() -> None:
            for one in filter(which, list(self._connections)):
                one.abort()
            self.holds = False
            broken.set()

        self._loop.call_soon_threadsafe(abort)
        broken.wait()

    def _run(self, listening: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._visitor, HOST, 0))
        self.url = f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
        listening.set()
        self._loop.run_forever()
        server.close()
        for one in list(self._connections):
            one.abort()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))

    async def _visitor(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.away:
            _abort(writer)
            return
        try:
            back_reader, back_writer = await asyncio.open_connection(HOST, self.port)
        except OSError:
            _abort(writer)
            return
        one = _Connection(writer, back_writer)
        self._connections.add(one)
        try:
            await asyncio.gather(self._asks(one, reader), self._answers(one, back_reader))
        except (OSError, asyncio.CancelledError):
            pass  # one side is gone, and so is the other; or all of it ends
        finally:
            one.abort()
            self._connections.discard(one)

    async def _asks(self, one: _Connection, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(PIECE):
            if one.frozen:
                continue
            one.streams = one.begins = STREAM in data
            one.server.write(data)
            self.joined += JOIN in data
        if not one.frozen:
            with contextlib.suppress(OSError):
                one.server.write_eof()

    async def _answers(self, one: _Connection, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(PIECE):
            # a browser asks again by itself where it has not heard even that its request was taken
            if one.begins:
                one.begins = False
                self.streams += 1
                head, end, data = data.partition(HEAD)
                one.browser.write(head + end)
            while self.holds and one.streams and not one.frozen and not one.browser.is_closing():
                await asyncio.sleep(0.01)
            if one.frozen:
                continue
            one.browser.write(data)
            await one.browser.drain()
        if not one.frozen:
            one.browser.write_eof()


def _abort(writer: asyncio.StreamWriter) -> None:
    """Breaks a connection at once."""
    writer.transport.abort()
    writer.close()
