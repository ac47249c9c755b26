"""Weights of attention from a run's queries and keys, without running a model again. No torch here."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from models.layers.patterns import Factor
from models.sparse_transformer.records import Array, Made


def factor_of(made: Made, layer: int, head: int) -> Factor:
    """What a head attends with: A1, A2 or both. IndexError where there is no such layer or head."""
    layers, heads = made.queries.shape[:2]
    if not (0 <= layer < layers and 0 <= head < heads):
        raise IndexError(f"head {layer}.{head}: there are {layers} layers of {heads} heads")
    first = 0
    for count, factor in made.pattern.of_heads(made.use, layer, heads):
        if head < first + count:
            return factor
        first += count
    raise IndexError(f"head {head} of {heads}")


def look(made: Made, layer: int, head: int, rows: Sequence[int]) -> Array:
    """softmax(q_i K_{S_i}ᵀ / √d) of a few positions (Child et al., 2019, §4.2): (row, position) float32, 0 outside the pattern.

    rows: positions, from 0. IndexError where there is no such layer, head or position.
    """
    factor = factor_of(made, layer, head)
    queries, keys = made.queries[layer, head].astype(np.float32), made.keys[layer, head].astype(np.float32)
    if any(not 0 <= row < len(queries) for row in rows):
        raise IndexError(f"positions 0 … {len(queries) - 1}, not {max(rows)}")
    found = np.zeros((len(rows), len(keys)), np.float32)
    for weights, row in zip(found, rows, strict=True):
        seen = factor.keys(row)
        if len(seen):
            scores = keys[seen] @ queries[row] / math.sqrt(keys.shape[1])
            scores = np.exp(scores - scores.max())
            weights[seen] = scores / scores.sum()
    return found


def by_offset(made: Made, layer: int, head: int) -> Array:
    """(distance,) mean weight that a head gives to what stands so far before, over all positions that have one so far before them.

    In a digit, distance 28 · r + c is r rows up and c pixels to the left.
    """
    length = made.queries.shape[2]
    total = np.zeros(length)
    for row, weights in enumerate(look(made, layer, head, range(length))):
        total[: row + 1] += weights[row::-1]
    found: Array = (total / np.arange(length, 0, -1)).astype(np.float32)
    return found
