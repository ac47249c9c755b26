"""The soft mask, and attention before and after it, from a run's queries and keys, without running a model again. No torch here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.adaptive_span.records import Array, Explanation
from models.looking import add_blocks, by_diagonal, by_place, means


@dataclass(frozen=True)
class Look:
    """Attention of some positions, (row, position) each, 0 for what comes after a position and what lies S or more before it.

    before: softmax(s) over the last S positions; mask: m_z of each distance; after: their product, brought back to a sum of 1 (eq. 4).
    """

    before: Array
    mask: Array
    after: Array


def soft_mask(z: float, ramp: int, span: int) -> Array:
    """(distance,) m_z(x) = clamp((R + z − x) / R, 0, 1) for the distances 0 … S − 1 (eq. 3)."""
    found: Array = np.clip((ramp + z - np.arange(span)) / ramp, 0, 1).astype(np.float32)
    return found


def look(seen: Explanation, layer: int, head: int, rows: Sequence[int]) -> Look:
    """Attention of a few positions of one head. rows: positions, from 0. IndexError where there is no such layer, head or position."""
    layers, heads, length, d_head = seen.queries.shape
    if not (0 <= layer < layers and 0 <= head < heads):
        raise IndexError(f"there is no head {layer}.{head}: {layers} layers of {heads} heads")
    if not all(0 <= row < length for row in rows):
        raise IndexError(f"positions 0 … {length - 1}, not {', '.join(map(str, rows))}")
    chosen = seen.queries[layer, head, list(rows)].astype(np.float32)
    keys, table = seen.keys[layer, head].astype(np.float32), seen.table[layer].astype(np.float32)
    distance = np.array(rows, np.int64).reshape(-1, 1) - np.arange(length)
    allowed = (distance >= 0) & (distance < seen.span)
    scores = chosen @ keys.T + np.take_along_axis(chosen @ table.T, np.clip(distance, 0, len(table) - 1), 1)
    scores = np.where(allowed, scores / math.sqrt(d_head), -np.inf)
    before = np.exp(scores - scores.max(1, keepdims=True, initial=-1e30))
    before /= before.sum(1, keepdims=True)
    z = seen.z[layer, head]
    spans = z[list(rows)] if len(z) == length else np.broadcast_to(z, (len(rows),))
    mask = np.where(allowed, np.clip((seen.ramp + spans[:, None] - distance) / seen.ramp, 0, 1), 0)
    after = before * mask
    after = after / after.sum(1, keepdims=True)
    return Look(before.astype(np.float32), mask.astype(np.float32), after.astype(np.float32))


@dataclass(frozen=True)
class Overview:
    """All attention of a run, small enough to be sent: without the soft mask (before) and under it (after).

    pooled_*: (layer, head, block, block), the mean of `by` queries and the sum of `by` keys, so that rows sum to 1. distances_*: (layer,
    head, distance) mean weight of all positions that have one so far before them: 0 … min(S, length) − 1.
    """

    pooled_before: Array
    pooled_after: Array
    by: int
    distances_before: Array
    distances_after: Array


def overview(seen: Explanation, most: int = 256, at_once: int = 128) -> Overview:
    """Pooled maps of at most `most` blocks on a side, and how far each head looks; every weight is made once, some rows at a time."""
    layers, heads, length, _ = seen.queries.shape
    by = -(-length // most)
    blocks = -(-length // by)
    pooled = np.zeros((2, layers, heads, blocks, blocks), np.float32)
    total = np.zeros((2, layers, heads, length))
    for begin in range(0, length, at_once):
        rows = np.arange(begin, min(begin + at_once, length))
        keys = np.arange(max(0, begin - seen.span + 1), rows[-1] + 1)
        distance = rows[:, None] - keys
        for layer, both in _all_heads(seen, rows, keys, distance):
            for which, weights in enumerate(both):
                add_blocks(pooled[which, layer], weights, rows, keys, by)
                total[which, layer, :, : len(keys)] += by_diagonal(weights)
    before, after = means(pooled, length, by)
    far = (total / np.arange(length, 0, -1))[..., : seen.span].astype(np.float32)
    return Overview(before, after, by, far[0], far[1])


def _all_heads(
    seen: Explanation, rows: NDArray[np.int64], keys: NDArray[np.int64], distance: NDArray[np.int64]
) -> Iterator[tuple[int, tuple[Array, Array]]]:
    """Layer by layer, (head, row, key) weights before and after the mask, of some rows and all keys that they can see."""
    hidden = (distance < 0) | (distance >= seen.span)
    scale = np.float32(1 / math.sqrt(seen.queries.shape[3]))
    for layer in range(len(seen.queries)):
        query = seen.queries[layer][:, rows].astype(np.float32) * scale
        key, table = seen.keys[layer][:, keys].astype(np.float32), seen.table[layer].astype(np.float32)
        scores = query @ key.swapaxes(1, 2)
        scores += by_place(query @ table.T, len(keys))
        scores[:, hidden] = -np.inf
        before = np.exp(scores - scores.max(2, keepdims=True))
        before /= before.sum(2, keepdims=True)
        z = seen.z[layer]
        spans = z[:, rows] if z.shape[1] > 1 else z
        after = before * np.clip((seen.ramp + spans[..., None] - distance.astype(np.float32)) / seen.ramp, 0, 1)
        after /= after.sum(2, keepdims=True)
        yield layer, (before, after)


def by_distance(seen: Explanation, layer: int, head: int, at_once: int = 256) -> Array:
    """(distance,) mean weight, after the mask, of all positions that have one so far before them: 0 … min(S, length) − 1."""
    length = seen.queries.shape[2]
    total = np.zeros(length, np.float64)
    for begin in range(0, length, at_once):
        rows = range(begin, min(begin + at_once, length))
        for row, weights in zip(rows, look(seen, layer, head, rows).after, strict=True):
            total[: row + 1] += weights[row::-1]
    found: Array = (total / np.arange(length, 0, -1))[: seen.span].astype(np.float32)
    return found
