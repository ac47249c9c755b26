"""The answers that pages have not read yet, within bounds of bytes for a page and for an address.

Gradio keeps every message to a page until its stream takes it, as Python objects and without a
bound. Here each is kept as the bytes in which it is sent, and where too many wait, the oldest
answer gives way to a sentence.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import orjson
from gradio.queueing import Queue
from gradio.server_messages import (
    EventMessage,
    ProcessCompletedMessage,
    ProcessGeneratingMessage,
)
from pydantic import PrivateAttr

from explorer.values.hosts import find_network

WRITTEN_FOR = "6.31.0"  # the version of Gradio

PAGE = 4 << 20  # bytes of one page
ADDRESS = 64 << 20  # bytes of all pages of one address, which may be that of a lecture hall
EACH = 1 << 10  # bytes of a message beside its answer
LEFT = (
    "This answer was not fetched and has made room for newer ones: asking again brings it back."
    " · 这个结果没有被取走，已让位给新的结果：再次提交即可得到。"
)


@dataclass(eq=False)
class UnreadMessage:
    """A message that waits to be read.

    size: its bytes.
    queue: the messages of its page.
    """

    message: EventMessage
    size: int
    queue: Unread


@dataclass
class Pile:
    """The messages of a page, or of an address, oldest first."""

    bytes: int = 0
    messages: dict[UnreadMessage, None] = field(default_factory=dict)
    answers: dict[UnreadMessage, None] = field(
        default_factory=dict
    )  # those with more than a sentence

    def add(self, one: UnreadMessage) -> None:
        """Lay a message on the pile."""
        self.bytes += one.size
        self.messages[one] = None
        if one.size > EACH:
            self.answers[one] = None

    def remove(self, one: UnreadMessage) -> None:
        """Take a message away; nothing happens where it is not on the pile."""
        if one in self.messages:
            self.bytes -= one.size
            del self.messages[one]
            self.answers.pop(one, None)


class UnreadBudget:
    """Counts the unread bytes, and drops the oldest answers beyond `page` or `address` bytes."""

    def __init__(self, queue: Queue, page: int = PAGE, address: int = ADDRESS) -> None:
        """Start without messages.

        queue: Gradio's queue, which knows the events.
        """
        self.queue = queue
        self._page, self._address = page, address
        self._piles: dict[str, Pile] = {}  # by address

    @property
    def size(self) -> int:
        """The bytes that wait now."""
        return sum(pile.bytes for pile in self._piles.values())

    def address_of(self, event: str | None) -> str:
        """Return the address from which an event came, "" where that is not known."""
        taken = self.queue.event_ids_to_events.get(event or "")
        if taken is None:
            return ""
        client = getattr(taken.request, "client", None)
        return find_network(str(getattr(client, "host", "") or ""))

    def add(self, one: UnreadMessage) -> None:
        """Count a message that has just been put into its page's queue."""
        pile = self._piles.setdefault(one.queue.address, Pile())
        one.queue.pile.add(one)
        pile.add(one)
        self._shed(one.queue.pile, self._page)
        self._shed(pile, self._address)

    def remove(self, one: UnreadMessage) -> None:
        """Count a message no longer."""
        one.queue.pile.remove(one)
        if (pile := self._piles.get(one.queue.address)) is not None:
            pile.remove(one)
            if not pile.messages:
                del self._piles[one.queue.address]

    def _shed(self, pile: Pile, most: int) -> None:
        """Drop the oldest answers, then the oldest messages; one answer alone may be larger."""
        while pile.bytes > most and len(pile.messages) > 1:
            if len(pile.answers) > 1:
                oldest = next(iter(pile.answers))
                oldest.queue.let_go(oldest.message.event_id)
            else:
                oldest = next(one for one in pile.messages if one not in pile.answers)
                oldest.queue.forget(oldest)


class Unread(asyncio.Queue[EventMessage]):
    """The messages that one page has not read, in place of Gradio's queue of them."""

    def __init__(self, session: str, bounds: UnreadBudget) -> None:
        """Start without messages.

        session: the session of the page.
        """
        self.session = session
        self.address = ""
        self.pile = Pile()
        self._bounds = bounds
        super().__init__()

    def _init(self, maxsize: int) -> None:
        self._queue: deque[UnreadMessage] = deque()

    def _put(self, item: EventMessage) -> None:
        if not self.pile.messages:
            self.address = self._bounds.address_of(item.event_id) or self.address
        message, size = _as_bytes(item)
        one = UnreadMessage(message, EACH + size, self)
        self._queue.append(one)
        self._bounds.add(one)

    def _get(self) -> EventMessage:
        one = self._queue.popleft()
        self._bounds.remove(one)
        return one.message

    def let_go(self, event: str | None) -> None:
        """Replace all unread messages of an event by a sentence, and end a running event."""
        its = [one for one in self._queue if one.message.event_id == event]
        for one in its:
            self._bounds.remove(one)
        its[0].message = ProcessCompletedMessage(
            event_id=event,
            output={"error": LEFT},
            title="Let go · 已让位",
            success=False,
        )
        its[0].size = EACH
        others = set(its[1:])
        self._queue = deque(one for one in self._queue if one not in others)
        self._bounds.add(its[0])
        if (running := self._bounds.queue.event_ids_to_events.get(event or "")) is not None:
            running.alive = False

    def forget(self, one: UnreadMessage) -> None:
        """Drop a message unread."""
        self._bounds.remove(one)
        self._queue.remove(one)
        under_way = self._bounds.queue.pending_event_ids_session.get(self.session, set())
        if isinstance(one.message, ProcessCompletedMessage):
            under_way.discard(one.message.event_id or "")

    def release(self) -> None:
        """Count no message any longer, because nobody will read them."""
        for one in self._queue:
            self._bounds.remove(one)


class _Completed(ProcessCompletedMessage):
    _text: bytes = PrivateAttr(b"")

    def model_dump(self, **how: Any) -> dict[str, Any]:
        return _dump_fields(super().model_dump(**how), self._text)


class _Generating(ProcessGeneratingMessage):
    _text: bytes = PrivateAttr(b"")

    def model_dump(self, **how: Any) -> dict[str, Any]:
        return _dump_fields(super().model_dump(**how), self._text)


KINDS: dict[type, Any] = {
    ProcessCompletedMessage: _Completed,
    ProcessGeneratingMessage: _Generating,
}


def _as_bytes(message: EventMessage) -> tuple[EventMessage, int]:
    """Return a message whose answer is kept as JSON, and the bytes of that."""
    kind = KINDS.get(type(message))
    if kind is None or not message.output:  # type: ignore[union-attr]
        return message, 0
    fields = {name: value for name, value in message if name != "output"}
    lean = kind(**fields, output={})
    lean._text = orjson.dumps(message.output, default=str)  # type: ignore[union-attr]
    return lean, len(lean._text)


def _dump_fields(fields: dict[str, Any], text: bytes) -> dict[str, Any]:
    return {**fields, "output": orjson.Fragment(text)}
