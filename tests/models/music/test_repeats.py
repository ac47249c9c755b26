"""Motifs that come back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from models.music.repeats import melody_of, repeats


def played(pitches: Sequence[int], length: int = 20) -> np.ndarray:
    """Notes one after another, (note, 4)."""
    return np.array([(i * length, (i + 1) * length, pitch, 0) for i, pitch in enumerate(pitches)], np.int32)


def test_a_motif_is_found_again_at_another_pitch() -> None:
    motif = [60, 62, 65, 64, 60]
    (found,) = repeats(played([*motif, 71, 50, *(p + 5 for p in motif)]), 5)
    assert (found.first.tolist(), found.again.tolist(), found.semitones) == ([0, 1, 2, 3, 4], [7, 8, 9, 10, 11], 5)


def test_the_same_pitches_in_another_rhythm_are_no_repeat() -> None:
    motif = [60, 62, 65, 64, 60]
    notes = played([*motif, 71, 50, *motif])
    assert len(repeats(notes, 5)) == 1
    notes[9:, :2] += 30
    assert not repeats(notes, 5)
    nearly = played([*motif, 71, 50, *motif])
    nearly[9:, :2] += 2
    assert len(repeats(nearly, 5)) == 1


def test_the_second_never_begins_before_the_first_is_over() -> None:
    for one in repeats(played([60] * 14), 3):
        assert one.first[-1] < one.again[0]


def test_a_melody_is_the_highest_note_of_each_moment_or_one_voice() -> None:
    notes = np.array([(0, 4, 60, 2), (0, 4, 72, 0), (4, 8, 59, 2), (4, 8, 65, 1)], np.int32)
    assert melody_of(notes).tolist() == [1, 3]
    assert melody_of(notes, 2).tolist() == [0, 2]


def test_few_notes_have_no_repeats_and_one_note_is_no_motif() -> None:
    assert repeats(played([60, 61, 62]), 2) == ()
    assert repeats(np.zeros((0, 4), np.int32)) == ()
    with pytest.raises(ValueError, match="1 notes"):
        repeats(played([60]), 1)
