"""Weights of attention from a run's queries and buckets, without running a model again. No torch here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.looking import add_blocks, means
from models.reformer.records import Array, Read

TOGETHER = 128  # queries whose weights stand in memory at a time


def shared(read: Read, layer: int, head: int, rows: Sequence[int] | NDArray[np.int64], hashed: bool) -> Array:
    """softmax(q_i · q_j / |q_j|) of a few queries over what stands before them: (row, position) float32.

    hashed: over what any round lets them see, their own chunk of the sorted order and the one before, instead of everything. A query's own
    key counts only where it sees no other. rows: positions from 0. IndexError where there is no such layer, head or position.
    """
    layers, heads, length = read.queries.shape[:3]
    wanted = np.asarray(rows, np.int64)
    if not (0 <= layer < layers and 0 <= head < heads) or (len(wanted) and not (wanted.min() >= 0 and wanted.max() < length)):
        raise IndexError(f"head {layer}.{head}, positions {wanted.tolist()[:3]}: there are {layers} × {heads} heads and {length} positions")
    query = read.queries[layer, head].astype(np.float32)
    key = query / np.maximum(np.sqrt((query**2).sum(1, keepdims=True)), 1e-12)
    seen = np.arange(length) < wanted[:, None]
    if hashed and read.buckets.shape[2]:
        seen &= _met(read.buckets[layer, head], read.chunk, wanted)
    scores = np.where(seen, query[wanted] @ key.T, -np.inf)
    alone = np.flatnonzero(~seen.any(1))
    scores[alone, wanted[alone]] = 0
    found = np.exp(scores - scores.max(1, keepdims=True))
    made: Array = (found / found.sum(1, keepdims=True)).astype(np.float32)
    return made


def _met(buckets: NDArray[np.int16], chunk: int, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(row, key): do they meet in any round? buckets: (round, position)."""
    together = np.zeros((len(rows), buckets.shape[1]), bool)
    for one in buckets:
        number = np.empty(len(one), np.int64)
        number[np.argsort(one, kind="stable")] = np.arange(len(one)) // chunk
        apart = number[rows, None] - number
        together |= (apart == 0) | (apart == 1)
    return together


def compared(read: Read) -> float:
    """Share of all pairs of a position and an earlier one that its rounds compared, the mean over layers and heads; 1 without hashing."""
    layers, heads, rounds, length = read.buckets.shape
    if not rounds or length < 2:
        return 1.0
    total = 0
    for layer in range(layers):
        for head in range(heads):
            for first in range(0, length, TOGETHER):
                rows = np.arange(first, min(length, first + TOGETHER))
                total += int((_met(read.buckets[layer, head], read.chunk, rows) & (np.arange(length) < rows[:, None])).sum())
    return float(total / (layers * heads * length * (length - 1) / 2))


@dataclass(frozen=True)
class Overview:
    """All attention of a run, small enough to be sent: (layer, head, block, block) weights, the mean of `by` queries, the sum of `by` keys,
    so that rows sum to 1."""

    pooled: Array
    by: int


def overview(read: Read, hashed: bool, most: int = 256) -> Overview:
    """Maps of every head of at most `most` blocks on a side; exact ones where there are no more positions than that."""
    layers, heads, length = read.queries.shape[:3]
    by = -(-length // most)
    blocks = -(-length // by)
    pooled = np.zeros((layers, heads, blocks, blocks), np.float32)
    for layer in range(layers):
        for head in range(heads):
            for first in range(0, length, TOGETHER):
                rows = np.arange(first, min(length, first + TOGETHER))
                weights = shared(read, layer, head, rows, hashed)
                add_blocks(pooled[layer, head : head + 1], weights[None], rows, np.arange(length), by)
    return Overview(means(pooled, length, by), by)
