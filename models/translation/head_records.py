"""The computation of one head in a run: requests and results as frozen records of NumPy arrays and
strings, without torch."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from models.translation.records import Array, Request


@dataclass(frozen=True)
class Look:
    """A head of a run.

    kind: one of records.KINDS. layer, head: from 0.
    """

    request: Request
    kind: str
    layer: int
    head: int

    def group(self) -> Hashable:
        """Return the key of a batch: requests of one group may share one."""
        return self.request.group()


@dataclass(frozen=True)
class Head:
    """The queries (query, d_head), keys and values (key, d_head) of one head, read-only, with its
    weights and output.

    weights = softmax(queries · keysᵀ / √d_head), undivided unless `scaled`, without later keys if
    `causal`, and without `hidden` keys; output = weights · values. Positions are those of an
    Explanation: the decoder's rows belong to the pieces that they predict, its keys to "<s>" and
    the pieces before. query_pieces, key_pieces: as displayed. query_space, key_space: whether a
    space precedes the piece. layers, heads: the numbers in this attention.
    """

    queries: Array
    keys: Array
    values: Array
    causal: bool
    query_pieces: tuple[str, ...]
    query_space: tuple[bool, ...]
    key_pieces: tuple[str, ...]
    key_space: tuple[bool, ...]
    layers: int
    heads: int
    scaled: bool = True
    hidden: tuple[int, ...] = ()
