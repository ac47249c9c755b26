"""Notes on the grid as a MIDI file."""

from __future__ import annotations

import pretty_midi

from models.music.events import STEP, WIDTH, Notes


def midi_of(notes: Notes) -> pretty_midi.PrettyMIDI:
    """Return a MIDI piano that plays these notes; each kind of velocity has its middle value."""
    # With 1,000 ticks per second, the grid falls on ticks.
    midi = pretty_midi.PrettyMIDI(resolution=480, initial_tempo=125.0)
    piano = pretty_midi.Instrument(program=0, name="Piano")
    seconds = STEP / 1000
    for onset, end, pitch, velocity in notes.tolist():
        piano.notes.append(
            pretty_midi.Note(velocity * WIDTH + WIDTH // 2, pitch, onset * seconds, end * seconds)
        )
    midi.instruments.append(piano)
    return midi
