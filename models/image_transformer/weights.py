"""The attention weights of a finished picture, computed from the queries and keys of its result
with NumPy alone."""

from __future__ import annotations

import math

import numpy as np

from models.explaining.attention_pooling import softmax
from models.image_transformer.records import Array, Made


def weights(made: Made, layer: int, which: range | None = None) -> Array:
    """Return softmax(Q Kᵀ / √d_head) of one layer over the first picture (Parmar et al., 2018, eq.
    1), (head, position, slot), float32.

    Slot s of a position is the s-th key that its block may see: the memory, ascending, then the
    block itself up to the position; later slots are 0. layer: from 0; raise IndexError if there is
    none. which: these positions only.
    """
    queries, keys = made.queries[layer].astype(np.float32), made.keys[layer].astype(np.float32)
    heads, length, d_head = queries.shape
    bounds = list(zip(made.starts[:-1].tolist(), made.starts[1:].tolist(), strict=True))
    memories = np.split(made.memory, made.ends[:-1])
    slots = max(
        len(memory) + stop - start for (start, stop), memory in zip(bounds, memories, strict=True)
    )
    which = range(length) if which is None else which
    found = np.zeros((heads, length, slots), np.float32)
    for (start, stop), memory in zip(bounds, memories, strict=True):
        if stop <= which.start or start >= which.stop:
            continue
        seen = np.concatenate((memory, np.arange(start, stop)))
        scores = queries[:, start:stop] @ keys[:, seen].swapaxes(1, 2) / math.sqrt(d_head)
        own = np.tril(np.ones((stop - start, len(seen)), bool), len(memory))
        found[:, start:stop, : len(seen)] = softmax(scores, own)
    return found[:, which.start : which.stop]
