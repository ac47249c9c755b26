"""Pictures for training: clothes of Fashion-MNIST on 32 × 32 pixels, and twins of small digits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.data.pixels import read_mnist, select_split
from models.sagan.model import SIDE

Levels = NDArray[np.uint8]
DIGIT = 8  # pixels of a small digit's side
ROOM = 9  # pixels of the corner in which it lies: no 22 pixels in a row reach both corners


def pad_pictures(levels: Levels) -> Levels:
    """Return pictures of 28 × 28 levels in the middle of 32 × 32."""
    return np.pad(levels, ((0, 0), (2, 2), (2, 2)))


def to_tensor(levels: Levels) -> Tensor:
    """Return levels 0…255 as float32 numbers from −1 to 1."""
    return torch.from_numpy(levels.astype(np.float32)) / 127.5 - 1


def to_levels(picture: Tensor) -> Levels:
    """Return numbers from −1 to 1 as levels 0…255."""
    return np.asarray(((picture + 1) * 127.5).round().clamp(0, 255).cpu(), np.uint8)


def load_clothes(data: Path, split: str) -> tuple[Levels, NDArray[np.int64]]:
    """Return the pictures of a split, (picture, 32, 32), and their classes."""
    part = select_split(split, "Fashion-MNIST")
    levels, kinds = read_mnist(data / "fashion-mnist", split)
    return pad_pictures(levels[part]), kinds[part]


def load_digits(data: Path, split: str) -> Levels:
    """Return the digits of a split of MNIST, reduced to 8 × 8 levels.

    The 24 × 24 pixels in the middle are averaged by threes; the brightest becomes white.
    """
    levels, _ = read_mnist(data / "mnist", split)
    middle = levels[select_split(split, "MNIST"), 2:26, 2:26].astype(np.float32)
    small = middle.reshape(-1, DIGIT, 3, DIGIT, 3).mean((2, 4))
    peak = small.max((1, 2), keepdims=True).clip(1)
    return np.asarray(small / peak * 255, np.uint8)


def draw_twins(digits: Levels, count: int, generator: np.random.Generator) -> Levels:
    """Draw pictures with the same digit top left and bottom right, each moved by up to a pixel."""
    pictures = np.zeros((count, SIDE, SIDE), np.uint8)
    chosen = digits[generator.integers(len(digits), size=count)]
    moves = generator.integers(ROOM - DIGIT + 1, size=(count, 2, 2))
    for picture, digit, move in zip(pictures, chosen, moves, strict=True):
        for (row, column), corner in zip(move, (0, SIDE - ROOM), strict=True):
            top, left = corner + row, corner + column
            picture[top : top + DIGIT, left : left + DIGIT] = digit
    return pictures
