"""The likeness of two corners of a picture, a figure that needs no network."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray


def measure_corners(pictures: NDArray[np.number], side: int) -> NDArray[np.float64]:
    """Return how alike the squares top left and bottom right of each picture are: the largest
    correlation over shifts of up to a pixel; 0 where a corner is empty.

    pictures: (picture, row, column), any scale. side: pixels of a square's side.
    """
    first, second = pictures[:, :side, :side], pictures[:, -side:, -side:]
    padded = np.pad(second, ((0, 0), (1, 1), (1, 1)), constant_values=second.min())
    values = [
        _correlate(first, padded[:, row : row + side, column : column + side])
        for row, column in product(range(3), repeat=2)
    ]
    best: NDArray[np.float64] = np.max(values, axis=0)
    return best


def _correlate(first: NDArray[np.number], other: NDArray[np.number]) -> NDArray[np.float64]:
    """Return the correlation of the pixels of each pair of pictures."""
    a, b = (x.reshape(len(x), -1).astype(np.float64) for x in (first, other))
    a, b = a - a.mean(1, keepdims=True), b - b.mean(1, keepdims=True)
    size = np.sqrt((a * a).sum(1) * (b * b).sum(1))
    values: NDArray[np.float64] = (a * b).sum(1) / np.maximum(size, 1e-9)
    return values
