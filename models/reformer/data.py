"""The training data: repeated words, 0 w 0 w (Kitaev et al., 2020, §5), and books read in long
windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.data import splits
from models.data.windows import NONE
from models.reformer.letters import LETTERS, SHORTEST, WORD

Ints = NDArray[np.int64]

VOCABULARY = len(LETTERS) + 1
LENGTH = 2 * WORD + 2  # of 0 w 0 w


class Batch(NamedTuple):
    """A batch: position i reads before[i] and predicts wanted[i], or NONE.

    before, wanted: (batch, position). positions: (batch, position).
    """

    before: Tensor
    wanted: Tensor
    positions: Tensor


@dataclass(frozen=True)
class Curriculum:
    """The growth of words during training."""

    shortest: int = SHORTEST  # letters of the first words; each size is twice the one before
    # Share of the run over which they grow to WORD, with the same number of steps at each size.
    rise: float = 0.5
    tokens: int = 4112  # of a batch, at any length: 16 whole sequences

    def size(self, done: float) -> int:
        """Return the letters of a word after the share `done` of a run."""
        sizes = [self.shortest]
        while sizes[-1] < WORD:
            sizes.append(min(2 * sizes[-1], WORD))
        return (
            sizes[min(int(done / self.rise * (len(sizes) - 1)), len(sizes) - 1)]
            if self.rise
            else WORD
        )


def words(generator: np.random.Generator, count: int, size: int, split: str) -> Ints:
    """Draw words of equally likely letters, (count, size), by number; each word belongs to one
    split for ever."""
    tries = 2 * count + 16 if split == "train" else 40 * count
    return splits.draw_inputs(
        lambda many: generator.integers(1, VOCABULARY, (many, size)), count, tries, split
    )


def said_twice(word: Ints, offset: Ints | int = 0) -> Batch:
    """Return repeated words, 0 w 0 w, without the last letter; the targets are the letters of the
    second w.

    word: (batch, letter). A shorter word than WORD takes the positions of the letters from
    `offset`, (batch,), on in a whole word, both times, so that the learned positions hold for every
    length.
    """
    count, size = word.shape
    zero = np.zeros((count, 1), np.int64)
    whole = np.concatenate((zero, word, zero, word), 1)
    wanted = whole[:, 1:].copy()
    wanted[:, : size + 1] = NONE
    inside = np.arange(size + 1)
    positions = (
        np.concatenate((inside, WORD + 1 + inside))[None, :-1]
        + np.broadcast_to(np.asarray(offset), (count,))[:, None]
    )
    return Batch(
        *(torch.from_numpy(np.ascontiguousarray(one)) for one in (whole[:, :-1], wanted, positions))
    )


def drawn_words(generator: np.random.Generator, done: float, curriculum: Curriculum) -> Batch:
    """Draw a training batch after the share `done` of a run."""
    size = curriculum.size(done)
    count = max(1, curriculum.tokens // (2 * size + 1))
    return said_twice(
        words(generator, count, size, "train"), generator.integers(0, WORD - size + 1, count)
    )


def windows(text: NDArray[np.uint8], starts: Ints, length: int) -> Batch:
    """Return windows of `length` targets, each after the character before it; NONE after the end of
    the text.

    starts: the position of the first character to read, (batch,).
    """
    place = starts[:, None] + np.arange(length + 1)
    inside = place < len(text)
    characters = np.where(inside, text[np.minimum(place, len(text) - 1)].astype(np.int64), NONE)
    before, wanted = np.maximum(characters[:, :-1], 0), characters[:, 1:].copy()
    return Batch(
        torch.from_numpy(before),
        torch.from_numpy(wanted),
        torch.arange(length).expand(len(starts), length),
    )
