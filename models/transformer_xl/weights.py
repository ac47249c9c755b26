"""Scores and attention of a reading, from its queries and keys, without running a model again. No torch here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.looking import Overview as Overview
from models.looking import Tally, by_place, softmax, within
from models.transformer_xl.records import Array, Reading, TermMaps


def places(reading: Reading, segment: int) -> NDArray[np.int64]:
    """(key,) which keys a segment sees: those of its memory, the farthest first, then its own. IndexError for no such segment."""
    length = reading.queries.shape[2]
    if not 0 <= segment < len(reading.remembered):
        raise IndexError(f"segments 0 … {len(reading.remembered) - 1}, not {segment}")
    memory = reading.remembered[segment]
    own = np.arange(segment * reading.segment, min(length, (segment + 1) * reading.segment))
    return np.concatenate((memory[memory >= 0].astype(np.int64), own))


def terms(reading: Reading, layer: int, head: int, segment: int) -> TermMaps:
    """The four terms of a segment's scores for one head, their sum and the weights.

    IndexError where there is no such layer, head or segment. Without distances the content is all there is, and the rest is 0.
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
        np.where(hidden, 0, part * scale).astype(np.float32) for part in (content, position, global_content, global_position)
    )
    scores = content + position + global_content + global_position
    return TermMaps(content, position, global_content, global_position, scores, softmax(scores, ~hidden), seen)


def look(reading: Reading, layer: int, head: int, rows: Sequence[int]) -> Array:
    """Attention of a few positions: (row, key) float32 over all keys of the reading, 0 for those that a position does not see.

    rows: positions, from 0. IndexError where there is no such layer, head or position.
    """
    within(reading.queries.shape, layer, head, rows)
    found = np.zeros((len(rows), reading.keys.shape[2]), np.float32)
    wanted = np.array(rows, np.int64)
    for number in np.unique(wanted // reading.segment).tolist():
        chosen, seen = np.flatnonzero(wanted // reading.segment == number), places(reading, number)
        weights = _weights(reading, number, seen, layer, slice(head, head + 1))[0]
        found[chosen[:, None], seen] = weights[wanted[chosen] - number * reading.segment]
    return found


def overview(reading: Reading, most: int = 256) -> Overview:
    """Pooled maps of at most `most` blocks on a side, and how far each head looks; what goes to another book's memory is in no block."""
    layers, heads, length = reading.queries.shape[:3]
    tally = Tally(layers, heads, length, reading.memory + reading.segment, most)
    for number in range(len(reading.remembered)):
        seen = places(reading, number)
        keys = np.where(seen < length, seen, tally.blocks * tally.by)
        for layer in range(layers):
            weights = _weights(reading, number, seen, layer)
            tally.add(layer, weights, number * reading.segment + np.arange(weights.shape[1]), keys)
    return tally.overview()


def _weights(reading: Reading, segment: int, seen: NDArray[np.int64], layer: int, head: slice = slice(None)) -> Array:
    """(head, query, key) the weights of a segment, which sees these keys."""
    first = segment * reading.segment
    query: Any = reading.queries[layer, head, first : first + reading.segment].astype(np.float32)
    key = reading.keys[layer, head][:, seen].astype(np.float32)
    rows, keys = query.shape[1], len(seen)
    if reading.table.size:
        table = reading.table[layer, head][:, :keys].astype(np.float32)
        scores = (query + reading.u[layer, head][:, None]) @ key.swapaxes(1, 2)
        scores += by_place((query + reading.v[layer, head][:, None]) @ table.swapaxes(1, 2), keys)
    else:
        scores = query @ key.swapaxes(1, 2)
    earlier = np.arange(keys - rows, keys)[:, None] >= np.arange(keys)
    return softmax(scores * np.float32(1 / math.sqrt(query.shape[2])), earlier)


def travelled(length: int, segment: int, memory: int, layers: int) -> NDArray[np.int64]:
    """(layer + 1, position) the earliest character that a position can know of after so many layers, 0 of them in the first row.

    Each layer reaches one memory farther: information travels layers × memory characters at most, and no state is computed twice.
    """
    position = np.arange(length)
    first_key = np.maximum(0, position // segment * segment - memory)
    rows: list[Any] = [position]
    for _ in range(layers):
        rows.append(rows[-1][first_key])
    return np.stack(rows)
