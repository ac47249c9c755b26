"""Performances of piano pieces as notes, and the windows of events that models learn from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.music.events import NOTE_OFF, Events, events_of, notes_of


@dataclass(frozen=True)
class Performance:
    """One performance: times in milliseconds from its first note; ends with the sustain pedal held out."""

    composer: str
    title: str
    onset: NDArray[np.int64]
    end: NDArray[np.int64]
    pitch: NDArray[np.int64]
    velocity: NDArray[np.int64]

    def events(self, semitones: int = 0, stretch: float = 1.0) -> Events:
        """The performance as events, transposed and with all times multiplied. Notes that would leave the 88 keys stay."""
        moved = self.pitch + semitones
        pitch = np.where((moved < 21) | (moved > 108), self.pitch, moved)
        return events_of(notes_of(self.onset * stretch, self.end * stretch, pitch, self.velocity))

    def part(self, begin: int, end: int) -> Performance:
        """Notes begin … end − 1, from the first of them on."""
        here = slice(begin, end)
        first = self.onset[begin]
        return Performance(
            self.composer, self.title, self.onset[here] - first, self.end[here] - first, self.pitch[here], self.velocity[here]
        )


def performances(data: Path, split: str) -> tuple[Performance, ...]:
    """The performances of a split, no composition of which is in another one. split: "train" (851), "valid" (108) or "test" (108), or any
    other that the data hold; ValueError for one that they do not."""
    items: list[dict[str, Any]] = json.loads((data / "asap" / "split.json").read_text("utf-8"))["items"]
    known = sorted({str(item["split"]) for item in items})
    if split not in known:
        raise ValueError(f"the performances have the splits {', '.join(known)}, not {split}")
    with np.load(data / "asap" / "asap_notes.npz", allow_pickle=False) as file:
        offset, gap, lasting, pitch, velocity = (file[name] for name in ("offset", "dt_ms", "dur_sustain_ms", "pitch", "velocity"))
    found = []
    for i, item in enumerate(items):
        if item["split"] == split:
            here = slice(int(offset[i]), int(offset[i + 1]))
            onset = np.cumsum(gap[here], dtype=np.int64)
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


def write(data: Path, pieces: Sequence[tuple[str, str, NDArray[np.float64]]]) -> None:
    """Put performances where `performances` reads them: (split, title, notes) of each, notes as `midi.read` gives them."""
    folder = data / "asap"
    folder.mkdir(parents=True, exist_ok=True)
    items = [{"split": split, "composer": "", "title": title} for split, title, _ in pieces]
    (folder / "split.json").write_text(json.dumps({"items": items}), "utf-8")
    whole = [np.rint(notes).astype(np.int64) for _, _, notes in pieces]
    onset, end, pitch, velocity = np.concatenate(whole).T
    gap = np.concatenate([np.diff(notes[:, 0], prepend=notes[0, 0]) for notes in whole])
    offset = np.cumsum([0, *map(len, whole)])
    np.savez_compressed(folder / "asap_notes.npz", offset=offset, dt_ms=gap, dur_sustain_ms=end - onset, pitch=pitch, velocity=velocity)


@dataclass(frozen=True)
class Augmentation:
    """What a performance is changed by, in training only (Huang et al., 2018, §4.2)."""

    semitones: int = 3  # up or down at most
    stretches: tuple[float, ...] = (0.95, 0.975, 1.0, 1.025, 1.05)


def drawn_window(performances: tuple[Performance, ...], length: int, augmentation: Augmentation, generator: np.random.Generator) -> Events:
    """At most `length` events of a performance, from a note drawn at random; every note of all of them is as likely to be the first."""
    counts = np.array([len(one.onset) for one in performances])
    place = int(generator.integers(counts.sum()))
    number = int(np.searchsorted(counts.cumsum(), place, side="right"))
    begin = place - int(counts[:number].sum())
    one = performances[number]
    begin = min(begin, max(0, int(counts[number]) - length // 4))  # not a few last notes alone
    semitones = int(generator.integers(-augmentation.semitones, augmentation.semitones + 1))
    stretch = float(generator.choice(augmentation.stretches))
    return one.part(begin, begin + length).events(semitones, stretch)[:length]  # a note has two events at least: so many are enough


def cut_at_notes(performance: Performance, length: int) -> list[Events]:
    """A whole performance in windows of at most `length` events, each cut as `drawn_window` cuts: at a note, as if nothing had been before.

    So no window begins with the ends of notes that it does not hold, and each tells the loudness of its first note. The next window begins
    with the first note that this one does not hold; the ends of notes beyond a window's last event are in none.
    """
    found, begin = [], 0
    while begin < len(performance.onset):
        window = performance.part(begin, begin + length).events()[:length]
        found.append(window)
        begin += max(1, int((window < NOTE_OFF).sum()))
    return found
