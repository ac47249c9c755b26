"""The sequences of the training laboratory and their answers: made by seeded generators, without
torch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.twins.records import DIGITS, Shape

HELD_OUT, LARGE = 64, 400  # sequences by which a frame, and the end of a run, are judged


def draw_sequences(
    shape: Shape, key: Sequence[int], rows: int, few: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return sequences and answers, (row, position) each, from a generator with this key. More rows
    leave the first ones as they are. few: the fixed sequences that they are taken from, None for
    fresh ones."""
    generator = np.random.default_rng(tuple(key))
    given = (
        generator.integers(0, DIGITS, (rows, shape.length))
        if few is None
        else few[generator.integers(0, len(few), rows)]
    )
    return given, answer(given, shape.task)


def answer(given: np.ndarray, task: str) -> np.ndarray:
    """Return the right answers: the digits sorted, reversed or copied, (row, position)."""
    if task == "sort":
        return np.sort(given, -1)
    return given[..., ::-1].copy() if task == "reverse" else given


def draw_held_out(shape: Shape, count: int, draw: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return held-out sequences and their answers, (row, position) each; draw: another set."""
    given = np.random.default_rng((7, draw)).integers(0, DIGITS, (count, shape.length))
    return given, answer(given, shape.task)
