"""Exact rows of maps that are too large to send whole: a page sends the map pooled, and rows are asked for as somebody looks at them.

A look answers without a forward pass, from what the run left (its queries and keys). Its address is unchanging: what it answers follows
from the digest of what it was made of.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.packing import LEVELS, Kept, address, whole_levels

CAPACITY = 256 << 20  # bytes that all looks together may hold
ROWS = 256  # rows of one answer at most

Array = NDArray[np.float32]
Rows = Callable[[int, int, range], Array]


@dataclass(frozen=True)
class Look:
    """Where exact rows come from. rows(layer, head, which) -> (row, key) in [0, 1]; it may run in any thread.

    layers, heads, queries: how many of each there are. size: bytes that it holds on to.
    """

    rows: Rows
    layers: int
    heads: int
    queries: int
    size: int

    def answer(self, layer: int, head: int, first: int, count: int) -> bytes | None:
        """Rows as 16-bit numbers (value = raw / 65,535), little-endian, row after row, each with the sum that it has; None where there is
        no such layer, head or row, or too many are wanted."""
        if not (0 <= layer < self.layers and 0 <= head < self.heads and 0 <= first < self.queries and 1 <= count <= ROWS):
            return None
        return whole_levels(self.rows(layer, head, range(first, min(self.queries, first + count))), LEVELS).tobytes()


class Looks(Kept[Look]):
    """Looks by digest."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        super().__init__(capacity, lambda look: look.size)
        self._promised: dict[str, Callable[[], Any]] = {}

    def put(self, look: Look, made_of: bytes) -> str:
        """Keeps a look and returns its address, to whose path the browser adds /layer/head/first/count.

        made_of: what its answers follow from.

        ValueError where it alone holds more than the capacity.
        """
        if look.size > self.capacity:
            raise ValueError(f"a look that holds {look.size} bytes; the store keeps {self.capacity} in all")
        digest = hashlib.sha256(made_of).hexdigest()[:32]
        self.hold(digest, look)
        return address("looks", digest)

    def promise(self, digests: Iterable[str], draw: Callable[[], Any]) -> None:
        """Notes that these can be drawn by `draw`, of what is shipped: nothing is held for them until then."""
        self._promised |= dict.fromkeys(digests, draw)

    def promised(self, digest: str) -> Callable[[], Any] | None:
        """What draws a look that nobody has asked for yet, or None."""
        return self._promised.get(digest)


@cache
def looks() -> Looks:
    """The store behind ``/looks/<digest>/<layer>/<head>/<first>/<count>`` of this process."""
    return Looks()


def digest(name: str, *arrays: NDArray[Any]) -> bytes:
    """What follows from some arrays alone goes by this. name: what else it follows from."""
    made = hashlib.sha256(name.encode())
    for array in arrays:
        made.update(str(array.shape).encode())
        made.update(np.ascontiguousarray(array).data)
    return made.digest()


def keep(name: str, rows: Rows, *arrays: NDArray[Any]) -> str:
    """The address of exact rows that are worked out from some arrays, the first of them (layer, head, query, …). name: as of `digest`."""
    layers, heads, queries = arrays[0].shape[:3]
    return looks().put(Look(rows, layers, heads, queries, sum(array.nbytes for array in arrays)), digest(name, *arrays))
