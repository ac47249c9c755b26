"""The common part of the labs of networks with adaptive computation: sums as inputs, and frozen
records of arrays. No torch here."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.explaining.errors import InputError
from models.explaining.request_fields import clean_for_sentence, read_narrow

Array = NDArray[np.float32]

_SUM = re.compile(r"\s*([0-9]+)\s*\+\s*([0-9]+)\s*=?\s*")


@dataclass(frozen=True, kw_only=True)
class Thinking:
    """One run. Axes: position, in the order of the input; step, up to the most that any position
    took.

    wanted: the positions where the answer is read, indices in order.
    answer, expected: the given answer and the right one; probability: of each part of the given
        one.
    steps: N, (position,).
    remainder: R, (position,).
    halting: h_n, (step, position); weights: p_n, (step, position); both 0 once a position has
        stopped.
    totals: h_1 + … + h_n as they add up to 1 − ε, 1 from N on, (step, position).
    distance: ‖s_n − s_N‖ over the root of the units, 0 from N on, (step, position).
    stopped: for each step n, the answer if every position had stopped at its n-th step at the
        latest.
    threshold: 1 − ε.
    limit: M.
    ponder: mean of N + R over all positions.
    difficulty: the count that makes the input hard.
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
    def is_right(self) -> bool:
        """Whether the answer is the right one."""
        return self.answer == self.expected


@dataclass(frozen=True)
class MeasuredSample:
    """The measurement of a network on `sample` held-out inputs of a task: share of right answers,
    mean ponder N + R, milliseconds for all."""

    accuracy: float
    ponder: float
    milliseconds: float
    sample: int


def add_digits(
    first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Add numbers digit by digit: (batch, column) digits, the lowest first -> the digits of their
    sum, (batch, column + 1), and how many carries there are, (batch,)."""
    digits = np.pad(first + second, ((0, 0), (0, 1)))
    for i in range(first.shape[1]):
        digits[:, i + 1] += digits[:, i] // 10
    return digits % 10, (digits >= 10).sum(1)


def read_sum(text: str, most: int) -> tuple[str, str]:
    """Return the two numbers of a sum, without leading zeros. Raise InputError where the text is no
    sum of two numbers of at most so many digits."""
    plain = read_narrow(text)
    if not plain.strip():
        raise InputError(
            "empty",
            en="There is no sum: type one such as 478+256.",
            zh="没有算式：请输入例如 478+256。",
        )
    found = _SUM.fullmatch(plain)
    if found is None:
        wrong = next((c for c in plain if c not in "0123456789+= \t\n"), None)
        if wrong is not None:
            raise InputError(
                "not_a_sum",
                en=(
                    f"“{clean_for_sentence(wrong)}” does not belong in a sum: type two numbers and"
                    " a plus sign, such as 478+256."
                ),
                zh=(
                    f"算式中不能有“{clean_for_sentence(wrong)}”："
                    "请输入两个数和一个加号，例如 478+256。"
                ),
            )
        raise InputError(
            "not_a_sum",
            en="This is no sum of two numbers: type one such as 478+256.",
            zh="这不是两个数的加法：请输入例如 478+256。",
        )
    first, second = (number.lstrip("0") or "0" for number in found.groups())
    longest = max(len(first), len(second))
    if longest > most:
        raise InputError(
            "too_long",
            en=f"A number has {longest} digits; this network adds numbers of up to {most}.",
            zh=f"其中一个数有 {longest} 位；该网络最多处理 {most} 位数的加法。",
        )
    return first, second
