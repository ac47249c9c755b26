"""Batches of sequences of events: inputs and targets, with padding after the end of a sequence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from models.data.windows import NONE, SymbolBatch

POOL = 8  # batches drawn at once, so that sequences of similar length share a batch


def batch_of(sequences: Sequence[NDArray[np.int64]], start: int) -> SymbolBatch:
    """Return a batch of sequences of events from their beginning, each after `start`."""
    longest = max(map(len, sequences))
    before = np.full((len(sequences), longest), start, np.int64)
    wanted = np.full((len(sequences), longest), NONE, np.int64)
    for row, sequence in enumerate(sequences):
        before[row, 1 : len(sequence)] = sequence[:-1]
        wanted[row, : len(sequence)] = sequence
    return SymbolBatch(torch.from_numpy(before), torch.from_numpy(wanted))


def drawn_pieces(
    pieces: Sequence[NDArray[np.int64]], count: int, generator: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Draw `count` whole pieces of similar length: draw several batches, sort them by length, and
    take one."""
    chosen = generator.permutation(len(pieces))[: count * POOL]
    chosen = chosen[np.argsort([len(pieces[i]) for i in chosen], kind="stable")]
    parts = max(1, len(chosen) // count)
    part = int(generator.integers(parts))
    return [pieces[i] for i in chosen[part * count : (part + 1) * count]]
