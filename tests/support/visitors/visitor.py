"""One person with one browser: opens the page, clicks an example, types a sentence, and checks that
the result belongs to the request."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import string
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from gradio_client.utils import apply_diff

from tests.support.visitors.recording import SESSION, Call, Recording
from tests.support.visitors.scripts import spell_body
from tests.support.visitors.wire import Connections, Lost, Reply

STAYS = {"__type__": "update"}  # Gradio's word for a component that keeps its value
PATIENCE = 120.0  # seconds that a visitor waits for anything


class Wrong(Exception):
    """The error for a result that does not belong to the request."""


@dataclass(frozen=True)
class Heard:
    """The answer to one request. Reading it is left for later, because others are being timed."""

    seconds: float  # from the click to the last byte
    gap: float  # the longest silence, seconds
    events: tuple[bytes, ...]  # those of the stream
    replies: tuple[Reply, ...]  # whole answers, in the order of the calls

    def values(self) -> tuple[Any, ...]:
        """Return the values that the page's components draw. Raise Wrong for anything but an
        answer."""
        for reply in self.replies:
            if reply.status not in {200, 204, 304}:
                raise Wrong(f"status {reply.status}: {reply.body[:200]!r}")
        if self.events:  # an earlier run of the same page may still send events on the stream
            return drawn(self.events, _named(self.replies))
        # a stored result, by widget
        return tuple(value for reply in self.replies for value in json.loads(reply.text()).values())


class Visitor:
    """A browser that plays a recording as another visitor."""

    def __init__(self, url: str, recording: Recording, own: str | None = None) -> None:
        """Set the visitor's address.

        own: the address from which the browser speaks, another one of loopback's for a visitor
            elsewhere.
        """
        site = urlsplit(url)
        self._host = site.netloc
        self._connections = Connections(str(site.hostname), int(site.port or 80), own)
        self._recording = recording
        self._etags: dict[str, str] = {}
        self._session = ""

    async def open(self, held: bool = False) -> float:
        """Open the page, which makes a new session, and return the seconds until everything is
        there. Files in the browser's cache are not fetched again.

        held: as if the browser had been here before.
        """
        self.name()
        calls = self._recording.again if held or self._etags else self._recording.opening
        began = time.perf_counter()
        async with asyncio.timeout(PATIENCE):
            await self._fetch(calls[0])  # the document; nothing else is known before it
            async with asyncio.TaskGroup() as group:
                for call in calls[1:]:
                    group.create_task(self._fetch(call))
        return time.perf_counter() - began

    def name(self) -> None:
        """Take a new session, as every page does. A visitor who opens no page may still send
        requests."""
        self._session = "".join(random.choices(string.ascii_lowercase + string.digits, k=11))

    async def click(self) -> Heard:
        """Click the recorded example."""
        return await self._wish(self._recording.stored)

    async def run(self, sentence: str, hear: Callable[[bytes], object] | None = None) -> Heard:
        """Run a typed sentence.

        hear: called with each event as it comes.
        """
        own = self._recording.own[0].detail
        return await self.wish({**own, "set": {**own["set"], "sentence": sentence}}, hear)

    async def wish(
        self,
        detail: object,
        hear: Callable[[bytes], object] | None = None,
        event: int | None = None,
    ) -> Heard:
        """Send a request as `run` does, with any detail in the place of the page's.

        event: the number of another event of the site's than the run's.
        """
        return await self._wish(self._recording.own, detail, hear, event)

    async def call(self, number: int, values: Sequence[object]) -> Heard:
        """Call an endpoint as a script does.

        number: that of its event.
        """
        join, *hear = self._recording.own
        return await self._wish([replace(join, body=spell_body(number, values, SESSION)), *hear])

    async def follow(self, link: str) -> Heard:
        """Send the requests of the page whose address carries a link (the query, without “?”)."""
        return await self._wish(self._recording.linked, {"query": link})

    async def send(self, path: str, body: bytes, kind: str = "application/octet-stream") -> Reply:
        """Send a file, as the page sends one, and return the answer, read whole."""
        headers = [
            (name, kind if name.lower() == "content-type" else value)
            for name, value in self._recording.own[0].headers
        ]
        async with asyncio.timeout(PATIENCE):
            return await self._connections.ask(
                Call("POST", path, tuple(headers)).bytes(self._host, self._session, raw=body)
            )

    async def join(self, body: bytes) -> Reply:
        """Send any body to the address of the page's events, and return the answer."""
        call = replace(self._recording.own[0], body=None)
        async with asyncio.timeout(PATIENCE):
            return await self._connections.ask(call.bytes(self._host, self._session, raw=body))

    async def look(self, path: str) -> Reply:
        """Return the answer to the address `path`, read whole."""
        async with asyncio.timeout(PATIENCE):
            return await self._connections.ask(
                replace(self._recording.opening[0], path=path).bytes(self._host, self._session)
            )

    def leave(self) -> None:
        """Close the tab."""
        self._connections.close()

    # ---- the calls of a browser

    async def _fetch(self, call: Call) -> Reply:
        reply = await self._connections.ask(
            call.bytes(self._host, self._session, etag=self._etags.get(call.path))
        )
        if reply.status not in {200, 204, 304}:
            raise Wrong(f"status {reply.status} for {call.path}")
        if "etag" in reply.headers:
            self._etags[call.path] = reply.headers["etag"]
        return reply

    async def _wish(
        self,
        calls: Sequence[Call],
        detail: object = None,
        hear: Callable[[bytes], object] | None = None,
        event: int | None = None,
    ) -> Heard:
        """Send the calls of one request, each after the one before, as the page makes them."""
        if not self._session:
            raise ValueError("a page is opened before it is used")
        began = last = time.perf_counter()
        gap = 0.0
        events: list[bytes] = []
        replies: list[Reply] = []
        async with asyncio.timeout(PATIENCE):
            for call in calls:
                request = call.bytes(
                    self._host, self._session, detail, self._etags.get(call.path), event=event
                )
                if not call.streams:
                    replies.append(await self._connections.ask(request))
                    if replies[-1].status >= 400:
                        break
                    continue
                asked = _named(replies)
                async with contextlib.aclosing(self._connections.events(request)) as stream:
                    async for said in stream:
                        gap, last = max(gap, time.perf_counter() - last), time.perf_counter()
                        events.append(said)
                        if hear is not None:
                            hear(said)
                        if ends(said, asked):  # the stream itself stays open for a while
                            break
        return Heard(time.perf_counter() - began, gap, tuple(events), tuple(replies))


def _named(replies: Sequence[Reply]) -> str | None:
    """Return the name that the server gave to an event, where it has answered."""
    return json.loads(replies[0].text())["event_id"] if replies else None


def ends(said: bytes, asked: str | None = None) -> bool:
    """Return whether one of Gradio's messages is the last about an event.

    asked: the event; None: any.
    """
    if b'"process_completed"' not in said:
        return False
    message = json.loads(said.removeprefix(b"data: "))
    return message["msg"] == "process_completed" and asked in {None, message["event_id"]}


def drawn(events: Sequence[bytes], asked: str | None = None) -> tuple[Any, ...]:
    """Return the values of the page's components after a stream of Gradio's messages. Raise Wrong
    where it ends without an answer.

    asked: the event whose messages count; None: all.
    """
    values: list[Any] = []  # the values of the components
    told: list[Any] = []  # the stream's message for each: a value, or that it stays as it is
    for event in events:
        message = json.loads(event.removeprefix(b"data: "))
        kind = message["msg"]
        if asked is not None and message.get("event_id") not in {asked, None}:
            continue
        if kind == "process_completed" and not message["success"]:
            raise Wrong(f"the run ended with {json.dumps(message['output'])[:300]}")
        if kind == "unexpected_error":
            raise Wrong(f"the stream ended with {message.get('message')!r}")
        if kind in {"process_generating", "process_completed"}:
            news = message["output"]["data"]
            if kind == "process_generating" and told:
                told = [apply_diff(old, steps) for old, steps in zip(told, news, strict=True)]
            else:
                told = news
            before = values or [None] * len(told)
            values = [old if new == STAYS else new for old, new in zip(before, told, strict=True)]
        if ends(event, asked):
            return tuple(values)
    raise Lost(f"a stream of {len(events)} events without an end")


def check(values: Sequence[Any], sentence: str, live: bool, known: bool = False) -> None:
    """Raise Wrong unless the page shows the translation of `sentence`, with the attention of all
    heads.

    live: computed for a visitor, and just now unless it may be `known` from an earlier one;
        otherwise it is a stored result.
    """
    box = next((value for value in values if isinstance(value, dict) and "state" in value), None)
    if box is None:
        raise Wrong("nothing that the input bar could draw")
    wanted = (
        {"live", "remembered"} if known else {"live"} if live else {"stored", "live", "remembered"}
    )
    if box["state"] not in wanted:
        raise Wrong(f"state {box['state']!r}: {json.dumps(box, ensure_ascii=False)[:300]}")
    if box["fields"]["sentence"] != sentence:
        raise Wrong(f"the answer to {box['fields']['sentence']!r} instead of {sentence!r}")
    if not box["answer"]["pieces"]:
        raise Wrong("a translation without words")
    maps = next((value for value in values if isinstance(value, dict) and "kinds" in value), None)
    if maps is None or not all(
        kind["weights"].get("data") or kind["weights"].get("url") for kind in maps["kinds"]
    ):
        raise Wrong("no attention beside the translation")
