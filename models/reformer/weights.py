"""Attention weights computed from a run's stored queries and buckets, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from models.explaining.attention_pooling import Overview as Overview
from models.explaining.attention_pooling import Tally, check_indices, softmax
from models.reformer.records import Array, Read

TOGETHER = 128  # queries whose weights are in memory at once


def compute_shared_weights(
    read: Read, layer: int, head: int, rows: Sequence[int] | NDArray[np.int64], hashed: bool
) -> Array:
    """Return softmax(q_i · q_j / |q_j|) of a few queries over earlier positions, (row, position),
    float32.

    hashed: restrict keys to those visible in any round, in the query's own chunk of the sorted
    order and the one before. A query's own key counts only if it sees no other. rows: positions
    from 0. Raise IndexError if there is no such layer, head or position.
    """
    check_indices(read.queries.shape, layer, head, rows)
    wanted = np.asarray(rows, np.int64)
    query = read.queries[layer, head].astype(np.float32)
    key = query / np.maximum(np.sqrt((query**2).sum(1, keepdims=True)), 1e-12)
    seen = np.arange(read.queries.shape[2]) < wanted[:, None]
    if hashed and read.buckets.shape[2]:
        seen &= _mark_meetings(read.buckets[layer, head], read.chunk, wanted)
    alone = np.flatnonzero(~seen.any(1))
    seen[alone, wanted[alone]] = True
    return softmax(query[wanted] @ key.T, seen)


def _mark_meetings(
    buckets: NDArray[np.int16], chunk: int, rows: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return whether rows and keys meet in any round, (row, key).

    buckets: (round, position).
    """
    together = np.zeros((len(rows), buckets.shape[1]), bool)
    for one in buckets:
        number = np.empty(len(one), np.int64)
        number[np.argsort(one, kind="stable")] = np.arange(len(one)) // chunk
        apart = number[rows, None] - number
        together |= (apart == 0) | (apart == 1)
    return together


def measure_compared(read: Read) -> float:
    """Return the share of pairs of a position and an earlier one that the rounds compared, as a
    mean over layers and heads; 1 without hashing."""
    layers, heads, rounds, length = read.buckets.shape
    if not rounds or length < 2:
        return 1.0
    total = 0
    for layer, head, first in product(range(layers), range(heads), range(0, length, TOGETHER)):
        rows = np.arange(first, min(length, first + TOGETHER))
        total += int(
            (
                _mark_meetings(read.buckets[layer, head], read.chunk, rows)
                & (np.arange(length) < rows[:, None])
            ).sum()
        )
    return float(total / (layers * heads * length * (length - 1) / 2))


def overview(read: Read, hashed: bool) -> Overview:
    """Return the maps of every head, exact if there are no more positions than blocks."""
    layers, heads, length = read.queries.shape[:3]
    tally = Tally(layers, heads, length)
    for layer, head, first in product(range(layers), range(heads), range(0, length, TOGETHER)):
        rows = np.arange(first, min(length, first + TOGETHER))
        keys = np.arange(rows[-1] + 1)
        tally.add_weights(
            layer,
            compute_shared_weights(read, layer, head, rows, hashed)[None, :, : len(keys)],
            rows,
            keys,
            slice(head, head + 1),
        )
    return tally.summarise()
