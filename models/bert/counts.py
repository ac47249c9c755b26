"""What counting says of hidden pieces: the one that is most common between such neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.windows import NONE

Row = NDArray[np.int64]
SIDES = ((-2, -1), (-1,), (1,), (1, 2))  # neighbours that are looked at together: two before, one before, one behind, two behind
SHARES = (0.35, 0.14, 0.14, 0.35)  # of each in the guess; the rest is how common a piece is at all
COMMON = 0.02


def guessed(stream: Row, given: Row, wanted: Row, kinds: int) -> NDArray[np.int64]:
    """(hidden,) the likeliest piece in each hidden place, by an interpolation of trigrams and bigrams of both sides.

    stream: all that was learned from, row behind row. given, wanted: (row, position), as `models.bert.recipe.hide` has them. kinds: pieces
    that there are. What stands hidden beside a hidden place says nothing.
    """
    rows, columns = np.nonzero(wanted != NONE)
    common = np.bincount(stream, minlength=kinds) / len(stream) * COMMON
    around = np.pad(given, ((0, 0), (2, 2)), constant_values=-kinds * kinds)  # what stands beyond an end is like nothing
    found = []  # of each side: its share; where the pieces of each place begin and end; pieces, and how often they stood there
    for side, share in zip(SIDES, SHARES, strict=True):
        asked, learned = np.zeros(len(rows), np.int64), np.zeros(len(stream), np.int64)
        for step in side:
            asked = asked * kinds + around[rows, columns + 2 + step]
            learned = learned * kinds + np.roll(stream, -step)
        here = np.isin(learned, asked)
        pairs, often = np.unique(learned[here] * kinds + stream[here], return_counts=True)
        begins, ends = (np.searchsorted(pairs, (asked + more) * kinds) for more in (0, 1))
        found.append((share, begins, ends, pairs % kinds, often))
    best = np.zeros(len(rows), np.int64)
    for i in range(len(rows)):
        score = common.copy()
        for share, begins, ends, pieces, often in found:
            some = slice(begins[i], ends[i])
            score[pieces[some]] += share * often[some] / max(1, often[some].sum())
        best[i] = score.argmax()
    return best
