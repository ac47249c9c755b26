"""Inputs for the adaptive recurrent network: parity vectors and sums from seeded generators.

A hash of the input decides whether it belongs to training, validation or test.
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
Array = NDArray[np.float32]

BITS = 16  # entries of a vector
DIGITS = 6  # digits of a number
END = 10  # the input behind the last digits of a sum; the network answers the highest digit there
FIRST, SECOND = 11, 12  # units that mark whose digit it is
UNITS = {"parity": 2 * BITS, "addition": 13}  # units of an input
OUTPUTS = {"parity": 2, "addition": 10}


class Batch(NamedTuple):
    """A padded batch of inputs.

    inputs: the inputs, (batch, input, unit). alive: False at padding, (batch, input). targets: the
    right answers, (batch, input), NONE where no answer is due.
    """

    inputs: Tensor
    alive: Tensor
    targets: Tensor


@dataclass(frozen=True)
class Inputs(InputRows):
    """Inputs with their answers, as in `Batch`.

    difficulty: the number of bits that are not 0, or of carries, (batch,).
    """

    inputs: Array
    alive: NDArray[np.bool_]
    targets: Ints
    difficulty: Ints

    def batch(self) -> Batch:
        """Return the inputs as tensors."""
        return Batch(
            *(
                torch.from_numpy(np.ascontiguousarray(a))
                for a in (self.inputs, self.alive, self.targets)
            )
        )


def vectors(entries: Ints) -> Inputs:
    """Return one input per entry, and 1 as the answer where an odd number of entries is 1.

    Each entry has two units: one is on for 1, the other for −1. entries: −1, 0 or 1, (batch, BITS).
    """
    units = np.concatenate((entries == 1, entries == -1), 1).astype(np.float32)
    targets = ((entries == 1).sum(1) % 2)[:, None].astype(np.int64)
    return Inputs(
        units[:, None], np.ones((len(entries), 1), np.bool_), targets, np.abs(entries).sum(1)
    )


def sums(first: Ints, second: Ints, width: Ints) -> Inputs:
    """Return sums digit by digit, with their carries as the difficulty.

    The inputs are the lowest digit of the first number, the lowest of the second, the next of the
    first, …, and END. The answer after each digit of the second number is the sum's digit, and
    after END its highest digit.

    first, second: digits, the lowest first, 0 beyond the width, (batch, DIGITS). width: digits in
    use, (batch,).
    """
    count = len(first)
    length = 2 * int(width.max()) + 1
    inputs = np.zeros((count, length, UNITS["addition"]), np.float32)
    targets = np.full((count, length), NONE, np.int64)
    alive = np.arange(length) <= 2 * width[:, None]
    digits, carries = add_digits(first, second)
    row, i = (np.arange(int(width.max())) < width[:, None]).nonzero()
    inputs[row, 2 * i, first[row, i]] = inputs[row, 2 * i, FIRST] = 1
    inputs[row, 2 * i + 1, second[row, i]] = inputs[row, 2 * i + 1, SECOND] = 1
    targets[row, 2 * i + 1] = digits[row, i]
    every = np.arange(count)
    inputs[every, 2 * width, END] = 1
    targets[every, 2 * width] = digits[every, width]
    return Inputs(inputs, alive, targets, carries)


def draw_inputs(
    task: str,
    generator: np.random.Generator,
    count: int,
    split: str = "train",
    hardest: int | None = None,
    hard: float = 0.0,
) -> Inputs:
    """Draw `count` inputs of a task; every difficulty up to the hardest is equally likely.

    split: "train", "val" or "test"; the hash of an input alone decides its split. hardest: the
    largest number of bits, or of digits. hard: the share of additional inputs of the hardest kind.
    """
    most = hardest or (BITS if task == "parity" else DIGITS)
    make, tries = (
        _parity if task == "parity" else _addition,
        count + count // 2 if split == "train" else 24 * count,
    )
    rows = splits.draw_inputs(lambda many: make(generator, many, most, hard), count, tries, split)
    if task == "parity":
        return vectors(rows)
    return sums(rows[:, 1 : 1 + DIGITS], rows[:, 1 + DIGITS :], rows[:, 0])


def _sizes(generator: np.random.Generator, count: int, most: int, hard: float) -> Ints:
    """Draw sizes from 1 to `most`, (count,); a share `hard` of them equals `most`."""
    return np.where(generator.random(count) < hard, most, generator.integers(1, most + 1, count))


def _parity(generator: np.random.Generator, count: int, most: int, hard: float) -> Ints:
    """Draw parity vectors, (count, BITS): 1 to `most` entries at random places are −1 or 1, the
    others are 0 (Graves, 2016, §3.1)."""
    bits = _sizes(generator, count, most, hard)
    signs = generator.integers(0, 2, (count, BITS)) * 2 - 1
    order = generator.random((count, BITS)).argsort(1).argsort(1)
    return np.where(order < bits[:, None], signs, 0)


def _addition(generator: np.random.Generator, count: int, most: int, hard: float) -> Ints:
    """Draw sums, (count, 1 + 2 · DIGITS): the width, the first number and the second number, each
    with its lowest digit first."""
    width = _sizes(generator, count, most, hard)
    digits = splits.draw_digits(generator, count, DIGITS)
    digits *= np.arange(DIGITS) < width[:, None, None]
    return np.concatenate((width[:, None], digits.reshape(count, -1)), 1)
