"""A model's music before and after a change, as piano rolls, for the rolls of a panel
(pictures/changedrolls.js)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.values.packing import pack_array, record_fields

Value = dict[str, object]


@dataclass(frozen=True)
class MusicSide:
    """One model's music.

    notes: (note, 4) onset and end in steps of the grid, MIDI pitch, velocity or voice.
    given: (note,) bool.
    steps: its length.
    sound: {"wav": address, "midi": address, "source": "piano" | "sine", "seconds": number}, None
        where there is no sound.
    """

    notes: NDArray[np.int32]
    given: NDArray[np.bool_]
    steps: int
    sound: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        if (
            self.notes.ndim != 2
            or self.notes.shape[1] != 4
            or self.given.shape != self.notes.shape[:1]
        ):
            raise ValueError(
                f"notes {self.notes.shape} and given {self.given.shape}; (note, 4) and (note,) are"
                " meant"
            )


@dataclass(frozen=True)
class RollPair:
    """One model before and after.

    key: that of the model.
    numbers: nats per event of the music that it made before, as trained and read under the change.
    moved: semitones by which the second motif stands higher. Its notes are compared after moving
        them back.
    compared: False where times were stretched, so that there is no difference note by note.
    voices: whether the fourth column of notes is a voice, which is compared too.
    grid: milliseconds of a step.
    """

    key: str
    before: MusicSide
    after: MusicSide
    numbers: tuple[float, float]
    moved: int = 0
    compared: bool = True
    voices: bool = False
    grid: int = 125

    def find_kept_notes(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the kept notes of before and of after, each (note,): those that begin at the same
        time, at the same pitch, in the same voice, in both."""
        columns = [0, 2, 3] if self.voices else [0, 2]
        moved = self.after.notes - np.array([0, 0, self.moved, 0], np.int32)
        first, second = (
            [tuple(note) for note in notes[:, columns].tolist()]
            for notes in (self.before.notes, moved)
        )
        was, became = set(first), set(second)
        return np.array([note in became for note in first], bool), np.array(
            [note in was for note in second], bool
        )

    def as_json(self) -> Value:
        """Return the pair as JSON for the browser."""
        both = zip((self.before, self.after), self.find_kept_notes(), strict=True)
        before, after = (record_fields(side) | {"kept": pack_array(kept)} for side, kept in both)
        return record_fields(self, "numbers") | {
            "before": before,
            "after": after,
            "number": dict(zip(("before", "after"), self.numbers, strict=True)),
        }
