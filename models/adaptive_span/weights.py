"""The soft mask, and attention before and after it, from a run's queries and keys, without running a model again. No torch here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.adaptive_span.records import Array, Explanation


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
