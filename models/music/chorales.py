"""Four-part chorales as sequences of cells: soprano, alto, tenor and bass of the first sixteenth,
then of the second, and so on.

A cell is the pitch of a voice during a sixteenth, or a rest; held and repeated notes are the same.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LOWEST, HIGHEST = 36, 81  # MIDI pitches
SILENCE = 0  # the cell of a rest; pitch p is cell p − LOWEST + 1
CELLS = HIGHEST - LOWEST + 2  # kinds of cell
START = CELLS  # precedes the first cell: read, never generated
VOICES = ("soprano", "alto", "tenor", "bass")

Cells = NDArray[np.int64]


def cells_of(steps: Sequence[Sequence[float]]) -> Cells:
    """Return the cells of sixteenths (soprano, alto, tenor, bass), (cell,); MIDI pitches, negative
    for a rest.

    Raise ValueError for a pitch outside 36 … 81 or a sixteenth without four voices.
    """
    grid = np.asarray(steps, dtype=np.float64)
    if grid.ndim != 2 or grid.shape[1] != len(VOICES):
        raise ValueError(f"a chorale is sixteenths of {len(VOICES)} voices, not {grid.shape}")
    pitches = grid.reshape(-1).astype(np.int64)
    sounding = pitches >= 0
    outside = pitches[sounding & ((pitches < LOWEST) | (pitches > HIGHEST))]
    if len(outside):
        raise ValueError(f"pitch {outside[0]} lies outside {LOWEST} … {HIGHEST}")
    return np.where(sounding, pitches - LOWEST + 1, SILENCE)


def steps_of(cells: Cells) -> NDArray[np.int64]:
    """Return the pitches of cells, (sixteenth, voice), −1 for a rest: the inverse of `cells_of`.

    Raise ValueError if the last sixteenth is incomplete.
    """
    if len(cells) % len(VOICES):
        raise ValueError(f"{len(cells)} cells are no whole sixteenths of {len(VOICES)} voices")
    return np.where(cells == SILENCE, -1, cells + LOWEST - 1).reshape(-1, len(VOICES))


def chorales(data: Path, split: str) -> tuple[Cells, ...]:
    """Load the whole chorales of a split: "train" (207), "dev" (the last 22 of the training ones),
    "valid" (76), or any other key of the file.

    Raise ValueError for another split.
    """
    with gzip.open(data / "jsb" / "Jsb16thSeparated.json.gz") as file:
        splits = json.load(file)
    learned_from = splits["train"]
    dev = max(1, len(learned_from) // 10)
    splits |= {"train": learned_from[:-dev], "dev": learned_from[-dev:]}
    if split not in splits:
        raise ValueError(f"the chorales have the splits {', '.join(splits)}, not {split}")
    return tuple(cells_of(piece) for piece in splits[split])


def transpose(cells: Cells, semitones: int, generator: np.random.Generator) -> Cells:
    """Transpose a chorale by at most `semitones`, drawn among the shifts that keep every pitch
    within 36 … 81."""
    sounding = cells[cells != SILENCE]
    lowest, highest = (
        (int(sounding.min()), int(sounding.max())) if len(sounding) else (1, CELLS - 1)
    )
    by = int(
        generator.integers(max(-semitones, 1 - lowest), min(semitones, CELLS - 1 - highest) + 1)
    )
    return np.where(cells == SILENCE, SILENCE, cells + by)
