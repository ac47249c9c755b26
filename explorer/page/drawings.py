"""Draw results in turns, on one thread for all visitors, and remember them within a bound of bytes.

A drawing takes up to some tenths of a second of one processor, and a second thread would only share
it. So a request for drawings waits as a request for a model does: in the engine's queue, where
addresses and pages take turns and have limits.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import AsyncGenerator, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar

from explorer.engine import Answer, Engine, Limits, QueuePlace
from explorer.engine.store import count_bytes
from explorer.media.sound import sound_store
from explorer.values.exact_rows import exact_row_store
from explorer.values.packing import Kept, array_store, frame_store

CAPACITY = 64 << 20  # bytes of drawings that are remembered
LIMITS = Limits(batch=1, batch_wait=0.0, store=0, session=64, deadline=60.0, loading=0.0)
NAMED = re.compile(r"/(arrays|frames|looks|sound)/([0-9a-f]{32})\b")  # addresses in a drawing

T = TypeVar("T")


@dataclass(frozen=True)
class Drawing(Generic[T]):
    """A drawing to be made.

    key: the same for all requests that may share it.
    kind: the same for drawings of equal cost.
    """

    key: Hashable
    kind: str
    make: Callable[[], T] = field(compare=False)

    def group(self) -> str:
        """Return the name of drawings of equal cost."""
        return self.kind


@dataclass(frozen=True)
class DrawingResult:
    """The result of a drawing: its values or an error.

    names: the addresses in the values.
    """

    values: Any
    error: Exception | None
    names: frozenset[tuple[str, str]]
    size: int

    def has_all_it_names(self) -> bool:
        """Return whether this process holds everything that the values name by an address."""
        return all(_holds(kind, digest) for kind, digest in self.names)


class DrawingStore:
    """The remembered drawings, by their key. The drawing that has been unused the longest is
    forgotten first."""

    def __init__(self, capacity: int = CAPACITY, limits: Limits = LIMITS) -> None:
        """Set the bounds.

        capacity: the number of remembered bytes.
        limits: the limits of the queue.
        """
        self._kept: Kept[DrawingResult] = Kept(capacity, lambda drawn: drawn.size)
        self._engine = Engine(limits=limits, name="drawing")

    @property
    def size(self) -> int:
        """The number of bytes that are remembered now."""
        return self._kept.size

    @property
    def is_stuck(self) -> bool:
        """Whether drawing has stopped, as in `Engine.is_stuck`."""
        return self._engine.is_stuck

    async def draw(
        self,
        make: Callable[[], T],
        session: str = "",
        *,
        key: str = "",
        kind: str = "",
        since: float | None = None,
    ) -> AsyncGenerator[QueuePlace | Answer[T], None]:
        """Yield the place of a drawing in the queue, and at last its values.

        make: draws, on a thread of its own.
        key: the inputs that the values follow from; with "" nothing is remembered.
        kind: the same for drawings of equal cost.
        since: as in `Engine.stream`.
        Raise the errors of `make`, and Busy where there is no place.
        """
        kept = self._kept.get(key) if key else None
        if kept is not None and kept.has_all_it_names():
            yield Answer(kept.values, 0.0, "", known=True)
            return
        drawing = Drawing(key or object(), kind, make)
        watched = self._engine.watch(make_each, drawing, session, since)
        async with contextlib.aclosing(watched) as updates:
            async for update in updates:
                if isinstance(update, QueuePlace):
                    yield update
                    continue
                drawn = update.value
                if drawn.error is not None:
                    raise drawn.error
                if key:
                    self._kept.hold(key, drawn)
                yield Answer(drawn.values, update.milliseconds, update.device, known=False)

    async def finish(self, make: Callable[[], T], session: str = "", *, kind: str = "") -> T:
        """Return the values of `make`, as `draw` does, and remember nothing."""
        async with contextlib.aclosing(self.draw(make, session, kind=kind)) as updates:
            async for update in updates:
                if isinstance(update, Answer):
                    return update.value
        raise AssertionError("a drawing ends with its values or an error")


def make_each(drawings: Sequence[Drawing[Any]]) -> list[DrawingResult]:
    """Make drawings, one after the other. This is the engine's function."""
    return [_make(drawing) for drawing in drawings]


def _make(drawing: Drawing[Any]) -> DrawingResult:
    try:
        values = drawing.make()
    except Exception as error:  # the caller says what the error means
        return DrawingResult(None, error, frozenset(), 0)
    if not isinstance(drawing.key, str):
        return DrawingResult(values, None, frozenset(), 0)
    names = frozenset(NAMED.findall(json.dumps(values, default=str)))
    return DrawingResult(values, None, names, count_bytes(values) + count_bytes(drawing.key))


def _holds(kind: str, digest: str) -> bool:
    if kind == "looks":
        return (
            exact_row_store().get(digest) is not None
            or exact_row_store().find_promise(digest) is not None
        )
    stores: dict[str, Kept[Any]] = {
        "arrays": array_store(),
        "frames": frame_store(),
        "sound": sound_store(),
    }
    return stores[kind].get(digest) is not None


@cache
def drawings() -> DrawingStore:
    """Return the drawings of this process."""
    return DrawingStore()
