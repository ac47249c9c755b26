"""388 kinds of event: notes on the grid become events and come back, by way of MIDI files too; and
motifs that come back in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pretty_midi
import pytest

from models.music import events
from models.music.events import NOTE_OFF, SHIFT, VELOCITY, Notes, events_of, notes_from, notes_of
from models.music.midi import midi_of
from models.music.repeats import melody_of, repeats
from tests.pretty_notes import notes_in

MOTIF = [60, 62, 65, 64, 60]


def some_notes(seed: int, count: int = 60, seconds: float = 8.0) -> Notes:
    generator = np.random.default_rng(seed)
    onset = generator.integers(0, int(seconds * 1000), count)
    onset[0] = 0
    lasting = generator.integers(1, 3000, count)
    return notes_of(
        onset,
        onset + lasting,
        generator.integers(21, 109, count),
        generator.integers(1, 128, count),
    )


def notes(*rows: tuple[int, int, int, int]) -> Notes:
    """Notes of (onset, end, pitch, velocity) in ms."""
    return notes_of(*np.array(rows).T)


@pytest.mark.parametrize("seed", range(8))
def test_notes_come_back_from_their_events_and_from_a_midi_file(seed: int, tmp_path: Path) -> None:
    before = some_notes(seed)
    found, at, steps = notes_from(made := events_of(before))
    assert np.array_equal(found, before) and steps == before["end"].max()
    assert np.array_equal(made[at], before["pitch"])
    midi = midi_of(found)
    midi.write(str(tmp_path / "piece.mid"))
    assert np.array_equal(
        events_of(notes_in(pretty_midi.PrettyMIDI(str(tmp_path / "piece.mid")))), made
    )
    assert midi.resolution / midi.get_tempo_changes()[1][0] ** -1 / 60 == pytest.approx(1000), (
        "the grid falls on ticks"
    )


@pytest.mark.parametrize(
    ("rows", "made"),
    [
        (
            ((0, 500, 60, 64), (500, 2000, 64, 64)),
            [
                VELOCITY + 16,
                60,
                SHIFT + 49,
                NOTE_OFF + 60,
                64,
                SHIFT + 99,
                SHIFT + 49,
                NOTE_OFF + 64,
            ],
        ),
        (
            ((0, 10, 60, 8), (3000, 3010, 60, 8)),
            [
                VELOCITY + 2,
                60,
                SHIFT,
                NOTE_OFF + 60,
                SHIFT + 99,
                SHIFT + 99,
                SHIFT + 98,
                60,
                SHIFT,
                NOTE_OFF + 60,
            ],
        ),
        (((700, 900, 60, 50),), [VELOCITY + 12, 60, SHIFT + 19, NOTE_OFF + 60]),
    ],
    ids=[
        "two notes",
        "a pause of whole seconds has only long shifts",
        "silence before the first is left out",
    ],
)
def test_notes_are_these_events(
    rows: tuple[tuple[int, int, int, int], ...], made: list[int]
) -> None:
    assert events_of(notes(*rows)).tolist() == made
    assert events.milliseconds(np.array(made)) == max(end for _, end, *_ in rows) - rows[0][0]


def test_a_key_struck_again_ends_its_note() -> None:
    assert notes((0, 400, 60, 50), (100, 300, 60, 60), (100, 350, 60, 70))[
        ["onset", "end"]
    ].tolist() == [(0, 10), (10, 35)]
    assert notes((0, 1, 60, 50))["end"].tolist() == [1]


def test_any_sequence_that_a_model_could_make_has_notes() -> None:
    assert (NOTE_OFF, SHIFT, VELOCITY, events.EVENTS) == (128, 256, 356, 388)
    found, _, steps = notes_from(np.random.default_rng(4).integers(0, events.EVENTS, 4000))
    assert (found["end"] > found["onset"]).all() and found["end"].max() <= steps
    assert len(notes_from(events_of(found)).notes) == len(found)
    found, _, steps = notes_from(np.array([60, SHIFT + 9, 64]))
    assert (
        found[["onset", "end", "pitch"]].tolist() == [(0, 10, 60), (10, 11, 64)] and steps == 11
    ), "what still sounds ends at the end"
    none = events_of(some_notes(0)[:0])
    assert len(none) == len(notes_in(pretty_midi.PrettyMIDI())) == events.milliseconds(none) == 0


def test_what_midi_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="event 388; expected 0"):
        notes_from(np.array([388]))
    for pitch, velocity, message in ((128, 5, "pitch"), (60, 128, "velocity"), (-1, 5, "pitch")):
        with pytest.raises(ValueError, match=message):
            notes((0, 100, pitch, velocity))


def test_the_sustain_pedal_holds_a_note_and_drums_are_not_heard() -> None:
    midi = pretty_midi.PrettyMIDI()
    piano, drums = pretty_midi.Instrument(0), pretty_midi.Instrument(0, is_drum=True)
    piano.notes = [pretty_midi.Note(80, 60, 0.0, 0.5), pretty_midi.Note(80, 64, 1.5, 1.8)]
    piano.control_changes = [
        pretty_midi.ControlChange(64, value, time) for value, time in ((100, 0.2), (0, 1.0))
    ]
    drums.notes = [pretty_midi.Note(80, 40, 0.0, 0.5)]
    midi.instruments = [piano, drums]
    assert notes_in(midi)[["onset", "end", "pitch"]].tolist() == [(0, 100, 60), (150, 180, 64)]


def played(pitches: Sequence[int], length: int = 20) -> np.ndarray:
    """Notes one after another, (note, 4)."""
    return np.array(
        [(i * length, (i + 1) * length, pitch, 0) for i, pitch in enumerate(pitches)], np.int32
    )


def test_a_motif_is_found_at_another_pitch() -> None:
    (found,) = repeats(played([*MOTIF, 71, 50, *(p + 5 for p in MOTIF)]), 5)
    assert (found.first.tolist(), found.again.tolist(), found.semitones) == (
        [0, 1, 2, 3, 4],
        [7, 8, 9, 10, 11],
        5,
    )
    for late, count in ((0, 1), (2, 1), (30, 0)):
        again = played([*MOTIF, 71, 50, *MOTIF])
        again[9:, :2] += late
        assert len(repeats(again, 5)) == count
    assert (pairs := repeats(played([60] * 14), 3)) and all(
        one.first[-1] < one.again[0] for one in pairs
    )
    assert repeats(played([60, 61, 62]), 2) == repeats(np.zeros((0, 4), np.int32)) == ()
    with pytest.raises(ValueError, match="1 notes"):
        repeats(played([60]), 1)


def test_a_melody_is_the_highest_note() -> None:
    four = np.array([(0, 4, 60, 2), (0, 4, 72, 0), (4, 8, 59, 2), (4, 8, 65, 1)], np.int32)
    assert (melody_of(four).tolist(), melody_of(four, 2).tolist()) == ([1, 3], [0, 2])
