"""Divide inputs into train and test by their hash: an input is on one side for ever, however often
it is drawn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

PARTS = 20  # shares of all possible inputs: one is "test", one "val", the others "train"
SPLITS = ("train", "val", "test")


def hash_rows(rows: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each row of whole numbers, (row, column) -> (row,): the same on every
    machine.

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


def belongs_to_split(rows: NDArray[np.integer], split: str) -> NDArray[np.bool_]:
    """Return which of these inputs belong to a split, (row,): "train", "val" or "test". Raise
    ValueError for another."""
    if split not in SPLITS:
        raise ValueError(f"there are the splits {', '.join(SPLITS)}, not {split}")
    part = hash_rows(rows) % np.uint64(PARTS)
    found: NDArray[np.bool_] = {"test": part == 0, "val": part == 1, "train": part > 1}[split]
    return found


def draw_inputs(
    draw: Callable[[int], NDArray[np.int64]], count: int, tries: int, split: str
) -> NDArray[np.int64]:
    """Return the first `count` inputs, (input, …), that belong to a split, of those that
    draw(tries) makes in repeated calls.

    Raise LookupError where fifty calls give none, and ValueError as `belongs_to_split` does.
    """
    found: list[NDArray[np.int64]] = []
    while sum(map(len, found)) < count:
        some = draw(tries)
        found.append(some[belongs_to_split(some.reshape(len(some), -1), split)])
        if len(found) == 50 and not any(map(len, found)):
            raise LookupError(f"none of {50 * tries:,} inputs belongs to {split}")
    return np.concatenate(found)[:count]


CARRIES = 0.3  # share of sums with many columns that add up to 9, so that carries run far


def draw_digits(generator: np.random.Generator, count: int, columns: int) -> NDArray[np.int64]:
    """Return the digits of two numbers to be added, (count, 2, columns)."""
    found = generator.integers(0, 10, (count, 2, columns))
    chained = (generator.random((count, 1)) < CARRIES) & (generator.random((count, columns)) < 0.7)
    found[:, 1] = np.where(chained, 9 - found[:, 0], found[:, 1])
    return found
