"""The streams on which pages hear of their events: Gradio's, kept open for a while when all is answered, and noted when they end."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

CLOSING = b'data: {"msg":"close_stream"'  # the last word of a page's stream of answers
ANSWERED = b'data: {"msg":"process_completed"'  # of one event
BROKEN = b'data: {"msg":"unexpected_error"'
UNKNOWN = (  # what a stream says and ends with where its session is not known; its page then closes it and is free to ask again
    b'data: {"msg":"unexpected_error","event_id":null,"message":"This run is not known here any more: asking again starts it anew.",'
    b'"session_not_found":true,"success":false}\n\ndata: {"msg":"close_stream","event_id":null}\n\n'
)
LINGERS = 2.0  # seconds that a page's stream of answers stays open when all is answered: a visitor often goes on at once
HEARD = 3.0  # seconds that a page has to hear that its stream of answers ends: it closes it then


class Streams:
    """Answers each stream of a page, and the events that it sends meanwhile."""

    def __init__(
        self,
        app: ASGIApp,
        left: Callable[[str, str | None, bool], Awaitable[None]] | None = None,
        answered: Callable[[str], None] = lambda _session: None,
    ) -> None:
        """app: answers a stream. left(session, None, False): told of a page that was left before all was answered. answered(session): of
        one whose stream has ended after its last answer."""
        self.app = app
        self.left = left
        self.answered = answered
        self.lingering: dict[str, asyncio.Event] = {}  # session -> told when it asks again, since its stream told of an answer last
        self.closing: dict[str, asyncio.Event] = {}  # session -> told when it has closed the stream that it was told ends
        self._open: Counter[str] = Counter()  # session -> open streams of its answers

    def __contains__(self, session: str) -> bool:
        """Is a stream of that page open?"""
        return session in self._open

    async def answer(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        """One stream; one whose session Gradio does not know, or no longer, says so and ends.

        Gradio ends it when nothing is under way. A page that asks at that very moment takes the old stream for an open one, opens none,
        and would wait for ever: so it stays open for a while, and what the page asks meanwhile is answered on it, from Gradio's last look
        at what is under way on, which follows the last answer. What it asks later is taken once the page has closed it, however late it
        hears of its end. Where the connection breaks before that, what the page has asked for ends: Gradio itself notices only if it looks
        in time.
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
                if not await self._asked_again(session, stream, receive):
                    await stream.last_word(receive)
                    break
            await stream.end()
        except Exception:
            if not stream.unknown:  # Gradio raises in the middle of an answer what it has just said in it
                raise
            await stream.end()
        finally:
            stream.closed.set()
            self._no_longer(session, stream)
            if self.closing.get(session) is stream.closed:
                del self.closing[session]
            self._open[session] -= 1
            if not self._open[session]:
                del self._open[session]
                if stream.over:
                    self.answered(session)
                elif self.left is not None and not stream.unknown:
                    await self.left(session, None, False)

    async def _asked_again(self, session: str, stream: _Stream, receive: Receive) -> bool:
        """Whether a page whose stream has nothing more to say asks for something on it; if not, it has to be told that the stream ends."""
        self.lingering[session] = stream.asked
        waiting = {asyncio.ensure_future(stream.asked.wait()), asyncio.ensure_future(_gone(receive))}
        try:
            await asyncio.wait(waiting, timeout=LINGERS, return_when=asyncio.FIRST_COMPLETED)
            again = stream.asked.is_set() and self._open[session] == 1
            if not again:
                self.closing[session] = stream.closed
            return again
        finally:
            self._no_longer(session, stream)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    def _no_longer(self, session: str, stream: _Stream) -> None:
        """This stream need not hear any more that its page asks."""
        if self.lingering.get(session) is stream.asked:
            del self.lingering[session]

    def joining(self, session: str, send: Send) -> Send:
        """The answer to an event: its stream goes on, or is opened by the page, which has closed the old one by then."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                if session in self.lingering and message["status"] == 200:
                    self.lingering[session].set()
                if session in self.closing:
                    await self.closing[session].wait()
            await send(message)

        return sending


class _Stream:
    """The sending side of a page's stream of answers: of one answer, made of all that is sent through until `end`."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False
        self.over: bytes | None = None  # Gradio's last word, since all is answered
        self.unknown = False  # the session is not known
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
        """More is to come."""
        self.over = None
        self.asked.clear()

    async def last_word(self, receive: Receive) -> None:
        """Says that all is answered, and waits until the page has closed the stream, or should have heard."""
        await self._send({"type": "http.response.body", "body": self.over or b"", "more_body": True})
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(_gone(receive), HEARD)

    async def end(self) -> None:
        """The end of the answer, if there is one."""
        if self._begun:
            await self._send({"type": "http.response.body", "body": b""})


async def _gone(receive: Receive) -> None:
    """Until the connection of a request breaks."""
    while (await receive())["type"] != "http.disconnect":
        pass
