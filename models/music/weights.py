"""Weights of attention from a run's queries and keys, without running a model again. No torch here."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from models.looking import softmax, within
from models.music.records import Array, Made


def look(made: Made, layer: int, head: int, rows: Sequence[int]) -> Array:
    """softmax((Q Kᵀ + S_rel) / √d_head) of a few events (Huang et al., 2018, eq. 3): (row, event) float32, 0 for what comes after each.

    rows: events, from 0. IndexError where there is no such layer, head or event, or no attention at all.
    """
    if not len(made.queries):
        raise IndexError(f"{made.variant} has no attention")
    queries, keys = made.queries[layer, head].astype(np.float32), made.keys[layer, head].astype(np.float32)
    within(made.queries.shape, layer, head, rows)
    chosen = queries[list(rows)]
    scores = chosen @ keys.T
    distance = np.array(rows)[:, None] - np.arange(len(keys))
    if made.table.size:
        table = made.table[layer, head].astype(np.float32)
        scores += np.take_along_axis(chosen @ table.T, np.clip(distance, 0, len(table) - 1), 1)
    return softmax(scores / math.sqrt(chosen.shape[1]), distance >= 0)
