"""Weights of attention from a run's queries and keys, without running a model again. No torch here."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from models.music.records import Array, Made


def look(made: Made, layer: int, head: int, rows: Sequence[int]) -> Array:
    """softmax((Q Kᵀ + S_rel) / √d_head) of a few events (Huang et al., 2018, eq. 3): (row, event) float32, 0 for what comes after each.

    rows: events, from 0. IndexError where there is no such layer, head or event, or no attention at all.
    """
    if not len(made.queries):
        raise IndexError(f"{made.variant} has no attention")
    queries, keys = made.queries[layer, head].astype(np.float32), made.keys[layer, head].astype(np.float32)
    if any(not 0 <= row < len(queries) for row in rows):
        raise IndexError(f"events 0 … {len(queries) - 1}, not {max(rows)}")
    chosen = queries[list(rows)]
    scores = chosen @ keys.T
    distance = np.array(rows)[:, None] - np.arange(len(keys))
    if made.table.size:
        table = made.table[layer, head].astype(np.float32)
        scores += np.take_along_axis(chosen @ table.T, np.clip(distance, 0, len(table) - 1), 1)
    scores = np.where(distance < 0, -np.inf, scores / math.sqrt(chosen.shape[1]))
    scores = np.exp(scores - scores.max(1, keepdims=True))
    found: Array = (scores / scores.sum(1, keepdims=True)).astype(np.float32)
    return found


def by_distance(made: Made, layer: int, head: int, at_once: int = 256) -> Array:
    """(distance,) mean weight of all events that have one so far before them: what a head listens for."""
    length = made.queries.shape[2] if made.queries.size else 0
    total = np.zeros(length, np.float64)
    for begin in range(0, length, at_once):
        rows = range(begin, min(begin + at_once, length))
        for row, weights in zip(rows, look(made, layer, head, rows), strict=True):
            total[: row + 1] += weights[row::-1]
    found: Array = (total / np.arange(length, 0, -1)).astype(np.float32)
    return found
