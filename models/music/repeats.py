"""Motifs that come back: runs of a melody whose intervals and rhythm occur again, at any pitch. No torch here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.music.records import Whole

SLACK = 0.15  # by how much of itself a time between two notes may differ: a hand is no clock


@dataclass(frozen=True)
class Repeat:
    """first, again: (note,) indices into the notes of a run, as many in each; semitones: by how much the second stands higher."""

    first: NDArray[np.int64]
    again: NDArray[np.int64]
    semitones: int


def melody_of(notes: Whole, voice: int | None = None) -> NDArray[np.int64]:
    """Indices of the notes of a melody in order: of one voice of a chorale, or, without one, the highest that begins in each moment."""
    order: NDArray[np.int64] = np.lexsort((-notes[:, 2], notes[:, 0]))
    if voice is not None:
        own: NDArray[np.int64] = order[notes[order, 3] == voice]
        return own
    _, first = np.unique(notes[order, 0], return_index=True)
    highest: NDArray[np.int64] = order[first]
    return highest


def repeats(notes: Whole, length: int = 5, voice: int | None = None, most: int = 200) -> tuple[Repeat, ...]:
    """Every longest run of at least `length` notes that a melody has twice: the same intervals, and times between notes that differ by
    SLACK at most; the second begins after the first ends. Longest first, `most` at most.

    notes: (note, 4) onset, end, pitch, velocity or voice, as in `Made`. ValueError where length is below 2.
    """
    if length < 2:
        raise ValueError(f"a motif of {length} notes: two make an interval")
    line = melody_of(notes, voice)
    if len(line) < 2 * length:
        return ()
    interval, gap = np.diff(notes[line, 2].astype(np.int64)), np.diff(notes[line, 0].astype(np.float64))
    count = len(interval)
    found: list[Repeat] = []
    for apart in range(length, count):
        close = np.abs(gap[apart:] - gap[:-apart]) <= SLACK * np.maximum(gap[apart:], gap[:-apart])
        same = (interval[apart:] == interval[:-apart]) & close
        edges = np.flatnonzero(np.diff(np.concatenate(([0], same, [0]))))
        for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            size = min(end - begin + 1, apart)  # notes; the second does not begin before the first is over
            if size >= length:
                first, again = line[begin : begin + size], line[begin + apart : begin + apart + size]
                found.append(Repeat(first, again, int(notes[again[0], 2] - notes[first[0], 2])))
    found.sort(key=lambda one: (-len(one.first), one.first[0], one.again[0]))
    return tuple(found[:most])
