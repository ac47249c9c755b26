"""Binarised digits, and books as characters, as sequences of symbols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.data.characters import Alphabet, read_books
from models.data.pixels import read_mnist, select_split

SIDE = 28  # rows and columns of a digit
SEED = 0  # of the single draw that turns grey levels into pixels


@dataclass(frozen=True)
class Digits:
    """Digits of a split.

    pixels: 0 or 1, (digit, row, column). kinds: the digit shown, (digit,).
    """

    pixels: NDArray[np.uint8]
    kinds: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.pixels)


class Batch(NamedTuple):
    """A batch of symbols, (batch, position)."""

    symbols: Tensor


def binarise(levels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Draw each pixel once, P(1) = grey / 255, from one stream of SEED over the whole array.

    levels: (digit, row, column).
    """
    generator = np.random.default_rng(SEED)
    parts = [
        generator.random(part.shape) < part / 255
        for part in np.array_split(levels, max(1, len(levels) // 1000))
    ]
    return np.concatenate(parts).astype(np.uint8)


def digits(data: Path, split: str) -> Digits:
    """Load MNIST with two colours.

    split: "train" (59,000), "val" (the last 1,000 of the official training set) or "test" (10,000).
    Every file is binarised whole, so that a pixel is the same in every split. Raise
    FileNotFoundError if the data are missing, and ValueError for another split.
    """
    chosen = select_split(split, "MNIST")
    levels, kinds = read_mnist(data / "mnist", split)
    return Digits(binarise(levels)[chosen], kinds[chosen])


def alphabet(data: Path) -> Alphabet:
    """Return the characters of the training books."""
    return Alphabet.from_texts(book.text for book in read_books(data, "train"))


def characters(data: Path, split: str, letters: str) -> NDArray[np.uint8]:
    """Return the books of a split, joined by blank lines, as numbers of `Alphabet(letters)`."""
    return Alphabet(letters).encode("\n\n".join(book.text for book in read_books(data, split)))


def drawn_digits(
    pixels: NDArray[np.uint8], size: int
) -> Callable[[np.random.Generator, float], Batch]:
    """Return a function that draws batches of whole digits in raster order, (batch, 784)."""
    flat = pixels.reshape(len(pixels), -1)

    def draw(generator: np.random.Generator, done: float) -> Batch:
        return Batch(
            torch.from_numpy(flat[generator.integers(0, len(flat), size)].astype(np.int64))
        )

    return draw


def drawn_text(
    text: NDArray[np.uint8], size: int, window: int
) -> Callable[[np.random.Generator, float], Batch]:
    """Return a function that draws batches of windows of text from random positions on, (batch,
    window)."""

    def draw(generator: np.random.Generator, done: float) -> Batch:
        starts = generator.integers(0, len(text) - window + 1, size)
        return Batch(
            torch.from_numpy(np.stack([text[i : i + window] for i in starts]).astype(np.int64))
        )

    return draw
