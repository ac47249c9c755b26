"""Attention of a stretch of queries, seen by distance and in blocks: NumPy alone, for what is drawn of a run. The last query stands at the
last key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


def by_place(scores: Array, keys: int) -> Array:
    """(head, query, key) what each pair of a query and one of so many keys gets by its distance; 0 where it is not told. scores: (head,
    query, distance) of the distances from 0. What comes after a query gets something too, which means nothing."""
    heads, rows, distances = scores.shape
    told = min(distances, keys)
    padded = np.zeros((heads, rows, keys + rows - 1), scores.dtype)
    padded[:, :, keys - told : keys] = scores[:, :, :told][:, :, ::-1]
    by_head, by_row, by_column = padded.strides
    found: Array = np.lib.stride_tricks.as_strided(
        padded[:, :, rows - 1 :], (heads, rows, keys), (by_head, by_row - by_column, by_column), writeable=False
    )
    return found


def by_diagonal(weights: Array) -> Array:
    """(head, distance) sums of (head, query, key) weights over pairs so far apart, distances 0 … key − 1. What comes after a query is 0."""
    heads, rows, keys = weights.shape
    padded = np.zeros((heads, rows, keys + rows), weights.dtype)
    padded[:, :, :keys] = weights[:, :, ::-1]
    # Read with rows that are one shorter, each row begins a column later: pairs of one distance stand in one column.
    skewed = padded.reshape(heads, -1)[:, : rows * (keys + rows - 1)].reshape(heads, rows, keys + rows - 1)
    found: Array = skewed.sum(1)[:, rows - 1 : rows - 1 + keys]
    return found


def add_blocks(pooled: Array, weights: Array, rows: NDArray[np.int64], keys: NDArray[np.int64], by: int) -> None:
    """Adds (head, query, key) weights to (head, block, block) sums over `by` queries and `by` keys. rows: places of the queries, one after
    another; keys: places of the keys in any order, those behind the last block left out."""
    order = np.argsort(keys, kind="stable")
    order = order[keys[order] < pooled.shape[2] * by]
    blocks = keys[order] // by
    sorted_ = weights if np.array_equal(order, np.arange(len(keys))) else weights[:, :, order]
    columns = np.flatnonzero(np.diff(blocks, prepend=-1))
    by_key = np.add.reduceat(sorted_, columns, axis=2)
    lines = np.flatnonzero(np.diff(rows // by, prepend=-1))
    both = np.add.reduceat(by_key, lines, axis=1)
    pooled[:, (rows[lines] // by)[:, None], blocks[columns]] += both


def means(pooled: Array, length: int, by: int) -> Array:
    """The same sums with the mean over queries in place of their sum. length: how many queries there are; (…, block, block)."""
    found: Array = pooled / np.diff(np.append(np.arange(0, length, by), length)).astype(np.float32)[:, None]
    return found


def softmax(scores: Array, seen: NDArray[np.bool_] | None = None) -> Array:
    """Weights of scores over their last axis; 0 where a key is not seen, and in all of a row that sees nothing."""
    if seen is not None:
        scores = np.where(seen, scores, -np.inf)
    largest = scores.max(-1, keepdims=True, initial=np.finfo(np.float32).min)
    weights = np.exp(scores - largest)
    made: Array = (weights / np.maximum(weights.sum(-1, keepdims=True), np.finfo(np.float32).tiny)).astype(np.float32)
    return made


def within(shape: Sequence[int], layer: int, head: int, rows: Sequence[int] | NDArray[np.int64]) -> None:
    """IndexError where queries of this shape, (layer, head, position, …), have no such layer, head or position."""
    layers, heads, length = shape[:3]
    if not (0 <= layer < layers and 0 <= head < heads) or any(not 0 <= row < length for row in rows):
        raise IndexError(f"head {layer}.{head}, positions {list(rows)[:3]}: there are {layers} × {heads} heads and {length} positions")


@dataclass(frozen=True)
class Overview:
    """All attention of a run, small enough to be sent.

    pooled: (layer, head, block, block) weights: the mean of `by` queries, the sum of `by` keys, so that rows sum to 1 less what goes to
    keys behind the last block. distances: (layer, head, distance) mean weight of all positions that see a key so far before them.
    """

    pooled: Array
    by: int
    distances: Array


class Tally:
    """An overview while it is made: every weight once, some queries of a layer at a time."""

    def __init__(self, layers: int, heads: int, length: int, farthest: int = 0, most: int = 256) -> None:
        """length: queries. farthest: how many distances there are, as many as queries if not said. most: blocks on a side."""
        self.length, self.by = length, -(-length // most)
        self.blocks = -(-length // self.by)
        self._pooled = np.zeros((layers, heads, self.blocks, self.blocks), np.float32)
        self._total = np.zeros((layers, heads, farthest or length))
        self._count = np.zeros(farthest or length)

    def add(self, layer: int, weights: Array, rows: NDArray[np.int64], keys: NDArray[np.int64], head: slice = slice(None)) -> None:
        """weights: (head, query, key). rows: places of the queries, one after another; keys: of keys. The last query is at the last key."""
        add_blocks(self._pooled[layer, head], weights, rows, keys, self.by)
        seen = weights.shape[2]
        self._total[layer, head, :seen] += by_diagonal(weights)
        if layer == 0 and head.stop in (None, 1):
            self._count[:seen] += len(rows) - np.maximum(0, np.arange(seen) - (seen - len(rows)))

    def overview(self) -> Overview:
        """What was added."""
        distances = (self._total / np.maximum(self._count, 1)).astype(np.float32)
        return Overview(means(self._pooled, self.length, self.by), self.by, distances)
