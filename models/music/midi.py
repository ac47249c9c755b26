"""MIDI files and notes on the grid, both ways, the sustain pedal held out."""

from __future__ import annotations

from pathlib import Path

import mido
import numpy as np
import pretty_midi
from numpy.typing import NDArray

from models.music.events import NOTE, STEP, WIDTH, Notes, notes_of

LARGEST = 1 << 20  # bytes of a file that is learned from
# Whatever the reader of a broken file meets.
BROKEN = (ArithmeticError, EOFError, IndexError, KeyError, OSError, ValueError, mido.KeySignatureError)


def midi_of(notes: Notes) -> pretty_midi.PrettyMIDI:
    """A piano that plays these notes; each kind of velocity in its middle."""
    midi = pretty_midi.PrettyMIDI(resolution=480, initial_tempo=125.0)  # 1,000 ticks a second: the grid falls on ticks
    piano = pretty_midi.Instrument(program=0, name="Piano")
    seconds = STEP / 1000
    for onset, end, pitch, velocity in notes.tolist():
        piano.notes.append(pretty_midi.Note(velocity * WIDTH + WIDTH // 2, pitch, onset * seconds, end * seconds))
    midi.instruments.append(piano)
    return midi


def notes_in(midi: pretty_midi.PrettyMIDI) -> Notes:
    """The notes of all instruments but drums, with the sustain pedal held out: a key sounds on until the pedal comes up."""
    rows = _sounding(midi)
    return notes_of(*rows.T[:2], *rows.T[2:].astype(int)) if len(rows) else np.zeros(0, NOTE)


def read(path: Path) -> NDArray[np.float64]:
    """The notes of a file as `notes_in` hears them, (note, 4): onset and end in milliseconds, pitch, velocity; by onset.

    ValueError for a file that is larger than `LARGEST`, is no MIDI file or holds no note.
    """
    if path.stat().st_size > LARGEST:
        raise ValueError(f"a MIDI file may have {LARGEST:,} bytes")
    try:
        rows = _sounding(pretty_midi.PrettyMIDI(str(path)))
    except BROKEN:
        raise ValueError("it is no MIDI file, or a broken one") from None
    if not len(rows):
        raise ValueError("it holds no note but drums")
    return rows[np.lexsort((rows[:, 2], rows[:, 0]))]


def _sounding(midi: pretty_midi.PrettyMIDI) -> NDArray[np.float64]:
    rows = []
    for instrument in midi.instruments:
        if instrument.is_drum:
            continue
        pedal = _pedal(instrument)
        rows += [(note.start * 1000, _released(note.end, pedal) * 1000, note.pitch, note.velocity) for note in instrument.notes]
    return np.array(rows, np.float64).reshape(-1, 4)


def _pedal(instrument: pretty_midi.Instrument) -> list[tuple[float, float]]:
    """From when to when the sustain pedal (controller 64) is down, in seconds; a pedal that never comes up is left out."""
    found, since = [], None
    for change in sorted((c for c in instrument.control_changes if c.number == 64), key=lambda c: c.time):
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
