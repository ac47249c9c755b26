"""Repeated motifs: runs of a melody whose intervals and rhythm occur again, at any pitch; without
torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.music.records import Whole

SLACK = 0.15  # the relative difference allowed between two times, because a player is not exact


@dataclass(frozen=True)
class Repeat:
    """A repeated run of notes.

    first, again: indices into the notes of a run, as many in each, (note,). semitones: the
    transposition of the second.
    """

    first: NDArray[np.int64]
    again: NDArray[np.int64]
    semitones: int


def melody_of(notes: Whole, voice: int | None = None) -> NDArray[np.int64]:
    """Return the indices of the notes of a melody in order: of one voice of a chorale, or the
    highest note that starts at each moment."""
    order: NDArray[np.int64] = np.lexsort((-notes[:, 2], notes[:, 0]))
    if voice is not None:
        own: NDArray[np.int64] = order[notes[order, 3] == voice]
        return own
    _, first = np.unique(notes[order, 0], return_index=True)
    highest: NDArray[np.int64] = order[first]
    return highest


def repeats(
    notes: Whole, length: int = 5, voice: int | None = None, most: int = 200
) -> tuple[Repeat, ...]:
    """Return the longest runs of at least `length` notes that a melody has twice, longest first, at
    most `most`.

    They have the same intervals, and times between notes that differ by at most SLACK; the second
    starts after the first ends. notes: onset, end, pitch, velocity or voice, as in `Made`, (note,
    4). Raise ValueError if length is below 2.
    """
    if length < 2:
        raise ValueError(f"a motif of {length} notes: two make an interval")
    line = melody_of(notes, voice)
    if len(line) < 2 * length:
        return ()
    interval, gap = (
        np.diff(notes[line, 2].astype(np.int64)),
        np.diff(notes[line, 0].astype(np.float64)),
    )
    count = len(interval)
    found: list[Repeat] = []
    for apart in range(length, count):
        close = np.abs(gap[apart:] - gap[:-apart]) <= SLACK * np.maximum(gap[apart:], gap[:-apart])
        same = (interval[apart:] == interval[:-apart]) & close
        edges = np.flatnonzero(np.diff(np.concatenate(([0], same, [0]))))
        for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            # In notes; the second run does not start before the first is over.
            size = min(end - begin + 1, apart)
            if size >= length:
                first, again = (
                    line[begin : begin + size],
                    line[begin + apart : begin + apart + size],
                )
                found.append(Repeat(first, again, int(notes[again[0], 2] - notes[first[0], 2])))
    found.sort(key=lambda one: (-len(one.first), one.first[0], one.again[0]))
    return tuple(found[:most])
