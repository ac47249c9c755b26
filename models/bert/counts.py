"""A prediction of hidden pieces from counts: the most common piece between the same neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.data.windows import NONE

Row = NDArray[np.int64]
# The neighbours that form a context: two before, one before, one after, two after.
SIDES = ((-2, -1), (-1,), (1,), (1, 2))
# the share of each in the guess; the rest is the overall frequency of a piece
SHARES = (0.35, 0.14, 0.14, 0.35)
COMMON = 0.02


def guess_by_counts(stream: Row, given: Row, wanted: Row, kinds: int) -> NDArray[np.int64]:
    """Return the likeliest piece in each hidden place, by interpolated trigrams and bigrams of both
    sides, (hidden,).

    stream: the training text, one row after another. given, wanted: as returned by
    `models.bert.hiding.hide`, (row, position). kinds: the number of pieces in the vocabulary. A
    hidden neighbour gives no information.
    """
    rows, columns = np.nonzero(wanted != NONE)
    common = np.bincount(stream, minlength=kinds) / len(stream) * COMMON
    # Places beyond an end match nothing.
    around = np.pad(given, ((0, 0), (2, 2)), constant_values=-kinds * kinds)
    # Per side: its share, the start and end of each place's pieces, the pieces, and their counts.
    found = []
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
