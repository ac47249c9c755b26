"""What the pondering network learns from: parity and sums, made by seeded generators; train and test told apart by a hash of the input."""

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
Array = NDArray[np.float32]

BITS = 16  # entries of a vector
DIGITS = 6  # digits of a number
END = 10  # the input behind the last digits of a sum, after which its highest digit is wanted
FIRST, SECOND = 11, 12  # units that say whose digit it is
UNITS = {"parity": 2 * BITS, "addition": 13}  # units of an input
OUTPUTS = {"parity": 2, "addition": 10}


class Batch(NamedTuple):
    """inputs: (batch, input, unit); alive: (batch, input), False at padding; targets: (batch, input), NONE where no answer is wanted."""

    inputs: Tensor
    alive: Tensor
    targets: Tensor


@dataclass(frozen=True)
class Inputs(Rows):
    """Inputs with their answers, as in `Batch`. difficulty: (batch,), bits that are not 0, or carries."""

    inputs: Array
    alive: NDArray[np.bool_]
    targets: Ints
    difficulty: Ints

    def batch(self) -> Batch:
        """As tensors."""
        return Batch(*(torch.from_numpy(np.ascontiguousarray(a)) for a in (self.inputs, self.alive, self.targets)))


def vectors(entries: Ints) -> Inputs:
    """entries: (batch, BITS) of −1, 0 and 1 -> one input each; the answer is 1 where an odd number of them is 1.

    An entry has two units: one says that it is 1, one that it is −1.
    """
    units = np.concatenate((entries == 1, entries == -1), 1).astype(np.float32)
    targets = ((entries == 1).sum(1) % 2)[:, None].astype(np.int64)
    return Inputs(units[:, None], np.ones((len(entries), 1), np.bool_), targets, np.abs(entries).sum(1))


def sums(first: Ints, second: Ints, width: Ints) -> Inputs:
    """first, second: (batch, DIGITS) digits, the lowest first, 0 beyond width (batch,) -> digits one by one.

    The lowest digit of the first number, the lowest of the second, the next of the first, …, and END. After each digit of the second number
    the sum's digit is wanted, after END its highest. Difficulty: carries.
    """
    count = len(first)
    length = 2 * int(width.max()) + 1
    inputs = np.zeros((count, length, UNITS["addition"]), np.float32)
    targets = np.full((count, length), NONE, np.int64)
    alive = np.arange(length) <= 2 * width[:, None]
    digits, carries = added(first, second)
    row, i = (np.arange(int(width.max())) < width[:, None]).nonzero()
    inputs[row, 2 * i, first[row, i]] = inputs[row, 2 * i, FIRST] = 1
    inputs[row, 2 * i + 1, second[row, i]] = inputs[row, 2 * i + 1, SECOND] = 1
    targets[row, 2 * i + 1] = digits[row, i]
    every = np.arange(count)
    inputs[every, 2 * width, END] = 1
    targets[every, 2 * width] = digits[every, width]
    return Inputs(inputs, alive, targets, carries)


def drawn(
    task: str, generator: np.random.Generator, count: int, split: str = "train", hardest: int | None = None, hard: float = 0.0
) -> Inputs:
    """`count` inputs of a task; every difficulty up to the hardest (bits, or digits of a number) is as likely as the others.

    split: which inputs may come, "train", "val" or "test", told by the hash of the input alone. hard: share of inputs that are of the
    hardest kind beside.
    """
    most = hardest or (BITS if task == "parity" else DIGITS)
    make, tries = _parity if task == "parity" else _addition, count + count // 2 if split == "train" else 24 * count
    rows = hashing.drawn(lambda many: make(generator, many, most, hard), count, tries, split)
    if task == "parity":
        return vectors(rows)
    return sums(rows[:, 1 : 1 + DIGITS], rows[:, 1 + DIGITS :], rows[:, 0])


def _sizes(generator: np.random.Generator, count: int, most: int, hard: float) -> Ints:
    """(count,) 1 … most, a share `hard` of them `most`."""
    return np.where(generator.random(count) < hard, most, generator.integers(1, most + 1, count))


def _parity(generator: np.random.Generator, count: int, most: int, hard: float) -> Ints:
    """(count, BITS): a random number of entries, 1 … most, anywhere, are −1 or 1, the others 0 (Graves, 2016, §3.1)."""
    bits = _sizes(generator, count, most, hard)
    signs = generator.integers(0, 2, (count, BITS)) * 2 - 1
    order = generator.random((count, BITS)).argsort(1).argsort(1)
    return np.where(order < bits[:, None], signs, 0)


def _addition(generator: np.random.Generator, count: int, most: int, hard: float) -> Ints:
    """(count, 1 + 2 · DIGITS): the width, the first number, the second, each the lowest digit first."""
    width = _sizes(generator, count, most, hard)
    digits = hashing.digits(generator, count, DIGITS)
    digits *= np.arange(DIGITS) < width[:, None, None]
    return np.concatenate((width[:, None], digits.reshape(count, -1)), 1)
