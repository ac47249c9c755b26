"""The notes that events say, of either style. No torch here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.music import chorales, events


def notes_of_events(style: str, values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """(note, 4) onset, end, pitch and velocity or voice; (note,) the event that begins each; how many steps all of it lasts."""
    if style == "piano":
        played = events.notes_from(values)
        columns = [played.notes[name] for name in ("onset", "end", "pitch", "velocity")]
        return np.stack(columns, 1), played.at, played.steps
    grid = chorales.steps_of(values)
    rows: list[tuple[int, int, int, int]] = []
    for voice, pitches in enumerate(grid.T):
        edges = np.flatnonzero(np.diff(pitches, prepend=-2, append=-2))
        rows.extend((a, b, int(pitches[a]), voice) for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True) if pitches[a] >= 0)
    notes = np.array(sorted(rows), np.int64).reshape(-1, 4)
    return notes, notes[:, 0] * len(chorales.VOICES) + notes[:, 3], len(grid)
