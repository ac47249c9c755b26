"""The streams on which pages get their answers.

They are Gradio's, kept open for a while after the last answer, and noted when they end.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

WRITTEN_FOR = "6.31.0"  # the version of Gradio

CLOSING = b'data: {"msg":"close_stream"'  # the last message of a page's stream of answers
ANSWERED = b'data: {"msg":"process_completed"'  # the last message of one event
BROKEN = b'data: {"msg":"unexpected_error"'
# The last messages of a stream whose session is not known: its page closes it and is free to ask
# again.
UNKNOWN = (
    b'data: {"msg":"unexpected_error","event_id":null,"message":"This run is not known here any'
    b' more: asking again starts it anew.","session_not_found":true,"success":false}\n\ndata:'
    b' {"msg":"close_stream","event_id":null}\n\n'
)
# Seconds that a stream stays open after its last answer, because a visitor often goes on at once.
LINGERS = 2.0
HEARD = 3.0  # seconds that a page has to close its stream after the message that it ends


class Streams:
    """Serves the stream of each page, and answers the events that the page sends during it."""

    def __init__(
        self,
        app: ASGIApp,
        left: Callable[[str, str | None, bool], Awaitable[None]] | None = None,
        answered: Callable[[str], None] = lambda _session: None,
    ) -> None:
        """Wrap the application that serves streams.

        app: answers a stream.
        left: called as left(session, None, False) for a page that was left before all was answered.
        answered: called with the session whose stream has ended after its last answer.
        """
        self.app = app
        self.left = left
        self.answered = answered
        # session -> set when the page asks again after the stream's last answer
        self.lingering: dict[str, asyncio.Event] = {}
        # session -> set when the page has closed the stream whose end was announced
        self.closing: dict[str, asyncio.Event] = {}
        self._open: Counter[str] = Counter()  # session -> open streams of its answers

    def __contains__(self, session: str) -> bool:
        """Return whether a stream of that page is open."""
        return session in self._open

    async def serve_stream(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one stream; a stream whose session Gradio does not know says so and ends.

        Gradio ends a stream when nothing is under way. A page that asks at that very moment takes
        the old stream for an open one, opens none, and would wait for ever. So the stream stays
        open for a while after the last answer, and events of that time are answered on it. A later
        event is taken once the page has closed the stream, however late it learns of its end. Where
        the connection breaks before that, the page's events end: Gradio itself notices a broken
        connection only if it looks in time.
        """
        stream = _Stream(send)
        self._open[session] += 1
        try:
            while True:
                stream.listen()
                self.lingering[session] = stream.asked
                await self.app(scope, receive, stream)
                if stream.over is None:
                    break
                if not await self._wait_for_event(session, stream, receive):
                    await stream.announce_end(receive)
                    break
            await stream.end()
        except Exception:
            # Gradio raises in the middle of an answer the error that it has just sent in it.
            if not stream.unknown:
                raise
            await stream.end()
        finally:
            stream.closed.set()
            self._stop_listening(session, stream)
            if self.closing.get(session) is stream.closed:
                del self.closing[session]
            self._open[session] -= 1
            if not self._open[session]:
                del self._open[session]
                if stream.over:
                    self.answered(session)
                elif self.left is not None and not stream.unknown:
                    await self.left(session, None, False)

    async def _wait_for_event(self, session: str, stream: _Stream, receive: Receive) -> bool:
        """Return whether a page asks for something on a stream that has nothing more to send.

        If it does not, the stream must announce its end.
        """
        self.lingering[session] = stream.asked
        waiting = {
            asyncio.ensure_future(stream.asked.wait()),
            asyncio.ensure_future(_wait_for_disconnect(receive)),
        }
        try:
            await asyncio.wait(waiting, timeout=LINGERS, return_when=asyncio.FIRST_COMPLETED)
            again = stream.asked.is_set() and self._open[session] == 1
            if not again:
                self.closing[session] = stream.closed
            return again
        finally:
            self._stop_listening(session, stream)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    def _stop_listening(self, session: str, stream: _Stream) -> None:
        """Stop noting on this stream that its page asks."""
        if self.lingering.get(session) is stream.asked:
            del self.lingering[session]

    def join_stream(self, session: str, send: Send) -> Send:
        """Return the sending side of the answer to an event.

        The event's stream goes on, or the page, which has closed the old one by then, opens
        another.
        """

        async def send_when_open(message: Message) -> None:
            if message["type"] == "http.response.start":
                if session in self.lingering and message["status"] == 200:
                    self.lingering[session].set()
                if session in self.closing:
                    await self.closing[session].wait()
            await send(message)

        return send_when_open


class _Stream:
    """The sending side of a page's stream: one answer of everything sent until `end`."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False
        self.over: bytes | None = None  # Gradio's last message, once all is answered
        self.unknown = False  # whether the session is not known
        self.asked = asyncio.Event()
        self.closed = asyncio.Event()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if self._begun:
                return
            self._begun = True
        body = message.get("body", b"")
        if body.startswith(ANSWERED):
            self.asked.clear()
        if body.startswith(CLOSING):
            self.over = body
            return
        if body.startswith(BROKEN) and b'"session_not_found":true' in body:
            self.unknown, message = True, {**message, "body": UNKNOWN}
        if message["type"] == "http.response.start" or body:
            await self._send({**message, "more_body": True} if body else message)

    def listen(self) -> None:
        """Expect more messages."""
        self.over = None
        self.asked.clear()

    async def announce_end(self, receive: Receive) -> None:
        """Send that all is answered, and wait until the page has closed the stream.

        The wait ends after `HEARD` seconds in any case.
        """
        await self._send(
            {"type": "http.response.body", "body": self.over or b"", "more_body": True}
        )
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(_wait_for_disconnect(receive), HEARD)

    async def end(self) -> None:
        """End the answer, if there is one."""
        if self._begun:
            await self._send({"type": "http.response.body", "body": b""})


async def _wait_for_disconnect(receive: Receive) -> None:
    """Return once the connection of a request breaks."""
    while (await receive())["type"] != "http.disconnect":
        pass
