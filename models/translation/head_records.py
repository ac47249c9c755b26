"""What one head computed with on one run: what a page asks, and what it gets. Frozen records of NumPy arrays and strings; no torch here."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from models.translation.records import Array, Request


@dataclass(frozen=True)
class Look:
    """One head of one run. kind: one of records.KINDS; layer, head: from 0."""

    request: Request
    kind: str
    layer: int
    head: int

    def group(self) -> Hashable:
        """Looks of one group may share a batch."""
        return self.request.group()


@dataclass(frozen=True)
class Head:
    """Queries (query, d_head), keys and values (key, d_head) of one head, read-only; with them come its weights and its output.

    weights = softmax(queries · keysᵀ / √d_head), undivided where not `scaled`, without the keys behind a query where `causal`, and without
    the keys that are `hidden`; output = weights · values.
    Positions as in an Explanation: those of the decoder's rows belong to the pieces they produce, those of its own keys to "<s>" and
    the pieces before. query_pieces, key_pieces: as shown; query_space, key_space: True where a space stood before the piece.
    layers, heads: how many of each the attention has.
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
