"""Training data of the Universal Transformer: generators of copies, reversals and sums on
characters.

Stories are in stories.py. An input is a row of characters, a sign "=" and one place for each
character of the answer. Places of input and answer start at the same number, as in an encoder and a
decoder; training adds a random number to all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.adaptive_computation.batching import InputRows
from models.adaptive_computation.records import add_digits
from models.data import splits
from models.data.windows import NONE as NONE

Ints = NDArray[np.int64]

SLOT, EQUALS, PLUS = 1, 2, 3
DIGIT, LETTER = 4, 14  # tokens of "0" and "a"
CHARACTERS = ("", "_", "=", "+", *"0123456789", *"abcdefghijklmnopqrstuvwxyz")
TOKEN = {character: token for token, character in enumerate(CHARACTERS) if character}
LONGEST = 20  # characters of an input in training
TESTED = 40  # and in tests beyond training


class Batch(NamedTuple):
    """A batch of inputs.

    tokens: (batch, position, word). places, alive: (batch, position). targets: NONE where no answer
    is due, (batch, position).
    """

    tokens: Tensor
    places: Tensor
    alive: Tensor
    targets: Tensor


@dataclass(frozen=True)
class Inputs(InputRows):
    """Inputs with their answers as NumPy arrays.

    difficulty: for comparison with the ponder cost, (batch,).
    """

    tokens: Ints
    places: Ints
    alive: NDArray[np.bool_]
    targets: Ints
    difficulty: Ints

    def batch(self, offset: Ints | None = None) -> Batch:
        """Return the inputs as tensors.

        offset: the number to add to every place, (batch,).
        """
        places = self.places if offset is None else self.places + offset[:, None]
        return Batch(
            *(
                torch.from_numpy(np.ascontiguousarray(a))
                for a in (self.tokens, places, self.alive, self.targets)
            )
        )


def columns(width: int) -> int:
    """Return the columns of the longest sum with at most `width` characters: two numbers and a
    sign."""
    return (width - 1) // 2


def words(letters: Ints, backwards: bool) -> Inputs:
    """Return inputs whose answers are the same letters, forwards or backwards; the difficulty is n.

    letters: from 0, (batch, n).
    """
    count, n = letters.shape
    asked = letters + LETTER
    answer = asked[:, ::-1] if backwards else asked
    tokens = np.concatenate((asked, np.full((count, 1), EQUALS), np.full((count, n), SLOT)), 1)
    targets = np.concatenate((np.full((count, n + 1), NONE), answer), 1)
    places = np.concatenate((np.arange(n + 1), np.arange(n)))
    return _inputs(tokens, places, targets, np.full(count, n))


def sums(first: Ints, second: Ints) -> Inputs:
    """Return inputs whose answers are the digits of the sum, one more than columns; the difficulty
    is the carries.

    first, second: digits, the highest first, (batch, column). Digits of one column have the same
    place, as on paper; the answer's additional digit has place 0.
    """
    count, width = first.shape
    digits, carries = add_digits(first[:, ::-1], second[:, ::-1])
    sign = np.ones((count, 1), np.int64)
    tokens = np.concatenate(
        (
            first + DIGIT,
            sign * PLUS,
            second + DIGIT,
            sign * EQUALS,
            np.full((count, width + 1), SLOT),
        ),
        1,
    )
    targets = np.concatenate((np.full((count, 2 * width + 2), NONE), digits[:, ::-1] + DIGIT), 1)
    column = np.arange(1, width + 1)
    places = np.concatenate((column, [0], column, [0], np.arange(width + 1)))
    return _inputs(tokens, places, targets, carries)


def _inputs(tokens: Ints, places: Ints, targets: Ints, difficulty: Ints) -> Inputs:
    alive = np.ones(tokens.shape, np.bool_)
    return Inputs(
        tokens[..., None],
        np.broadcast_to(places, tokens.shape).astype(np.int64),
        alive,
        targets,
        difficulty,
    )


def characters(
    task: str, generator: np.random.Generator, count: int, length: int, split: str = "train"
) -> Inputs:
    """Draw `count` inputs of one length: `length` letters for "copy" and "reverse", the longest sum
    of that many characters for "addition".

    split: "train", "val" or "test"; the hash of an input alone decides its split. Raise LookupError
    if a split has no input of a length: there are only 26 words of one letter.
    """
    tries = count + count // 2 if split == "train" else 24 * count
    chosen = splits.draw_inputs(
        lambda many: _draw_inputs(task, generator, many, length), count, tries, split
    )
    return (
        sums(chosen[:, 0], chosen[:, 1]) if task == "addition" else words(chosen, task == "reverse")
    )


def _draw_inputs(task: str, generator: np.random.Generator, count: int, length: int) -> Ints:
    """Draw letters, (count, length), or the digits of two numbers, (count, 2, column)."""
    if task != "addition":
        return generator.integers(0, 26, (count, length))
    return splits.draw_digits(generator, count, columns(length))


def lengths(task: str, longest: int = LONGEST) -> list[int]:
    """Return the lengths of training, in characters of the input."""
    return list(range(3, longest + 1, 2)) if task == "addition" else list(range(1, longest + 1))
