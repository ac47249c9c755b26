"""Scores and attention of a reading, from its queries and keys, without running a model again. No torch here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    weights = np.where(hidden, -np.inf, scores)
    weights = np.exp(weights - weights.max(1, keepdims=True))
    weights = (weights / weights.sum(1, keepdims=True)).astype(np.float32)
    return TermMaps(content, position, global_content, global_position, scores, weights, seen)


def look(reading: Reading, layer: int, head: int, rows: Sequence[int]) -> Array:
    """Attention of a few positions: (row, key) float32 over all keys of the reading, 0 for those that a position does not see.

    rows: positions, from 0. IndexError where there is no such layer, head or position.
    """
    length = reading.queries.shape[2]
    if any(not 0 <= row < length for row in rows):
        raise IndexError(f"positions 0 … {length - 1}, not {max(rows)}")
    found = np.zeros((len(rows), reading.keys.shape[2]), np.float32)
    maps: dict[int, TermMaps] = {}
    for i, row in enumerate(rows):
        number = row // reading.segment
        if number not in maps:
            maps[number] = terms(reading, layer, head, number)
        found[i, maps[number].places] = maps[number].weights[row - number * reading.segment]
    return found


def by_distance(reading: Reading, layer: int, head: int) -> Array:
    """(distance,) mean weight of all positions that see a key so far before them: how far a head looks back."""
    farthest = reading.memory + reading.segment
    total, count = np.zeros(farthest), np.zeros(farthest)
    for number in range(len(reading.remembered)):
        weights = terms(reading, layer, head, number).weights
        rows, keys = weights.shape
        distance = np.arange(keys - rows, keys)[:, None] - np.arange(keys)
        seen = distance >= 0
        total += np.bincount(distance[seen], weights[seen], farthest)
        count += np.bincount(distance[seen], minlength=farthest)
    found: Array = (total / np.maximum(count, 1)).astype(np.float32)
    return found


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


def gradient_stops(length: int, segment: int) -> NDArray[np.int64]:
    """(position,) the earliest character that a gradient of a position reaches in training: its own segment's first."""
    return np.arange(length) // segment * segment
