"""Train and test told apart by a hash of the input: an input is on one side for ever, however often it is drawn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

PARTS = 20  # shares of all possible inputs: one is "test", one "val", the others "train"
SPLITS = ("train", "val", "test")


def hashes(rows: NDArray[np.integer]) -> NDArray[np.uint64]:
    """A 64-bit hash of each row of whole numbers, (row, column) -> (row,): the same on every machine.

    Each number is mixed in by the finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
    """
    found = np.full(len(rows), rows.shape[1], np.uint64)
    with np.errstate(over="ignore"):
        for column in rows.T:
            found = found + column.astype(np.int64).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
            found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            found = found ^ (found >> np.uint64(31))
    return found


def belongs(rows: NDArray[np.integer], split: str) -> NDArray[np.bool_]:
    """(row,) which of these inputs belong to a split: "train", "val" or "test". ValueError for another."""
    if split not in SPLITS:
        raise ValueError(f"there are the splits {', '.join(SPLITS)}, not {split}")
    part = hashes(rows) % np.uint64(PARTS)
    found: NDArray[np.bool_] = {"test": part == 0, "val": part == 1, "train": part > 1}[split]
    return found


def drawn(draw: Callable[[int], NDArray[np.int64]], count: int, tries: int, split: str) -> NDArray[np.int64]:
    """The first `count` inputs, (input, …), that belong to a split, of those that draw(tries) makes, again and again.

    LookupError where of fifty times as many none does. ValueError as in `belongs`.
    """
    found: list[NDArray[np.int64]] = []
    while sum(map(len, found)) < count:
        some = draw(tries)
        found.append(some[belongs(some.reshape(len(some), -1), split)])
        if len(found) == 50 and not any(map(len, found)):
            raise LookupError(f"none of {50 * tries:,} inputs belongs to {split}")
    return np.concatenate(found)[:count]


CARRIES = 0.3  # share of sums with many columns that add up to 9, so that carries run far


def digits(generator: np.random.Generator, count: int, columns: int) -> NDArray[np.int64]:
    """(count, 2, columns) the digits of two numbers to be added."""
    found = generator.integers(0, 10, (count, 2, columns))
    chained = (generator.random((count, 1)) < CARRIES) & (generator.random((count, columns)) < 0.7)
    found[:, 1] = np.where(chained, 9 - found[:, 0], found[:, 1])
    return found
