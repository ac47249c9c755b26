"""388 kinds of event: notes on the grid become events and come back, by way of MIDI files too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pretty_midi
import pytest

from models.music import events
from models.music.events import NOTE_OFF, SHIFT, VELOCITY, Notes, events_of, notes_from, notes_of
from models.music.midi import midi_of, notes_in


def some_notes(seed: int, count: int = 60, seconds: float = 8.0) -> Notes:
    generator = np.random.default_rng(seed)
    onset = generator.integers(0, int(seconds * 1000), count)
    onset[0] = 0
    lasting = generator.integers(1, 3000, count)
    return notes_of(onset, onset + lasting, generator.integers(21, 109, count), generator.integers(1, 128, count))


def test_there_are_388_events_in_four_kinds() -> None:
    assert (NOTE_OFF, SHIFT, VELOCITY, events.EVENTS) == (128, 256, 356, 388)


@pytest.mark.parametrize("seed", range(8))
def test_notes_come_back_from_their_events(seed: int) -> None:
    notes = some_notes(seed)
    found, at, steps = notes_from(events_of(notes))
    assert np.array_equal(found, notes)
    assert np.array_equal(events_of(notes)[at], notes["pitch"])
    assert steps == notes["end"].max()


@pytest.mark.parametrize("seed", range(8))
def test_events_become_a_midi_file_and_come_back(seed: int, tmp_path: Path) -> None:
    before = events_of(some_notes(seed))
    midi_of(notes_from(before)[0]).write(str(tmp_path / "piece.mid"))
    assert np.array_equal(events_of(notes_in(pretty_midi.PrettyMIDI(str(tmp_path / "piece.mid")))), before)


def test_two_notes_are_these_events() -> None:
    notes = notes_of(np.array([0, 500]), np.array([500, 2000]), np.array([60, 64]), np.array([64, 64]))
    assert events_of(notes).tolist() == [VELOCITY + 16, 60, SHIFT + 49, NOTE_OFF + 60, 64, SHIFT + 99, SHIFT + 49, NOTE_OFF + 64]


def test_a_pause_of_whole_seconds_has_only_long_shifts() -> None:
    notes = notes_of(np.array([0, 3000]), np.array([10, 3010]), np.array([60, 60]), np.array([8, 8]))
    made = events_of(notes)
    assert made.tolist() == [VELOCITY + 2, 60, SHIFT, NOTE_OFF + 60, SHIFT + 99, SHIFT + 99, SHIFT + 98, 60, SHIFT, NOTE_OFF + 60]
    assert events.milliseconds(made) == 3010


def test_a_key_struck_again_ends_its_note() -> None:
    notes = notes_of(np.array([0, 100, 100]), np.array([400, 300, 350]), np.array([60, 60, 60]), np.array([50, 60, 70]))
    assert notes[["onset", "end"]].tolist() == [(0, 10), (10, 35)]


def test_a_note_lasts_at_least_one_step() -> None:
    assert notes_of(np.array([0]), np.array([1]), np.array([60]), np.array([50]))["end"].tolist() == [1]


def test_silence_before_the_first_note_is_left_out() -> None:
    late = notes_of(np.array([700]), np.array([900]), np.array([60]), np.array([50]))
    assert np.array_equal(events_of(late), events_of(notes_of(np.array([0]), np.array([200]), np.array([60]), np.array([50]))))


def test_any_sequence_that_a_model_could_make_has_notes() -> None:
    made = np.random.default_rng(4).integers(0, events.EVENTS, 4000)
    notes, _, steps = notes_from(made)
    assert (notes["end"] > notes["onset"]).all()
    assert notes["end"].max() <= steps
    again = notes_from(events_of(notes)).notes
    assert len(again) == len(notes)


def test_what_still_sounds_at_the_end_ends_there() -> None:
    notes, _, steps = notes_from(np.array([60, SHIFT + 9, 64]))
    assert notes[["onset", "end", "pitch"]].tolist() == [(0, 10, 60), (10, 11, 64)]
    assert steps == 11


def test_no_notes_are_no_events() -> None:
    assert len(events_of(some_notes(0)[:0])) == 0
    assert len(notes_in(pretty_midi.PrettyMIDI())) == 0
    assert events.milliseconds(events_of(some_notes(0)[:0])) == 0


def test_a_number_that_is_no_event_is_refused() -> None:
    with pytest.raises(ValueError, match="388 is no event"):
        notes_from(np.array([388]))


@pytest.mark.parametrize(("pitch", "velocity", "message"), [(128, 5, "pitch"), (60, 128, "velocity"), (-1, 5, "pitch")])
def test_what_midi_does_not_have_is_refused(pitch: int, velocity: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        notes_of(np.array([0]), np.array([100]), np.array([pitch]), np.array([velocity]))


def test_the_sustain_pedal_holds_a_note_and_drums_are_not_heard() -> None:
    midi = pretty_midi.PrettyMIDI()
    piano, drums = pretty_midi.Instrument(0), pretty_midi.Instrument(0, is_drum=True)
    piano.notes = [pretty_midi.Note(80, 60, 0.0, 0.5), pretty_midi.Note(80, 64, 1.5, 1.8)]
    piano.control_changes = [pretty_midi.ControlChange(64, value, time) for value, time in ((100, 0.2), (0, 1.0))]
    drums.notes = [pretty_midi.Note(80, 40, 0.0, 0.5)]
    midi.instruments = [piano, drums]
    assert notes_in(midi)[["onset", "end", "pitch"]].tolist() == [(0, 100, 60), (150, 180, 64)]


def test_the_grid_falls_on_ticks() -> None:
    midi = midi_of(some_notes(1))
    assert midi.resolution / midi.get_tempo_changes()[1][0] ** -1 / 60 == pytest.approx(1000)
