"""The streams on which pages hear of their events: Gradio's, kept open for a while when all is answered, and noted when they end."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

CLOSING = b'data: {"msg":"close_stream"'  # the last word of a page's stream of answers
BROKEN = b'data: {"msg":"unexpected_error"'
UNKNOWN = (  # what a stream says and ends with where its session is not known; its page then closes it and is free to ask again
    b'data: {"msg":"unexpected_error","event_id":null,"message":"This run is not known here any more: asking again starts it anew.",'
    b'"session_not_found":true,"success":false}\n\ndata: {"msg":"close_stream","event_id":null}\n\n'
)
LINGERS = 2.0  # seconds that a page's stream of answers stays open when all is answered: a visitor often goes on at once
SETTLED = 0.5  # seconds after which a page has heard that its stream of answers ended


class Streams:
    """Answers each stream of a page, and the events that it sends meanwhile."""

    def __init__(self, app: ASGIApp, left: Callable[[str, str | None, bool], Awaitable[None]] | None = None) -> None:
        """app: answers a stream. left(session, None, False): told of a page that was left before all was answered."""
        self.app = app
        self.left = left
        self.lingering: dict[str, asyncio.Event] = {}  # session -> told when it asks again, while its stream has nothing to say
        self._open: Counter[str] = Counter()  # session -> open streams of its answers
        self._ended: OrderedDict[str, float] = OrderedDict()  # session -> when its stream of answers ended, while that is news

    def __contains__(self, session: str) -> bool:
        """Is a stream of that page open?"""
        return session in self._open

    async def answer(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        """One stream; one whose session Gradio does not know, or no longer, says so and ends.

        Gradio ends it when nothing is under way. A page that asks at that very moment takes the old stream for an open one, opens none,
        and would wait for ever: so it stays open for a while, and what the page asks meanwhile is answered on it.
        Where the connection breaks before that, what the page has asked for ends: Gradio itself notices only if it looks in time.
        """
        stream = _Stream(send)
        self._open[session] += 1
        try:
            while True:
                stream.listen()
                await self.app(scope, receive, stream)
                if stream.over is None or not await self._asked_again(session, receive):
                    break
            await stream.end()
        except Exception:
            if not stream.unknown:  # Gradio raises in the middle of an answer what it has just said in it
                raise
            await stream.end()
        finally:
            self._open[session] -= 1
            if not self._open[session]:
                del self._open[session]
                if self.left is not None and not (stream.over or stream.unknown):
                    await self.left(session, None, False)

    async def _asked_again(self, session: str, receive: Receive) -> bool:
        """Whether a page whose stream has nothing more to say asks for something on it; if not, it has to be told that the stream ends."""
        asked = self.lingering[session] = asyncio.Event()
        waiting = {asyncio.ensure_future(asked.wait()), asyncio.ensure_future(_gone(receive))}
        try:
            await asyncio.wait(waiting, timeout=LINGERS, return_when=asyncio.FIRST_COMPLETED)
            again = asked.is_set() and self._open[session] == 1
            if not again:
                self._note(session)
            return again
        finally:
            if self.lingering.get(session) is asked:
                del self.lingering[session]
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    def _note(self, session: str) -> None:
        """From now on the page may not have heard yet that its stream has ended."""
        now = time.monotonic()
        while self._ended and next(iter(self._ended.values())) < now - SETTLED:
            self._ended.popitem(last=False)
        self._ended[session] = now
        self._ended.move_to_end(session)

    def joining(self, session: str, send: Send) -> Send:
        """The answer to an event: its stream goes on, or is opened by the page, which has heard by then that the old one has ended."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                if session in self.lingering and message["status"] == 200:
                    self.lingering[session].set()
                await asyncio.sleep(max(0.0, self._ended.get(session, -SETTLED) + SETTLED - time.monotonic()))
            await send(message)

        return sending


class _Stream:
    """The sending side of a page's stream of answers: of one answer, made of all that is sent through until `end`."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False
        self.over: bytes | None = None  # Gradio's last word, since all is answered
        self.unknown = False  # the session is not known

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if self._begun:
                return
            self._begun = True
        body = message.get("body", b"")
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

    async def end(self) -> None:
        """The last word, if there is one, and the end of the answer."""
        if self._begun:
            await self._send({"type": "http.response.body", "body": self.over or b""})


async def _gone(receive: Receive) -> None:
    """Until the connection of a request breaks."""
    while (await receive())["type"] != "http.disconnect":
        pass
