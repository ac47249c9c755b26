"""The soft mask, and attention before and after it, from a run's queries and keys, without running a model again. No torch here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.adaptive_span.records import Array, Explanation
from models.looking import Tally, by_place, softmax, within


@dataclass(frozen=True)
class Look:
    """Attention of some positions, (row, position) each, 0 for what comes after a position and what lies S or more before it.

    before: softmax(s) over the last S positions; mask: m_z of each distance; after: their product, brought back to a sum of 1 (eq. 4).
    """

    before: Array
    mask: Array
    after: Array


def look(seen: Explanation, layer: int, head: int, rows: Sequence[int]) -> Look:
    """Attention of a few positions of one head. rows: positions, from 0. IndexError where there is no such layer, head or position."""
    within(seen.queries.shape, layer, head, rows)
    found = np.zeros((3, len(rows), seen.queries.shape[2]), np.float32)
    wanted = np.array(rows, np.int64)
    for some in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(wanted) != 1) + 1) if rows else ():  # neighbours at once
        near = wanted[some]
        keys = np.arange(max(0, near[0] - seen.span + 1), near[-1] + 1)
        found[:, some[:, None], keys] = [one[0] for one in _weights(seen, layer, near, keys, slice(head, head + 1))]
    return Look(*found)


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


def overview(seen: Explanation, at_once: int = 128) -> Overview:
    """Pooled maps, and how far each head looks; every weight is made once, some rows at a time."""
    layers, heads, length, _ = seen.queries.shape
    tallies = Tally(layers, heads, length), Tally(layers, heads, length)
    for begin in range(0, length, at_once):
        rows = np.arange(begin, min(begin + at_once, length))
        keys = np.arange(max(0, begin - seen.span + 1), rows[-1] + 1)
        for layer in range(layers):
            before, _, after = _weights(seen, layer, rows, keys)
            for tally, weights in zip(tallies, (before, after), strict=True):
                tally.add(layer, weights, rows, keys)
    plain, masked = (tally.overview() for tally in tallies)
    return Overview(plain.pooled, masked.pooled, plain.by, plain.distances[..., : seen.span], masked.distances[..., : seen.span])


def _weights(seen: Explanation, layer: int, rows: NDArray[np.int64], keys: NDArray[np.int64], head: slice = slice(None)) -> Sequence[Array]:
    """(head, row, key) weights before the mask, the mask and weights after it, of rows one after another and the keys up to the last."""
    distance = rows[:, None] - keys
    allowed = (distance >= 0) & (distance < seen.span)
    query: Any = seen.queries[layer, head][:, rows].astype(np.float32) * np.float32(1 / math.sqrt(seen.queries.shape[3]))
    key, table = seen.keys[layer, head][:, keys].astype(np.float32), seen.table[layer].astype(np.float32)
    before = softmax(query @ key.swapaxes(1, 2) + by_place(query @ table.T, len(keys)), allowed)
    z = seen.z[layer, head]
    spans = z[:, rows] if z.shape[1] > 1 else z
    mask = np.clip((seen.ramp + spans[..., None] - distance.astype(np.float32)) / seen.ramp, 0, 1) * allowed
    after = before * mask
    return before, np.broadcast_to(mask, after.shape), after / after.sum(2, keepdims=True)
