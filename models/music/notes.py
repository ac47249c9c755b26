"""The notes of event sequences in either style, without torch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.music import chorales, events


def notes_of_events(
    style: str, values: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return the notes (onset, end, pitch and velocity or voice), (note, 4), the event that starts
    each, (note,), and the duration in steps."""
    if style == "piano":
        played = events.notes_from(values)
        columns = [played.notes[name] for name in ("onset", "end", "pitch", "velocity")]
        return np.stack(columns, 1), played.at, played.steps
    grid = chorales.steps_of(values)
    rows: list[tuple[int, int, int, int]] = []
    for voice, pitches in enumerate(grid.T):
        edges = np.flatnonzero(np.diff(pitches, prepend=-2, append=-2))
        rows.extend(
            (a, b, int(pitches[a]), voice)
            for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
            if pitches[a] >= 0
        )
    notes = np.array(sorted(rows), np.int64).reshape(-1, 4)
    return notes, notes[:, 0] * len(chorales.VOICES) + notes[:, 3], len(grid)
