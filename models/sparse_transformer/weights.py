"""Weights of attention from a run's queries and keys, without running a model again. No torch here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.layers.patterns import Factor
from models.looking import add_blocks, by_diagonal, means
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


@dataclass(frozen=True)
class Overview:
    """Every head of a run at once.

    pooled: (layer, head, block, block), `by` positions to a block: mean over a block's queries of the weight that its keys get together.
    distances: (layer, head, distance) mean weight that goes so far back, as `by_offset` gives it for one head.
    """

    pooled: Array
    by: int
    distances: Array


def overview(made: Made, most: int = 256, at_once: int = 112) -> Overview:
    """Pooled maps of at most `most` blocks on a side, and how far each head looks; every weight is made once, some rows at a time."""
    layers, heads, length, d_head = made.queries.shape
    by = -(-length // most)
    blocks = -(-length // by)
    pooled = np.zeros((layers, heads, blocks, blocks), np.float32)
    total = np.zeros((layers, heads, length))
    allowed = {factor: factor.allowed(length) for layer in range(layers) for _, factor in made.pattern.of_heads(made.use, layer, heads)}
    for layer in range(layers):
        masks = [allowed[factor_of(made, layer, head)] for head in range(heads)]
        query = made.queries[layer].astype(np.float32) / np.float32(math.sqrt(d_head))
        key = made.keys[layer].astype(np.float32)
        for begin in range(0, length, at_once):
            rows = np.arange(begin, min(begin + at_once, length))
            keys = np.arange(rows[-1] + 1)
            seen = np.stack([mask[rows, : len(keys)] for mask in masks])
            scores = np.where(seen, query[:, rows] @ key[:, keys].swapaxes(1, 2), -np.inf)
            largest = scores.max(2, keepdims=True)
            weights = np.exp(scores - np.where(np.isfinite(largest), largest, 0))  # a query of the fixed A2 may see nothing
            weights /= np.maximum(weights.sum(2, keepdims=True), np.finfo(np.float32).tiny)
            add_blocks(pooled[layer], weights, rows, keys, by)
            total[layer, :, : len(keys)] += by_diagonal(weights)
    return Overview(means(pooled, length, by), by, (total / np.arange(length, 0, -1)).astype(np.float32))
