"""Attention of a stretch of queries, seen by distance and in blocks: NumPy alone, for what is drawn of a run. The last query stands at the
last key."""

from __future__ import annotations

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
