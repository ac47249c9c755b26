"""Attention weights computed from a run's stored queries and keys, without torch."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from models.explaining.attention_pooling import check_indices, softmax
from models.music.records import Array, Made


def look(made: Made, layer: int, head: int, rows: Sequence[int]) -> Array:
    """Return softmax((Q Kᵀ + S_rel) / √d_head) of a few events (Huang et al., 2018, eq. 3), (row,
    event), float32; 0 for later events.

    rows: events, from 0. Raise IndexError if there is no such layer, head or event, or no attention
    at all.
    """
    if not len(made.queries):
        raise IndexError(f"{made.variant} has no attention")
    queries, keys = (
        made.queries[layer, head].astype(np.float32),
        made.keys[layer, head].astype(np.float32),
    )
    check_indices(made.queries.shape, layer, head, rows)
    chosen = queries[list(rows)]
    scores = chosen @ keys.T
    distance = np.array(rows)[:, None] - np.arange(len(keys))
    if made.table.size:
        table = made.table[layer, head].astype(np.float32)
        scores += np.take_along_axis(chosen @ table.T, np.clip(distance, 0, len(table) - 1), 1)
    return softmax(scores / math.sqrt(chosen.shape[1]), distance >= 0)
