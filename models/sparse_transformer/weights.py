"""Attention weights computed from a run's stored queries and keys, without torch."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from models.explaining.attention_pooling import Overview as Overview
from models.explaining.attention_pooling import Tally, check_indices, softmax
from models.layers.patterns import Factor as Factor
from models.sparse_transformer.records import Array, Made


def factor_of(made: Made, layer: int, head: int) -> Factor:
    """Return the factor of a head: A1, A2 or both.

    Raise IndexError if there is no such layer or head.
    """
    check_indices(made.queries.shape, layer, head, ())
    return [
        factor
        for count, factor in made.pattern.assign_heads(made.use, layer, made.queries.shape[1])
        for _ in range(count)
    ][head]


def look(made: Made, layer: int, head: int, rows: Sequence[int]) -> Array:
    """Return softmax(q_i K_{S_i}ᵀ / √d) of a few positions (Child et al., 2019, §4.2), (row,
    position), float32; 0 outside the pattern.

    rows: positions, from 0. Raise IndexError if there is no such layer, head or position.
    """
    factor = factor_of(made, layer, head)
    queries, keys = (
        made.queries[layer, head].astype(np.float32),
        made.keys[layer, head].astype(np.float32),
    )
    check_indices(made.queries.shape, layer, head, rows)
    found = np.zeros((len(rows), len(keys)), np.float32)
    for weights, row in zip(found, rows, strict=True):
        seen = factor.list_keys(row)
        if len(seen):
            weights[seen] = softmax(keys[seen] @ queries[row] / math.sqrt(keys.shape[1]))
    return found


def overview(made: Made, at_once: int = 112) -> Overview:
    """Return pooled maps and the weight by distance of each head.

    Every weight is computed once, some rows at a time.
    """
    layers, heads, length, d_head = made.queries.shape
    tally = Tally(layers, heads, length)
    allowed = {
        factor: factor.build_mask(length)
        for layer in range(layers)
        for _, factor in made.pattern.assign_heads(made.use, layer, heads)
    }
    for layer in range(layers):
        masks = [allowed[factor_of(made, layer, head)] for head in range(heads)]
        query = made.queries[layer].astype(np.float32) / np.float32(math.sqrt(d_head))
        key = made.keys[layer].astype(np.float32)
        for begin in range(0, length, at_once):
            rows = np.arange(begin, min(begin + at_once, length))
            keys = np.arange(rows[-1] + 1)
            seen = np.stack([mask[rows, : len(keys)] for mask in masks])
            tally.add_weights(
                layer, softmax(query[:, rows] @ key[:, keys].swapaxes(1, 2), seen), rows, keys
            )
    return tally.summarise()
