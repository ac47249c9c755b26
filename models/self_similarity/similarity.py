"""Self-similarity matrices: every part of something compared with every other part of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.self_similarity.records import BAR, GRID

Array = NDArray[np.float32]


def compare_parts(parts: Array) -> Array:
    """Return exp(−‖a − b‖² / m) of each two parts, m the mean of ‖a − b‖² over all of them: 1 for
    equal ones, about 1/e for a usual pair. parts: (part, number)."""
    norms = (parts**2).sum(1)
    distance = np.clip(norms[:, None] + norms - 2 * parts @ parts.T, 0, None)
    np.fill_diagonal(distance, 0)
    mean = distance.mean()
    likeness: Array = np.exp(-distance / (mean if mean > 0 else 1)).astype(np.float32)
    return likeness


def compare_patches(clean: Array) -> Array:
    """Return the likeness of the parts of a picture, GRID a side, in raster order, (part, part).
    clean: (row, column)."""
    size = clean.shape[0] // GRID
    parts = clean.reshape(GRID, size, GRID, size).transpose(0, 2, 1, 3).reshape(GRID * GRID, -1)
    return compare_parts(parts)


def compare_bars(pitches: NDArray[np.int8]) -> Array:
    """Return the likeness of the bars of a chorale, (bar, bar): a bar is a row of keys that sound
    or do not. pitches: (sixteenth, voice), −1 for a rest; what is left after the last whole bar
    stays out."""
    sounding = (pitches[:, :, None] == np.arange(128)).any(1).astype(np.float32)
    count = len(sounding) // BAR
    return compare_parts(sounding[: count * BAR].reshape(count, -1))
