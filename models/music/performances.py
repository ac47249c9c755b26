"""Performances of piano pieces as notes, and the windows of events for training."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.media.midi_files import File, MidiBounds
from models.music.events import NOTE_OFF, Events, events_of, notes_of

KEYS = (21, 108)  # pitches of a piano
FINE = 1024  # steps per millisecond: sums and differences of these times are exact
TRAINING = MidiBounds(1 << 20, 100_000)  # of a training file
DOWN = 64  # the sustain pedal holds from this value on


@dataclass(frozen=True)
class Performance:
    """A performance: times in milliseconds from its first note; ends include the sustain pedal.

    onset, end: (note,), whole numbers for ASAP, multiples of 1 / FINE ms for a user's own files.
    """

    composer: str
    title: str
    onset: NDArray[np.int64] | NDArray[np.float64]
    end: NDArray[np.int64] | NDArray[np.float64]
    pitch: NDArray[np.int64]
    velocity: NDArray[np.int64]

    def events(self, semitones: int = 0, stretch: float = 1.0) -> Events:
        """Return the performance as events, transposed and with all times multiplied.

        Notes that would leave the 88 keys keep their pitch.
        """
        moved = self.pitch + semitones
        pitch = np.where((moved < KEYS[0]) | (moved > KEYS[1]), self.pitch, moved)
        return events_of(notes_of(self.onset * stretch, self.end * stretch, pitch, self.velocity))

    def part(self, begin: int, end: int) -> Performance:
        """Return notes begin … end − 1, with times from the first of them."""
        here = slice(begin, end)
        first = self.onset[begin]
        return Performance(
            self.composer,
            self.title,
            self.onset[here] - first,
            self.end[here] - first,
            self.pitch[here],
            self.velocity[here],
        )


def performances(data: Path, split: str) -> tuple[Performance, ...]:
    """Load the performances of a split; no composition is in two splits.

    split: "train" (851), "valid" (108) or "test" (108), or any other in the data. Raise ValueError
    if the data do not have it.
    """
    items: list[dict[str, Any]] = json.loads((data / "asap" / "split.json").read_text("utf-8"))[
        "items"
    ]
    known = sorted({str(item["split"]) for item in items})
    if split not in known:
        raise ValueError(f"the performances have the splits {', '.join(known)}, not {split}")
    with np.load(data / "asap" / "asap_notes.npz", allow_pickle=False) as file:
        offset, gap, lasting, pitch, velocity = (
            file[name] for name in ("offset", "dt_ms", "dur_sustain_ms", "pitch", "velocity")
        )
    found = []
    for i, item in enumerate(items):
        if item["split"] == split:
            here = slice(int(offset[i]), int(offset[i + 1]))
            onset = np.cumsum(gap[here], dtype=np.result_type(gap, np.int64))
            found.append(
                Performance(
                    str(item["composer"]),
                    str(item["title"]),
                    onset,
                    onset + lasting[here],
                    pitch[here].astype(np.int64),
                    velocity[here].astype(np.int64),
                )
            )
    return tuple(found)


def notes_played(file: File) -> NDArray[np.float64]:
    """Return the notes of a MIDI file on a piano, (note, 4): onset, end, pitch, velocity; by onset.

    Times are in milliseconds from the first note. A key sounds until the sustain pedal of its
    channel comes up; a pedal that never comes up is ignored. Notes outside the 88 keys are moved by
    octaves.
    """
    first = file.seconds(file.onset[:1])[0]
    onset, end, pedal = (
        np.rint((file.seconds(ticks) - first) * 1000 * FINE) / FINE
        for ticks in (file.onset, file.end, file.pedal[:, 0])
    )
    for channel in range(16):
        own, changes = file.part % 16 == channel, file.pedal[:, 1] == channel
        end[own] = _hold_by_pedal(end[own], pedal[changes], file.pedal[changes, 2] >= DOWN)
    return np.stack([onset, end, fold_pitches(file.pitch, *KEYS), file.velocity], 1)


def _hold_by_pedal(
    end: NDArray[np.float64], time: NDArray[np.float64], down: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the times at which keys released at `end` fall silent.

    time, down: the changes of the pedal, (change,).
    """
    turns = np.diff(down, prepend=False)
    begins, ends = time[turns & down], time[turns & ~down]
    begins = begins[: len(ends)]
    last = np.searchsorted(begins, end, side="right") - 1
    held: NDArray[np.float64] = np.where(
        last < 0, end, np.maximum(end, ends[last] if len(ends) else end)
    )
    return held


def fold_pitches(pitch: NDArray[np.int64], low: int, high: int) -> NDArray[np.int64]:
    """Return the pitches; those outside the limits are moved inside by octaves."""
    moved: NDArray[np.int64] = pitch + 12 * (
        -(-np.maximum(low - pitch, 0) // 12) + np.maximum(pitch - high, 0) // -12
    )
    return moved


def write(data: Path, pieces: Sequence[tuple[str, str, NDArray[np.float64]]]) -> None:
    """Write performances in the format that `performances` reads: (split, title, notes) of each,
    with notes as in `notes_played`."""
    folder = data / "asap"
    folder.mkdir(parents=True, exist_ok=True)
    items = [{"split": split, "composer": "", "title": title} for split, title, _ in pieces]
    (folder / "split.json").write_text(json.dumps({"items": items}), "utf-8")
    whole = [notes for _, _, notes in pieces]
    onset, end, pitch, velocity = np.concatenate(whole).T
    gap = np.concatenate([np.diff(notes[:, 0], prepend=notes[0, 0]) for notes in whole])
    offset = np.cumsum([0, *map(len, whole)])
    np.savez_compressed(
        folder / "asap_notes.npz",
        offset=offset,
        dt_ms=gap,
        dur_sustain_ms=end - onset,
        pitch=pitch,
        velocity=velocity,
    )


@dataclass(frozen=True)
class Augmentation:
    """The random changes of a performance in training (Huang et al., 2018, §4.2)."""

    semitones: int = 3  # the largest shift up or down
    stretches: tuple[float, ...] = (0.95, 0.975, 1.0, 1.025, 1.05)


def drawn_window(
    performances: tuple[Performance, ...],
    length: int,
    augmentation: Augmentation,
    generator: np.random.Generator,
) -> Events:
    """Draw at most `length` events of a performance from a random note on; every note of all
    performances is equally likely to be the first."""
    counts = np.array([len(one.onset) for one in performances])
    place = int(generator.integers(counts.sum()))
    number = int(np.searchsorted(counts.cumsum(), place, side="right"))
    begin = place - int(counts[:number].sum())
    one = performances[number]
    # avoids windows of the last few notes alone
    begin = min(begin, max(0, int(counts[number]) - length // 4))
    semitones = int(generator.integers(-augmentation.semitones, augmentation.semitones + 1))
    stretch = float(generator.choice(augmentation.stretches))
    # A note has at least two events, so this many notes are enough.
    return one.part(begin, begin + length).events(semitones, stretch)[:length]


def cut_at_notes(performance: Performance, length: int) -> list[Events]:
    """Cut a whole performance into windows of at most `length` events, each starting at a note
    without a past, as in `drawn_window`.

    No window therefore starts with the ends of notes outside it, and each contains the velocity of
    its first note. The next window starts with the first note after this one; ends of notes beyond
    a window's last event are in no window.
    """
    found, begin = [], 0
    while begin < len(performance.onset):
        window = performance.part(begin, begin + length).events()[:length]
        found.append(window)
        begin += max(1, int((window < NOTE_OFF).sum()))
    return found
