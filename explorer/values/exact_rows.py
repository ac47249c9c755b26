"""Exact rows of maps that are too large to send whole.

A page sends the map pooled, and fetches exact rows when somebody selects them. Rows are computed
without a forward pass, from the queries and keys that the run left. Their address never changes,
because the rows follow from the digest of their arrays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.values.packing import LEVELS, Kept, round_to_levels, write_address

CAPACITY = 256 << 20  # bytes that all sources of rows together may hold
ROWS = 256  # rows of one answer at most

Array = NDArray[np.float32]
Rows = Callable[[int, int, range], Array]


@dataclass(frozen=True)
class RowSource:
    """A source of exact rows.

    rows: a function (layer, head, range of rows) -> (row, key) weights in [0, 1]; it may run in any
    thread.
    layers, heads, queries: the number of each.
    size: bytes that it holds on to.
    """

    rows: Rows
    layers: int
    heads: int
    queries: int
    size: int

    def encode_rows(self, layer: int, head: int, first: int, count: int) -> bytes | None:
        """Return rows as 16-bit numbers (value = raw / 65,535), little-endian, row after row.

        Each row keeps its sum. Returns None where there is no such layer, head or row, or where
        `count` exceeds the limit.
        """
        if not (
            0 <= layer < self.layers
            and 0 <= head < self.heads
            and 0 <= first < self.queries
            and 1 <= count <= ROWS
        ):
            return None
        return round_to_levels(
            self.rows(layer, head, range(first, min(self.queries, first + count))), LEVELS
        ).tobytes()


class Looks(Kept[RowSource]):
    """Sources of exact rows by digest."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        super().__init__(capacity, lambda look: look.size)
        self._promised: dict[str, Callable[[], Any]] = {}

    def put(self, look: RowSource, made_of: bytes) -> str:
        """Keep a source of rows and return its address.

        The browser adds /layer/head/first/count to the address's path. Raise ValueError where the
        source alone holds more than the capacity.

        made_of: the bytes from which its rows follow.
        """
        if look.size > self.capacity:
            raise ValueError(
                f"exact rows that hold {look.size} bytes; the store keeps {self.capacity} in all"
            )
        digest = hashlib.sha256(made_of).hexdigest()[:32]
        self.hold(digest, look)
        return write_address("looks", digest)

    def promise(self, digests: Iterable[str], draw: Callable[[], Any]) -> None:
        """Note that `draw` can make these sources from shipped results.

        Nothing is held for them until then.
        """
        self._promised |= dict.fromkeys(digests, draw)

    def find_promise(self, digest: str) -> Callable[[], Any] | None:
        """Return the function that makes a promised source, or None."""
        return self._promised.get(digest)


@cache
def exact_row_store() -> Looks:
    """Return this process's store of ``/looks/<digest>/<layer>/<head>/<first>/<count>``."""
    return Looks()


def digest_arrays(name: str, *arrays: NDArray[Any]) -> bytes:
    """Return a digest of arrays, for a result that follows from them alone.

    name: everything else from which the result follows.
    """
    made = hashlib.sha256(name.encode())
    for array in arrays:
        made.update(str(array.shape).encode())
        made.update(np.ascontiguousarray(array).data)
    return made.digest()


def keep_rows(name: str, rows: Rows, *arrays: NDArray[Any]) -> str:
    """Return the address of exact rows that are computed from some arrays.

    name: see `digest_arrays`.
    arrays: the first of them is (layer, head, query, …).
    """
    layers, heads, queries = arrays[0].shape[:3]
    return exact_row_store().put(
        RowSource(rows, layers, heads, queries, sum(array.nbytes for array in arrays)),
        digest_arrays(name, *arrays),
    )
