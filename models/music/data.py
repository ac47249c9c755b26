"""Sequences of events side by side: what a model reads, what it is to say, and nothing where a sequence is over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from models.windows import NONE, Batch

POOL = 8  # batches that are drawn at once, so that sequences of like length come together


def batch_of(sequences: Sequence[NDArray[np.int64]], start: int) -> Batch:
    """Sequences of events from their beginning, before which `start` stands."""
    longest = max(map(len, sequences))
    before = np.full((len(sequences), longest), start, np.int64)
    wanted = np.full((len(sequences), longest), NONE, np.int64)
    for row, sequence in enumerate(sequences):
        before[row, 1 : len(sequence)] = sequence[:-1]
        wanted[row, : len(sequence)] = sequence
    return Batch(torch.from_numpy(before), torch.from_numpy(wanted))


def drawn_pieces(pieces: Sequence[NDArray[np.int64]], count: int, generator: np.random.Generator) -> list[NDArray[np.int64]]:
    """`count` whole pieces of like length: several batches' worth are drawn, and one batch of them, ordered by length, is taken."""
    chosen = generator.permutation(len(pieces))[: count * POOL]
    chosen = chosen[np.argsort([len(pieces[i]) for i in chosen], kind="stable")]
    parts = max(1, len(chosen) // count)
    part = int(generator.integers(parts))
    return [pieces[i] for i in chosen[part * count : (part + 1) * count]]
