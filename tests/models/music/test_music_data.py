"""Chorales and performances as sequences, and what a batch of them holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.music import chorales, events
from models.music.data import batch_of, drawn_pieces
from models.music.performances import Augmentation, drawn_window, performances
from models.windows import NONE


def test_a_chorale_is_soprano_alto_tenor_bass_of_each_sixteenth(data: Path) -> None:
    steps = [[74, 70, 65, 58], [74, -1, 65, 57]]
    cells = chorales.cells_of(steps)
    assert cells.tolist() == [39, 35, 30, 23, 39, chorales.SILENCE, 30, 22]
    assert chorales.steps_of(cells).tolist() == steps
    assert [len(piece) for piece in chorales.chorales(data, "train")] == [24]
    assert [len(piece) for piece in chorales.chorales(data, "dev")] == [36], (
        "the last of the training ones choose, and are not learned from"
    )
    assert chorales.chorales(data, "train")[0][11] == chorales.SILENCE


def test_any_split_that_the_data_hold_is_read(data: Path) -> None:
    assert len(chorales.chorales(data, "test")) == 1
    assert [one.title for one in performances(data, "valid")] == ["T1"]
    for read in (chorales.chorales, performances):
        with pytest.raises(ValueError, match="not nothing"):
            read(data, "nothing")


@pytest.mark.parametrize("steps", [[[35, 60, 60, 60]], [[82, 60, 60, 60]], [[60, 60, 60]]])
def test_a_chorale_outside_the_voices_is_refused(steps: list[list[int]]) -> None:
    with pytest.raises(ValueError, match=r"pitch|voices"):
        chorales.cells_of(steps)


def test_position_i_reads_the_event_before_and_says_event_i() -> None:
    batch = batch_of([np.array([3, 1, 2]), np.array([5])], start=9)
    assert batch.before.tolist() == [[9, 3, 1], [9, 9, 9]]
    assert batch.wanted.tolist() == [[3, 1, 2], [5, NONE, NONE]]


def test_pieces_of_like_length_come_together_and_all_of_them_come() -> None:
    pieces = [np.full(n, n) for n in range(1, 41)]
    generator = np.random.default_rng(2)
    seen: set[int] = set()
    for _ in range(200):
        batch = drawn_pieces(pieces, 2, 0, generator)
        lengths = (batch.wanted != NONE).sum(1).tolist()
        seen |= set(lengths)
    assert seen == set(range(1, 41))
    waste = [drawn_pieces(pieces, 2, 0, generator).wanted.eq(NONE).float().mean().item() for _ in range(200)]
    assert np.mean(waste) < 0.1


def test_a_performance_becomes_notes_with_the_pedal_held_out(data: Path) -> None:
    (one,) = performances(data, "test")
    notes = events.notes_from(one.events()).notes
    assert 15 <= len(notes) <= 20
    assert notes["onset"][0] == 0


def test_a_transposed_performance_has_the_same_rhythm_and_a_stretched_one_the_same_pitches(data: Path) -> None:
    (one,) = performances(data, "train")
    plain = events.notes_from(one.events()).notes
    up = events.notes_from(one.events(semitones=2)).notes
    slow = events.notes_from(one.events(stretch=1.05)).notes
    assert (np.sort(up["onset"])[:10] == np.sort(plain["onset"])[:10]).all()
    assert up["pitch"].max() <= 108
    assert slow["onset"].max() == pytest.approx(1.05 * plain["onset"].max(), abs=1)


def test_windows_are_drawn_from_everywhere_and_are_never_too_long(data: Path) -> None:
    played = performances(data, "train")
    generator = np.random.default_rng(3)
    drawn = [drawn_window(played, 24, Augmentation(), generator) for _ in range(50)]
    assert all(0 < len(one) <= 24 for one in drawn)
    assert len({tuple(one.tolist()) for one in drawn}) > 40
