"""What is learned: words said twice, 0 w 0 w (Kitaev et al., 2020, §5), and books read in long windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models import hashing
from models.reformer.letters import LETTERS, SHORTEST, WORD
from models.windows import NONE

Ints = NDArray[np.int64]

VOCABULARY = len(LETTERS) + 1
LENGTH = 2 * WORD + 2  # of 0 w 0 w


class Batch(NamedTuple):
    """before, wanted: (batch, position). Position i reads before[i] and is to say wanted[i], or NONE. positions: (batch, position)."""

    before: Tensor
    wanted: Tensor
    positions: Tensor


@dataclass(frozen=True)
class Curriculum:
    """How words grow while training goes on."""

    shortest: int = SHORTEST  # letters of the first ones; each size is twice the one before
    rise: float = 0.5  # share of the run over which they grow to WORD, the same number of steps at each size
    tokens: int = 4112  # of a batch, whatever their length: 16 whole sequences

    def size(self, done: float) -> int:
        """Letters of a word when the share `done` of a run is over."""
        sizes = [self.shortest]
        while sizes[-1] < WORD:
            sizes.append(min(2 * sizes[-1], WORD))
        return sizes[min(int(done / self.rise * (len(sizes) - 1)), len(sizes) - 1)] if self.rise else WORD


def words(generator: np.random.Generator, count: int, size: int, split: str) -> Ints:
    """(count, size) letters by number, every one of them as likely as another; a word is for ever on one side of the splits."""
    tries = 2 * count + 16 if split == "train" else 40 * count
    return hashing.drawn(lambda many: generator.integers(1, VOCABULARY, (many, size)), count, tries, split)


def said_twice(word: Ints, offset: Ints | int = 0) -> Batch:
    """word: (batch, letter) -> 0 w 0 w without its last letter, where each letter of the second w is wanted.

    A word shorter than WORD stands where letters from `offset`, (batch,), on would stand in a whole one, both times: what is learned of
    positions holds for every length.
    """
    count, size = word.shape
    zero = np.zeros((count, 1), np.int64)
    whole = np.concatenate((zero, word, zero, word), 1)
    wanted = whole[:, 1:].copy()
    wanted[:, : size + 1] = NONE
    inside = np.arange(size + 1)
    positions = np.concatenate((inside, WORD + 1 + inside))[None, :-1] + np.broadcast_to(np.asarray(offset), (count,))[:, None]
    return Batch(*(torch.from_numpy(np.ascontiguousarray(one)) for one in (whole[:, :-1], wanted, positions)))


def drawn_words(generator: np.random.Generator, done: float, curriculum: Curriculum) -> Batch:
    """A batch to learn from when the share `done` of a run is over."""
    size = curriculum.size(done)
    count = max(1, curriculum.tokens // (2 * size + 1))
    return said_twice(words(generator, count, size, "train"), generator.integers(0, WORD - size + 1, count))


def windows(text: NDArray[np.uint8], starts: Ints, length: int) -> Batch:
    """Windows of `length` characters that are wanted, each after the one before it; NONE behind the end of the text.

    starts: (batch,) where the character stands that is read first.
    """
    place = starts[:, None] + np.arange(length + 1)
    inside = place < len(text)
    characters = np.where(inside, text[np.minimum(place, len(text) - 1)].astype(np.int64), NONE)
    before, wanted = np.maximum(characters[:, :-1], 0), characters[:, 1:].copy()
    return Batch(torch.from_numpy(before), torch.from_numpy(wanted), torch.arange(length).expand(len(starts), length))
