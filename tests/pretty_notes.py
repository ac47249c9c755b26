"""The notes of a MIDI file as pretty_midi reads them, a peer of the project's own reader."""

from __future__ import annotations

import numpy as np
import pretty_midi
from numpy.typing import NDArray

from models.music.events import NOTE, Notes, notes_of


def notes_in(midi: pretty_midi.PrettyMIDI) -> Notes:
    """The notes of all instruments but drums, with the sustain pedal held out: a key sounds on
    until the pedal comes up."""
    rows = _sounding(midi)
    return notes_of(*rows.T[:2], *rows.T[2:].astype(int)) if len(rows) else np.zeros(0, NOTE)


def _sounding(midi: pretty_midi.PrettyMIDI) -> NDArray[np.float64]:
    rows = []
    for instrument in midi.instruments:
        if instrument.is_drum:
            continue
        pedal = _pedal(instrument)
        rows += [
            (note.start * 1000, _released(note.end, pedal) * 1000, note.pitch, note.velocity)
            for note in instrument.notes
        ]
    return np.array(rows, np.float64).reshape(-1, 4)


def _pedal(instrument: pretty_midi.Instrument) -> list[tuple[float, float]]:
    """From when to when the sustain pedal (controller 64) is down, in seconds; a pedal that never
    comes up is left out."""
    found, since = [], None
    for change in sorted(
        (c for c in instrument.control_changes if c.number == 64), key=lambda c: c.time
    ):
        if change.value >= 64 and since is None:
            since = change.time
        elif change.value < 64 and since is not None:
            found.append((since, change.time))
            since = None
    return found


def _released(end: float, pedal: list[tuple[float, float]]) -> float:
    """When a key let go at `end` falls silent."""
    low, high = 0, len(pedal)
    while low < high:  # the last time that the pedal went down before the key came up
        middle = (low + high) // 2
        low, high = (middle + 1, high) if pedal[middle][0] <= end else (low, middle)
    return max(end, pedal[low - 1][1]) if low else end
