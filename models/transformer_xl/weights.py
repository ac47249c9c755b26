"""Scores and attention of a reading, from its queries and keys, without running a model again. No torch here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.looking import add_blocks, by_diagonal, by_place, means
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
    wanted = np.array(rows, np.int64)
    for number in np.unique(wanted // reading.segment).tolist():
        chosen = np.flatnonzero(wanted // reading.segment == number)
        seen = places(reading, number)
        held = len(seen) - (min(length, (number + 1) * reading.segment) - number * reading.segment)
        distance = held + wanted[chosen, None] - number * reading.segment - np.arange(len(seen))
        query, key = reading.queries[layer, head, wanted[chosen]].astype(np.float32), reading.keys[layer, head, seen].astype(np.float32)
        scores = query @ key.T
        if reading.table.size:
            table = reading.table[layer, head].astype(np.float32)
            scores += reading.u[layer, head] @ key.T
            scores += np.take_along_axis((query + reading.v[layer, head]) @ table.T, np.clip(distance, 0, len(table) - 1), 1)
        found[chosen[:, None], seen] = _softmax(scores, distance < 0, query.shape[1])
    return found


def _softmax(scores: Array, hidden: NDArray[np.bool_], d_head: int) -> Array:
    """Weights of scores that were not yet divided by √d_head; 0 where a key is hidden."""
    scores = np.where(hidden, -np.inf, scores * np.float32(1 / math.sqrt(d_head)))
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    made: Array = (weights / weights.sum(-1, keepdims=True)).astype(np.float32)
    return made


@dataclass(frozen=True)
class Overview:
    """All attention of a reading, small enough to be sent.

    pooled: (layer, head, block, block) weights: the mean of `by` queries, the sum of `by` keys, so that rows sum to 1 less what goes to
    another book's memory. distances: (layer, head, distance) mean weight of all positions that see a key so far before them.
    """

    pooled: Array
    by: int
    distances: Array


def overview(reading: Reading, most: int = 256) -> Overview:
    """Pooled maps of at most `most` blocks on a side, and how far each head looks; every weight is made once, segment by segment."""
    layers, heads, length = reading.queries.shape[:3]
    by = -(-length // most)
    blocks = -(-length // by)
    pooled = np.zeros((layers, heads, blocks, blocks), np.float32)
    farthest = reading.memory + reading.segment
    total, count = np.zeros((layers, heads, farthest)), np.zeros(farthest)
    for number in range(len(reading.remembered)):
        seen = places(reading, number)
        for layer, weights in _all_heads(reading, number, seen):
            rows, keys = weights.shape[1:]
            first = number * reading.segment
            add_blocks(pooled[layer], weights, np.arange(first, first + rows), np.where(seen < length, seen, blocks * by), by)
            total[layer, :, :keys] += by_diagonal(weights)
        count[:keys] += rows - np.maximum(0, np.arange(keys) - (keys - rows))
    return Overview(means(pooled, length, by), by, (total / np.maximum(count, 1)).astype(np.float32))


def _all_heads(reading: Reading, segment: int, seen: NDArray[np.int64]) -> Iterator[tuple[int, Array]]:
    """Layer by layer, (head, query, key) the weights of a segment."""
    first = segment * reading.segment
    last = min(reading.queries.shape[2], first + reading.segment)
    rows, keys = last - first, len(seen)
    hidden = np.arange(keys - rows, keys)[:, None] < np.arange(keys)
    for layer in range(len(reading.queries)):
        query = reading.queries[layer, :, first:last].astype(np.float32)
        key = reading.keys[layer][:, seen].astype(np.float32)
        if reading.table.size:
            table = reading.table[layer][:, :keys].astype(np.float32)
            scores = (query + reading.u[layer][:, None]) @ key.swapaxes(1, 2)
            scores += by_place((query + reading.v[layer][:, None]) @ table.swapaxes(1, 2), keys)
        else:
            scores = query @ key.swapaxes(1, 2)
        yield layer, _softmax(scores, hidden, query.shape[2])


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
