"""A model's music before and after a change, as piano rolls: what the rolls of a panel draw (pictures/changedrolls.js)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.packing import pack, record

Value = dict[str, object]


@dataclass(frozen=True)
class Side:
    """One model's music. notes: (note, 4) onset and end in steps of the grid, MIDI pitch, velocity or voice; given: (note,) bool.

    steps: how long it lasts. sound: {"wav": address, "midi": address, "source": "piano" | "sine", "seconds": number}, None where there is
    nothing to hear.
    """

    notes: NDArray[np.int32]
    given: NDArray[np.bool_]
    steps: int
    sound: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        if self.notes.ndim != 2 or self.notes.shape[1] != 4 or self.given.shape != self.notes.shape[:1]:
            raise ValueError(f"notes {self.notes.shape} and given {self.given.shape}; (note, 4) and (note,) are meant")


@dataclass(frozen=True)
class RollPair:
    """One model before and after. key: of the model. numbers: nats per event that it made before, as trained and read under the change.

    moved: semitones by which the second motif stands higher; its notes are compared after moving them back. compared: False where times
    were stretched, so that there is no difference note by note. voices: the fourth column of notes tells voices, which are compared too.
    grid: milliseconds of a step.
    """

    key: str
    before: Side
    after: Side
    numbers: tuple[float, float]
    moved: int = 0
    compared: bool = True
    voices: bool = False
    grid: int = 125

    def kept(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """(note,) of before and of after: those that begin at the same time, at the same pitch, in the same voice, in both."""
        columns = [0, 2, 3] if self.voices else [0, 2]
        moved = self.after.notes - np.array([0, 0, self.moved, 0], np.int32)
        first, second = ([tuple(note) for note in notes[:, columns].tolist()] for notes in (self.before.notes, moved))
        was, became = set(first), set(second)
        return np.array([note in became for note in first], bool), np.array([note in was for note in second], bool)

    def spelled(self) -> Value:
        """As the browser takes it."""
        both = zip((self.before, self.after), self.kept(), strict=True)
        before, after = (record(side) | {"kept": pack(kept)} for side, kept in both)
        return record(self, "numbers") | {
            "before": before,
            "after": after,
            "number": dict(zip(("before", "after"), self.numbers, strict=True)),
        }
