"""What the labs of networks that decide how long they think explain alike: frozen records of NumPy arrays and texts. No torch here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Thinking:
    """One run. Axes: position, in the order of the input; step, up to the most that any position took.

    wanted: where the answer is read, indices in order. answer, expected: the given one and the right one; probability: of each part of it.
    steps: (position,) N. remainder: (position,) R. halting: (step, position) h_n, weights: (step, position) p_n, both 0 once a position has
    stopped. totals: (step, position) h_1 + … + h_n as they add up to 1 − ε, 1 from N on. distance: (step, position) ‖s_n − s_N‖ over the
    root of the units, 0 from N on. stopped: for each step n, the answer if every position had stopped at its n-th step at the latest.
    threshold: 1 − ε. limit: M. ponder: mean of N + R over all positions. difficulty: what makes the input hard, counted.
    """

    wanted: tuple[int, ...]
    answer: str
    expected: str
    probability: Array
    steps: NDArray[np.int64]
    remainder: Array
    halting: Array
    weights: Array
    totals: Array
    distance: Array
    stopped: tuple[str, ...]
    threshold: float
    limit: int
    ponder: float
    difficulty: int

    @property
    def right(self) -> bool:
        """Is the answer the right one?"""
        return self.answer == self.expected


@dataclass(frozen=True)
class Measured:
    """What a network does on `sample` held-out inputs of a task: share of right answers, mean ponder N + R, milliseconds for all."""

    accuracy: float
    ponder: float
    milliseconds: float
    sample: int
