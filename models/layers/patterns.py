"""The full, strided and fixed patterns of earlier positions that a position attends to (Child et
al., 2019, §4.2 and §4.3). No torch here.

In a pattern of p = 2 factors each position attends to about 2√L others in place of L, and still
reaches every earlier position over one position between. With stride l and summary width c, and
always j ≤ i:
strided: A1 = {max(0, i − l) … i}, A2 = {j : (i − j) mod l = 0};
fixed: A1 = {j : ⌊j / l⌋ = ⌊i / l⌋}, A2 = {j : j mod l ≥ l − c}.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]

KINDS = ("full", "strided", "fixed")
USES = ("interleaved", "merged", "split")


@dataclass(frozen=True)
class Factor:
    """One set of earlier positions for each position.

    name: one of FACTORS.
    stride: l, positions.
    summary: c, positions at the end of each block that later blocks see.

    Raise ValueError where the factor does not exist, or where the sizes make no pattern.
    """

    name: str
    stride: int = 1
    summary: int = 1

    def __post_init__(self) -> None:
        if self.name not in FACTORS:
            raise ValueError(f"the factors are {', '.join(FACTORS)}, not {self.name}")
        if self.stride < 1 or not 1 <= self.summary <= self.stride:
            raise ValueError(
                f"stride {self.stride} with {self.summary} summary columns: expected 1 ≤ c ≤ l"
            )

    def list_keys(self, position: int) -> Index:
        """Return the positions that one position attends to, (key,), ascending; none comes after
        it."""
        return FACTORS[self.name](position, self.stride, self.summary)

    def count_keys(self, length: int) -> Index:
        """Return how many positions each of the first `length` positions attends to, (query,)."""
        return np.array([len(self.list_keys(position)) for position in range(length)], np.int64)

    def build_mask(self, length: int) -> NDArray[np.bool_]:
        """Return the whole pattern, (query, key) bool: to look at, or to test with; nothing
        computes with it."""
        found = np.zeros((length, length), np.bool_)
        for position in range(length):
            found[position, self.list_keys(position)] = True
        return found


def _all_keys(i: int, stride: int, summary: int) -> Index:
    return np.arange(i + 1)


def _row_keys(i: int, stride: int, summary: int) -> Index:
    return np.arange(max(0, i - stride), i + 1)


def _column_keys(i: int, stride: int, summary: int) -> Index:
    return np.arange(i % stride, i + 1, stride)


def _strided_keys(i: int, stride: int, summary: int) -> Index:
    return np.concatenate(
        (np.arange(i % stride, i - stride, stride), _row_keys(i, stride, summary))
    )


def _block_keys(i: int, stride: int, summary: int) -> Index:
    return np.arange(i // stride * stride, i + 1)


def _earlier_summaries(i: int, stride: int, summary: int) -> Index:
    ends = np.arange(1, i // stride + 1)[:, None] * stride
    return (ends + np.arange(-summary, 0)).reshape(-1)


def _summary_keys(i: int, stride: int, summary: int) -> Index:
    own = np.arange(i // stride * stride + stride - summary, i + 1)
    return np.concatenate((_earlier_summaries(i, stride, summary), own))


def _fixed_keys(i: int, stride: int, summary: int) -> Index:
    return np.concatenate((_earlier_summaries(i, stride, summary), _block_keys(i, stride, summary)))


# For each factor: the keys of one position, as a function of (position, l, c).
FACTORS: dict[str, Callable[[int, int, int], Index]] = {
    "all": _all_keys,
    "row": _row_keys,
    "column": _column_keys,
    "strided": _strided_keys,
    "block": _block_keys,
    "summary": _summary_keys,
    "fixed": _fixed_keys,
}

# A1, A2, A1 ∪ A2
PAIRS = {
    "full": ("all", "all", "all"),
    "strided": ("row", "column", "strided"),
    "fixed": ("block", "summary", "fixed"),
}


@dataclass(frozen=True)
class Pattern:
    """Two factors and their union.

    kind: one of KINDS.
    stride, summary: as in `Factor`.

    A query of the fixed A2 attends to nothing before the first summary column, not even to itself:
    the residual sum around the sublayer carries it on. Raise ValueError as `Factor` does.
    """

    kind: str
    stride: int = 1
    summary: int = 1

    def __post_init__(self) -> None:
        if self.kind not in PAIRS:
            raise ValueError(f"the patterns are {', '.join(PAIRS)}, not {self.kind}")
        self._make_factor(0)

    def _make_factor(self, which: int) -> Factor:
        return Factor(PAIRS[self.kind][which], self.stride, self.summary)

    @property
    def first_factor(self) -> Factor:
        """The factor A1: near positions."""
        return self._make_factor(0)

    @property
    def second_factor(self) -> Factor:
        """The factor A2: far positions."""
        return self._make_factor(1)

    @property
    def joint_factor(self) -> Factor:
        """The union A1 ∪ A2, each pair once."""
        return self._make_factor(2)

    def assign_heads(self, use: str, layer: int, n_heads: int) -> tuple[tuple[int, Factor], ...]:
        """Return the factors of the heads of a layer: (count of heads, factor), from the first head
        on (§5.1).

        use: "interleaved": even layers with A1, odd ones with A2; "merged": every head with the
            union; "split": the first half of the heads with A1, the others with A2.

        Raise ValueError for another use, or one head to split.
        """
        if use not in USES:
            raise ValueError(f"the ways of use are {', '.join(USES)}, not {use}")
        if self.kind == "full" or use == "merged":
            return ((n_heads, self.joint_factor),)
        if use == "interleaved":
            return ((n_heads, self.second_factor if layer % 2 else self.first_factor),)
        if n_heads < 2:
            raise ValueError("one head cannot be split between two patterns")
        half = n_heads // 2
        return ((half, self.first_factor), (n_heads - half, self.second_factor))
