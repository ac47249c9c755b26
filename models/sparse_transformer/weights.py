"""Weights of attention from a run's queries and keys, without running a model again. No torch here."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from models.layers.patterns import Factor as Factor
from models.looking import Overview as Overview
from models.looking import Tally, softmax, within
from models.sparse_transformer.records import Array, Made


def factor_of(made: Made, layer: int, head: int) -> Factor:
    """What a head attends with: A1, A2 or both. IndexError where there is no such layer or head."""
    within(made.queries.shape, layer, head, ())
    return [factor for count, factor in made.pattern.of_heads(made.use, layer, made.queries.shape[1]) for _ in range(count)][head]


def look(made: Made, layer: int, head: int, rows: Sequence[int]) -> Array:
    """softmax(q_i K_{S_i}ᵀ / √d) of a few positions (Child et al., 2019, §4.2): (row, position) float32, 0 outside the pattern.

    rows: positions, from 0. IndexError where there is no such layer, head or position.
    """
    factor = factor_of(made, layer, head)
    queries, keys = made.queries[layer, head].astype(np.float32), made.keys[layer, head].astype(np.float32)
    within(made.queries.shape, layer, head, rows)
    found = np.zeros((len(rows), len(keys)), np.float32)
    for weights, row in zip(found, rows, strict=True):
        seen = factor.keys(row)
        if len(seen):
            weights[seen] = softmax(keys[seen] @ queries[row] / math.sqrt(keys.shape[1]))
    return found


def overview(made: Made, at_once: int = 112) -> Overview:
    """Pooled maps, and how far each head looks; every weight is made once, some rows at a time."""
    layers, heads, length, d_head = made.queries.shape
    tally = Tally(layers, heads, length)
    allowed = {factor: factor.allowed(length) for layer in range(layers) for _, factor in made.pattern.of_heads(made.use, layer, heads)}
    for layer in range(layers):
        masks = [allowed[factor_of(made, layer, head)] for head in range(heads)]
        query = made.queries[layer].astype(np.float32) / np.float32(math.sqrt(d_head))
        key = made.keys[layer].astype(np.float32)
        for begin in range(0, length, at_once):
            rows = np.arange(begin, min(begin + at_once, length))
            keys = np.arange(rows[-1] + 1)
            seen = np.stack([mask[rows, : len(keys)] for mask in masks])
            tally.add(layer, softmax(query[:, rows] @ key[:, keys].swapaxes(1, 2), seen), rows, keys)
    return tally.overview()
