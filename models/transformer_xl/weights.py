"""Scores and attention weights computed from a reading's stored queries and keys, without torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.explaining.attention_pooling import Overview as Overview
from models.explaining.attention_pooling import Tally, align_by_distance, check_indices, softmax
from models.transformer_xl.records import Array, Reading, TermMaps


def places(reading: Reading, segment: int) -> NDArray[np.int64]:
    """Return the keys that a segment sees, (key,): those of its memory, the farthest first, then
    its own.

    Raise IndexError if there is no such segment.
    """
    length = reading.queries.shape[2]
    if not 0 <= segment < len(reading.remembered):
        raise IndexError(f"segments 0 … {len(reading.remembered) - 1}, not {segment}")
    memory = reading.remembered[segment]
    own = np.arange(segment * reading.segment, min(length, (segment + 1) * reading.segment))
    return np.concatenate((memory[memory >= 0].astype(np.int64), own))


def terms(reading: Reading, layer: int, head: int, segment: int) -> TermMaps:
    """Return the four terms of a segment's scores for one head, their sum and the weights.

    Without distances, the content is the only term, and the others are 0. Raise IndexError if there
    is no such layer, head or segment.
    """
    seen = places(reading, segment)
    first = segment * reading.segment
    count = min(reading.queries.shape[2], first + reading.segment) - first
    query = reading.queries[layer, head, first : first + count].astype(np.float32)
    key = reading.keys[layer, head, seen].astype(np.float32)
    distance = np.arange(len(seen) - count, len(seen))[:, None] - np.arange(len(seen))
    hidden, scale = distance < 0, 1 / math.sqrt(query.shape[1])
    content = query @ key.T
    position, global_content, global_position = (np.zeros_like(content) for _ in range(3))
    if reading.table.size:
        table = reading.table[layer, head].astype(np.float32)
        index = np.clip(distance, 0, len(table) - 1)
        position = np.take_along_axis(query @ table.T, index, 1)
        global_content = np.broadcast_to(reading.u[layer, head] @ key.T, content.shape)
        global_position = (reading.v[layer, head] @ table.T)[index]
    content, position, global_content, global_position = (
        np.where(hidden, 0, part * scale).astype(np.float32)
        for part in (content, position, global_content, global_position)
    )
    scores = content + position + global_content + global_position
    return TermMaps(
        content, position, global_content, global_position, scores, softmax(scores, ~hidden), seen
    )


def look(reading: Reading, layer: int, head: int, rows: Sequence[int]) -> Array:
    """Return the attention of a few positions over all keys of the reading, (row, key), float32, 0
    for keys that a position does not see.

    rows: positions, from 0. Raise IndexError if there is no such layer, head or position.
    """
    check_indices(reading.queries.shape, layer, head, rows)
    found = np.zeros((len(rows), reading.keys.shape[2]), np.float32)
    wanted = np.array(rows, np.int64)
    for number in np.unique(wanted // reading.segment).tolist():
        chosen, seen = np.flatnonzero(wanted // reading.segment == number), places(reading, number)
        weights = _weights(reading, number, seen, layer, slice(head, head + 1))[0]
        found[chosen[:, None], seen] = weights[wanted[chosen] - number * reading.segment]
    return found


def overview(reading: Reading, most: int = 256) -> Overview:
    """Return pooled maps of at most `most` blocks on a side, and the weight by distance of each
    head.

    Weights on another book's memory are in no block.
    """
    layers, heads, length = reading.queries.shape[:3]
    tally = Tally(layers, heads, length, reading.memory + reading.segment, most)
    for number in range(len(reading.remembered)):
        seen = places(reading, number)
        keys = np.where(seen < length, seen, tally.blocks * tally.by)
        for layer in range(layers):
            weights = _weights(reading, number, seen, layer)
            tally.add_weights(
                layer, weights, number * reading.segment + np.arange(weights.shape[1]), keys
            )
    return tally.summarise()


def _weights(
    reading: Reading, segment: int, seen: NDArray[np.int64], layer: int, head: slice = slice(None)
) -> Array:
    """Return the weights of a segment that sees the given keys, (head, query, key)."""
    first = segment * reading.segment
    query: Any = reading.queries[layer, head, first : first + reading.segment].astype(np.float32)
    key = reading.keys[layer, head][:, seen].astype(np.float32)
    rows, keys = query.shape[1], len(seen)
    if reading.table.size:
        table = reading.table[layer, head][:, :keys].astype(np.float32)
        scores = (query + reading.u[layer, head][:, None]) @ key.swapaxes(1, 2)
        scores += align_by_distance(
            (query + reading.v[layer, head][:, None]) @ table.swapaxes(1, 2), keys
        )
    else:
        scores = query @ key.swapaxes(1, 2)
    earlier = np.arange(keys - rows, keys)[:, None] >= np.arange(keys)
    return softmax(scores * np.float32(1 / math.sqrt(query.shape[2])), earlier)


def find_farthest_known(length: int, segment: int, memory: int, layers: int) -> NDArray[np.int64]:
    """Return the earliest character that can affect a position after each number of layers, from 0,
    (layer + 1, position).

    Each layer reaches one memory farther: information travels at most layers × memory characters,
    and no state is computed twice.
    """
    position = np.arange(length)
    first_key = np.maximum(0, position // segment * segment - memory)
    rows: list[Any] = [position]
    for _ in range(layers):
        rows.append(rows[-1][first_key])
    return np.stack(rows)
