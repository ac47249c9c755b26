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

from models.characters import Alphabet, books
from models.pixels import mnist, part

SIDE = 28  # rows and columns of a digit
SEED = 0  # of the one draw that makes pixels of grey levels


@dataclass(frozen=True)
class Digits:
    """pixels: (digit, row, column) 0 or 1; kinds: (digit,) which digit it is."""

    pixels: NDArray[np.uint8]
    kinds: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.pixels)


class Batch(NamedTuple):
    """symbols: (batch, position)."""

    symbols: Tensor


def binarised(levels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Each pixel drawn once, P(1) = grey / 255, from one stream of SEED over the whole array: (digit, row, column) levels -> 0 or 1."""
    generator = np.random.default_rng(SEED)
    parts = [generator.random(part.shape) < part / 255 for part in np.array_split(levels, max(1, len(levels) // 1000))]
    return np.concatenate(parts).astype(np.uint8)


def digits(data: Path, split: str) -> Digits:
    """MNIST with two colours. split: "train" (59,000), "val" (the last 1,000 of the official training set) or "test" (10,000).

    Every file is binarised whole, so that a pixel is the same in whatever split it is read. FileNotFoundError where the data are missing,
    ValueError for another split.
    """
    chosen = part(split, "MNIST")
    levels, kinds = mnist(data / "mnist", split)
    return Digits(binarised(levels)[chosen], kinds[chosen])


def alphabet(data: Path) -> Alphabet:
    """The characters of the books that are learned from."""
    return Alphabet.of(book.text for book in books(data, "train"))


def characters(data: Path, split: str, letters: str) -> NDArray[np.uint8]:
    """The books of a split one after another, a blank line between, as numbers of `Alphabet(letters)`."""
    return Alphabet(letters).encode("\n\n".join(book.text for book in books(data, split)))


def drawn_digits(pixels: NDArray[np.uint8], size: int) -> Callable[[np.random.Generator, float], Batch]:
    """What draws batches of whole digits: (batch, 784) in raster order."""
    flat = pixels.reshape(len(pixels), -1)

    def draw(generator: np.random.Generator, done: float) -> Batch:
        return Batch(torch.from_numpy(flat[generator.integers(0, len(flat), size)].astype(np.int64)))

    return draw


def drawn_text(text: NDArray[np.uint8], size: int, window: int) -> Callable[[np.random.Generator, float], Batch]:
    """What draws batches of windows of text, beginning anywhere: (batch, window)."""

    def draw(generator: np.random.Generator, done: float) -> Batch:
        starts = generator.integers(0, len(text) - window + 1, size)
        return Batch(torch.from_numpy(np.stack([text[i : i + window] for i in starts]).astype(np.int64)))

    return draw
