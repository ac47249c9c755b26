"""The soft mask, and the attention before and after it, computed from stored queries and keys
without torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.adaptive_span.records import Array, Explanation
from models.explaining.attention_pooling import Tally, align_by_distance, check_indices, softmax


@dataclass(frozen=True)
class Look:
    """The attention of some positions, (row, position) each.

    It is 0 for later positions and for those S or more before a position. before: softmax(s) over
    the last S positions. mask: m_z of each distance. after: their product, normalised to a sum of 1
    (eq. 4).
    """

    before: Array
    mask: Array
    after: Array


def look(explanation: Explanation, layer: int, head: int, rows: Sequence[int]) -> Look:
    """Return the attention of a few positions of one head.

    rows: positions, from 0. Raise IndexError if there is no such layer, head or position.
    """
    check_indices(explanation.queries.shape, layer, head, rows)
    found = np.zeros((3, len(rows), explanation.queries.shape[2]), np.float32)
    wanted = np.array(rows, np.int64)
    # Neighbouring rows are computed together.
    for some in (
        np.split(np.arange(len(rows)), np.flatnonzero(np.diff(wanted) != 1) + 1) if rows else ()
    ):
        near = wanted[some]
        keys = np.arange(max(0, near[0] - explanation.span + 1), near[-1] + 1)
        found[:, some[:, None], keys] = [
            one[0] for one in _weights(explanation, layer, near, keys, slice(head, head + 1))
        ]
    return Look(*found)


@dataclass(frozen=True)
class Overview:
    """The attention of a whole run, small enough to send: without the soft mask (before) and under
    it (after).

    pooled_*: the mean over `by` queries of the sum over `by` keys, so that rows sum to 1, (layer,
    head, block, block). distances_*: the mean weight at a distance, over all positions that have
    one so far before them, (layer, head, distance), 0 … min(S, length) − 1.
    """

    pooled_before: Array
    pooled_after: Array
    by: int
    distances_before: Array
    distances_after: Array


def overview(explanation: Explanation, at_once: int = 128) -> Overview:
    """Return pooled maps and the weight by distance of each head.

    Every weight is computed once, some rows at a time.
    """
    layers, heads, length, _ = explanation.queries.shape
    tallies = Tally(layers, heads, length), Tally(layers, heads, length)
    for begin in range(0, length, at_once):
        rows = np.arange(begin, min(begin + at_once, length))
        keys = np.arange(max(0, begin - explanation.span + 1), rows[-1] + 1)
        for layer in range(layers):
            before, _, after = _weights(explanation, layer, rows, keys)
            for tally, weights in zip(tallies, (before, after), strict=True):
                tally.add_weights(layer, weights, rows, keys)
    plain, masked = (tally.summarise() for tally in tallies)
    return Overview(
        plain.pooled,
        masked.pooled,
        plain.by,
        plain.distances[..., : explanation.span],
        masked.distances[..., : explanation.span],
    )


def _weights(
    explanation: Explanation,
    layer: int,
    rows: NDArray[np.int64],
    keys: NDArray[np.int64],
    head: slice = slice(None),
) -> Sequence[Array]:
    """Return the weights before the mask, the mask, and the weights after it, (head, row, key).

    The rows are consecutive, and the keys end at the last row.
    """
    distance = rows[:, None] - keys
    allowed = (distance >= 0) & (distance < explanation.span)
    query: Any = explanation.queries[layer, head][:, rows].astype(np.float32) * np.float32(
        1 / math.sqrt(explanation.queries.shape[3])
    )
    key, table = (
        explanation.keys[layer, head][:, keys].astype(np.float32),
        explanation.table[layer].astype(np.float32),
    )
    before = softmax(
        query @ key.swapaxes(1, 2) + align_by_distance(query @ table.T, len(keys)), allowed
    )
    z = explanation.z[layer, head]
    spans = z[:, rows] if z.shape[1] > 1 else z
    mask = (
        np.clip(
            (explanation.ramp + spans[..., None] - distance.astype(np.float32)) / explanation.ramp,
            0,
            1,
        )
        * allowed
    )
    after = before * mask
    return before, np.broadcast_to(mask, after.shape), after / after.sum(2, keepdims=True)
