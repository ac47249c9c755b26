"""Attention of a stretch of queries, summed by distance and in blocks: NumPy alone, for the
pictures of a run. The last query stands at the last key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


def align_by_distance(scores: Array, keys: int) -> Array:
    """Return what each pair of a query and one of so many keys gets by its distance, (head, query,
    key); 0 where no score is given. scores: scores of the distances from 0, (head, query,
    distance). A key that comes after its query gets a number too, which means nothing."""
    heads, rows, distances = scores.shape
    told = min(distances, keys)
    padded = np.zeros((heads, rows, keys + rows - 1), scores.dtype)
    padded[:, :, keys - told : keys] = scores[:, :, :told][:, :, ::-1]
    by_head, by_row, by_column = padded.strides
    found: Array = np.lib.stride_tricks.as_strided(
        padded[:, :, rows - 1 :],
        (heads, rows, keys),
        (by_head, by_row - by_column, by_column),
        writeable=False,
    )
    return found


def sum_diagonals(weights: Array) -> Array:
    """Return the sums of (head, query, key) weights over all pairs of the same distance, (head,
    distance), for distances 0 … key − 1. A key that comes after its query counts 0."""
    heads, rows, keys = weights.shape
    padded = np.zeros((heads, rows, keys + rows), weights.dtype)
    padded[:, :, :keys] = weights[:, :, ::-1]
    # Read with rows that are one shorter, each row begins a column later: pairs of one distance
    # stand in one column.
    skewed = padded.reshape(heads, -1)[:, : rows * (keys + rows - 1)].reshape(
        heads, rows, keys + rows - 1
    )
    found: Array = skewed.sum(1)[:, rows - 1 : rows - 1 + keys]
    return found


def add_blocks(
    pooled: Array, weights: Array, rows: NDArray[np.int64], keys: NDArray[np.int64], by: int
) -> None:
    """Add (head, query, key) weights to (head, block, block) sums over `by` queries and `by` keys.
    rows: positions of the queries, one after another; keys: positions of the keys in any order.
    Keys behind the last block are left out."""
    order = np.argsort(keys, kind="stable")
    order = order[keys[order] < pooled.shape[2] * by]
    blocks = keys[order] // by
    sorted_ = weights if np.array_equal(order, np.arange(len(keys))) else weights[:, :, order]
    columns = np.flatnonzero(np.diff(blocks, prepend=-1))
    by_key = np.add.reduceat(sorted_, columns, axis=2)
    lines = np.flatnonzero(np.diff(rows // by, prepend=-1))
    both = np.add.reduceat(by_key, lines, axis=1)
    pooled[:, (rows[lines] // by)[:, None], blocks[columns]] += both


def average_blocks(pooled: Array, length: int, by: int) -> Array:
    """Return the same sums, (…, block, block), divided by the number of queries in each block, so
    that they are means over queries. length: how many queries there are."""
    found: Array = (
        pooled / np.diff(np.append(np.arange(0, length, by), length)).astype(np.float32)[:, None]
    )
    return found


def softmax(scores: Array, seen: NDArray[np.bool_] | None = None) -> Array:
    """Return the weights of scores over their last axis; 0 where a key is not seen, and in the
    whole row of a query that sees no key."""
    if seen is not None:
        scores = np.where(seen, scores, -np.inf)
    largest = scores.max(-1, keepdims=True, initial=np.finfo(np.float32).min)
    weights = np.exp(scores - largest)
    made: Array = (
        weights / np.maximum(weights.sum(-1, keepdims=True), np.finfo(np.float32).tiny)
    ).astype(np.float32)
    return made


def check_indices(
    shape: Sequence[int], layer: int, head: int, rows: Sequence[int] | NDArray[np.int64]
) -> None:
    """Raise IndexError where queries of this shape, (layer, head, position, …), have no layer, head
    or position of this number."""
    layers, heads, length = shape[:3]
    if not (0 <= layer < layers and 0 <= head < heads) or any(
        not 0 <= row < length for row in rows
    ):
        raise IndexError(
            f"head {layer}.{head}, positions {list(rows)[:3]}: there are {layers} × {heads} heads"
            f" and {length} positions"
        )


@dataclass(frozen=True)
class Overview:
    """All attention of a run, small enough to be sent.

    pooled: weights, (layer, head, block, block): the mean over `by` queries, the sum over `by`
        keys, so that rows sum to 1 less what goes to keys behind the last block.
    distances: the mean weight at each distance, over all positions that see a key so far back,
        (layer, head, distance).
    """

    pooled: Array
    by: int
    distances: Array


class Tally:
    """An overview under construction: every weight is added once, some queries of a layer at a
    time."""

    def __init__(
        self, layers: int, heads: int, length: int, farthest: int = 0, most: int = 256
    ) -> None:
        """length: how many queries. farthest: how many distances, as many as queries by default.
        most: blocks on a side."""
        self.length, self.by = length, -(-length // most)
        self.blocks = -(-length // self.by)
        self._pooled = np.zeros((layers, heads, self.blocks, self.blocks), np.float32)
        self._total = np.zeros((layers, heads, farthest or length))
        self._count = np.zeros(farthest or length)

    def add_weights(
        self,
        layer: int,
        weights: Array,
        rows: NDArray[np.int64],
        keys: NDArray[np.int64],
        head: slice = slice(None),
    ) -> None:
        """Add (head, query, key) weights of some queries of a layer. rows: positions of the
        queries, one after another; keys: positions of the keys. The last query is at the last
        key."""
        add_blocks(self._pooled[layer, head], weights, rows, keys, self.by)
        seen = weights.shape[2]
        self._total[layer, head, :seen] += sum_diagonals(weights)
        if layer == 0 and head.stop in (None, 1):
            self._count[:seen] += len(rows) - np.maximum(0, np.arange(seen) - (seen - len(rows)))

    def summarise(self) -> Overview:
        """Return the overview of all weights added so far."""
        distances = (self._total / np.maximum(self._count, 1)).astype(np.float32)
        return Overview(average_blocks(self._pooled, self.length, self.by), self.by, distances)
