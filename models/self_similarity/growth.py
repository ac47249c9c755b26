"""Texture synthesis by non-parametric sampling (Efros and Leung, 1999): a texture grows pixel by
pixel, and every new pixel is copied from where the sample looks like its neighbourhood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

TOLERANCE = 0.1  # ε: windows within (1 + ε) times the smallest distance are candidates
SEED_SIDE = 3  # rows and columns of the seed, copied whole from the sample
SPREAD = 6.4  # a window has this many standard deviations of its Gaussian

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Texture:
    """A grown texture.

    source: row and column of the sample that each pixel is copied from, (row, column, 2). order:
    when each pixel was filled, 0 for the seed. error: the smallest distance between its known
    neighbourhood and the sample, mean square under the Gaussian, 0 for the seed.
    """

    source: NDArray[np.int64]
    order: NDArray[np.int64]
    error: Array


def list_windows(sample: Array, window: int) -> Array:
    """Return every whole window of a sample, (window, its values). sample: (row, column, channel),
    0 … 1."""
    views = np.lib.stride_tricks.sliding_window_view(sample, (window, window), axis=(0, 1))
    return np.ascontiguousarray(views.transpose(0, 1, 3, 4, 2)).reshape(
        views.shape[0] * views.shape[1], -1
    )


def make_gaussian(window: int) -> Array:
    """Return the weights of a window's pixels, (row, column)."""
    place = np.arange(window) - window // 2
    line = np.exp(-(place**2) / (2 * (window / SPREAD) ** 2))
    return np.outer(line, line).astype(np.float32)


def grow_texture(sample: Array, side: int, window: int, seed: int) -> Texture:
    """Grow a texture of side × side pixels from the middle outwards.

    The next pixel is the one with the most known pixels in its window; of equal ones, the one that
    a seeded draw prefers. The distance is the mean over known pixels alone, ‖·‖² = Σ a² − 2 Σ a b +
    Σ b², of which the first two are products of a matrix with a vector.

    sample: (row, column, channel), 0 … 1. window: odd, not larger than the sample. Raise ValueError
    otherwise.
    """
    if window % 2 == 0 or window > min(sample.shape[:2]):
        raise ValueError(f"window {window} for a sample of {sample.shape[:2]}")
    draws, half, channels = np.random.default_rng(seed), window // 2, sample.shape[2]
    windows = list_windows(sample, window)
    # Torch's products keep to the threads that were set for it; those of NumPy start their own.
    values = torch.from_numpy(windows)
    squares = torch.from_numpy((windows**2).reshape(len(windows), window * window, channels).sum(2))
    gaussian, across = make_gaussian(window), sample.shape[1] - window + 1

    edge = side + 2 * half  # unknown pixels all round, so that every window is whole
    picture = np.zeros((edge, edge, channels), np.float32)
    known = np.zeros((edge, edge), np.float32)
    neighbours = np.zeros((edge, edge), np.float32)  # known pixels in each pixel's window
    eager = draws.random((edge, edge), np.float32) / 2  # decides between equal ones
    neighbours[:] = -np.inf  # beyond the edge nothing is filled
    neighbours[half : half + side, half : half + side] = 0
    neighbours += eager
    source = np.zeros((side, side, 2), np.int64)
    order = np.zeros((side, side), np.int64)
    error = np.zeros((side, side), np.float32)

    def fill(row: int, column: int, place: tuple[int, int]) -> None:
        """Copy a pixel of the sample; rows and columns count from the edge."""
        picture[row, column], known[row, column] = sample[place], 1
        source[row - half, column - half] = place
        neighbours[row - half : row + half + 1, column - half : column + half + 1] += 1
        neighbours[row, column] = -np.inf

    top, left = (int(draws.integers(0, size - SEED_SIDE + 1)) for size in sample.shape[:2])
    middle = half + (side - SEED_SIDE) // 2
    for down, right in np.ndindex(SEED_SIDE, SEED_SIDE):
        fill(middle + down, middle + right, (top + down, left + right))

    for step in range(1, side * side - SEED_SIDE**2 + 1):
        row, column = divmod(int(neighbours.argmax()), edge)
        around = np.s_[row - half : row + half + 1, column - half : column + half + 1]
        weight = known[around] * gaussian
        weight /= weight.sum()
        neighbourhood = picture[around]
        weighted = torch.from_numpy((neighbourhood * (-2 * weight[:, :, None])).reshape(-1))
        distance = torch.mv(values, weighted)
        distance.addmv_(squares, torch.from_numpy(weight.reshape(-1)))
        # rounding makes small distances negative
        distances = (
            (distance + float((neighbourhood**2 * weight[:, :, None]).sum())).clamp_(min=0).numpy()
        )
        least = distances.min()
        candidates = np.flatnonzero(distances <= least * (1 + TOLERANCE))
        at = int(candidates[int(draws.integers(len(candidates)))])
        fill(row, column, (at // across + half, at % across + half))
        order[row - half, column - half] = step
        error[row - half, column - half] = least
    return Texture(source, order, error)


def measure_coherence(source: NDArray[np.int64]) -> float:
    """Return the share of pixels whose left neighbour is copied from the left neighbour of their
    source."""
    beside = source[:, 1:] - source[:, :-1]
    return float((beside == (0, 1)).all(-1).mean())
