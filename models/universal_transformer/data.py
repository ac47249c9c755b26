"""What the Universal Transformer learns from: generators of copies, reversals and sums on characters. Stories are in stories.py.

An input is a row of characters, a sign "=" and as many places for the answer as it has characters. Input and answer count their places
from the same number, as an encoder and a decoder would; a random number is added to all of them while training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models import hashing
from models.pondering import Rows
from models.thinking import added
from models.windows import NONE as NONE

Ints = NDArray[np.int64]

SLOT, EQUALS, PLUS = 1, 2, 3
DIGIT, LETTER = 4, 14  # tokens of "0" and "a"
CHARACTERS = ("", "_", "=", "+", *"0123456789", *"abcdefghijklmnopqrstuvwxyz")
TOKEN = {character: token for token, character in enumerate(CHARACTERS) if character}
LONGEST = 20  # characters of an input in training
TESTED = 40  # and where it is tested beyond


class Batch(NamedTuple):
    """tokens: (batch, position, word); places, alive: (batch, position); targets: (batch, position), NONE where no answer is wanted."""

    tokens: Tensor
    places: Tensor
    alive: Tensor
    targets: Tensor


@dataclass(frozen=True)
class Inputs(Rows):
    """Inputs with their answers, NumPy throughout. difficulty: (batch,), what the ponder is looked at against."""

    tokens: Ints
    places: Ints
    alive: NDArray[np.bool_]
    targets: Ints
    difficulty: Ints

    def batch(self, offset: Ints | None = None) -> Batch:
        """As tensors. offset: (batch,), what is added to every place."""
        places = self.places if offset is None else self.places + offset[:, None]
        return Batch(*(torch.from_numpy(np.ascontiguousarray(a)) for a in (self.tokens, places, self.alive, self.targets)))


def columns(width: int) -> int:
    """Columns of the longest sum that has at most so many characters: two numbers and a sign."""
    return (width - 1) // 2


def words(letters: Ints, backwards: bool) -> Inputs:
    """letters: (batch, n), from 0 -> inputs whose answers are the same letters, or the same backwards. Difficulty: n."""
    count, n = letters.shape
    asked = letters + LETTER
    answer = asked[:, ::-1] if backwards else asked
    tokens = np.concatenate((asked, np.full((count, 1), EQUALS), np.full((count, n), SLOT)), 1)
    targets = np.concatenate((np.full((count, n + 1), NONE), answer), 1)
    places = np.concatenate((np.arange(n + 1), np.arange(n)))
    return _inputs(tokens, places, targets, np.full(count, n))


def sums(first: Ints, second: Ints) -> Inputs:
    """first, second: (batch, column) digits, the highest first -> inputs whose answers are the digits of the sum, one more than columns.

    Digits of one column have the same place, as on paper; the answer's additional digit has place 0. Difficulty: carries.
    """
    count, width = first.shape
    digits, carries = added(first[:, ::-1], second[:, ::-1])
    sign = np.ones((count, 1), np.int64)
    tokens = np.concatenate((first + DIGIT, sign * PLUS, second + DIGIT, sign * EQUALS, np.full((count, width + 1), SLOT)), 1)
    targets = np.concatenate((np.full((count, 2 * width + 2), NONE), digits[:, ::-1] + DIGIT), 1)
    column = np.arange(1, width + 1)
    places = np.concatenate((column, [0], column, [0], np.arange(width + 1)))
    return _inputs(tokens, places, targets, carries)


def _inputs(tokens: Ints, places: Ints, targets: Ints, difficulty: Ints) -> Inputs:
    alive = np.ones(tokens.shape, np.bool_)
    return Inputs(tokens[..., None], np.broadcast_to(places, tokens.shape).astype(np.int64), alive, targets, difficulty)


def characters(task: str, generator: np.random.Generator, count: int, length: int, split: str = "train") -> Inputs:
    """`count` inputs of one length: of "copy" and "reverse", `length` letters; of "addition", the longest sum of so many characters.

    split: which inputs may come, "train", "val" or "test", told by the hash of the input alone. LookupError where a split has none of a
    length: there are but 26 words of one letter.
    """
    tries = count + count // 2 if split == "train" else 24 * count
    chosen = hashing.drawn(lambda many: _drawn(task, generator, many, length), count, tries, split)
    return sums(chosen[:, 0], chosen[:, 1]) if task == "addition" else words(chosen, task == "reverse")


def _drawn(task: str, generator: np.random.Generator, count: int, length: int) -> Ints:
    """Letters (count, length), or the digits of two numbers (count, 2, column)."""
    if task != "addition":
        return generator.integers(0, 26, (count, length))
    return hashing.digits(generator, count, columns(length))


def lengths(task: str, longest: int = LONGEST) -> list[int]:
    """The lengths that are trained on, in characters of the input."""
    return list(range(3, longest + 1, 2)) if task == "addition" else list(range(1, longest + 1))
