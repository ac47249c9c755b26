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
    found: list[tuple[Row, Row, NDArray[np.float64]]] = []  # of each side: where the pieces of each place begin and end; pieces; shares
    for side, share in zip(SIDES, SHARES, strict=True):
        asked, learned = np.zeros(len(rows), np.int64), np.zeros(len(stream), np.int64)
        inside = np.ones(len(rows), np.bool_)
        for step in side:
            at = columns + step
            inside &= (at >= 0) & (at < given.shape[1])
            asked = asked * kinds + given[rows, at.clip(0, given.shape[1] - 1)]
            learned = learned * kinds + np.roll(stream, -step)
        asked[~inside] = -1
        names, which = np.unique(asked, return_inverse=True)
        place = np.searchsorted(names, learned).clip(0, len(names) - 1)
        here = names[place] == learned
        pairs, often = np.unique(place[here] * kinds + stream[here], return_counts=True)
        totals = np.bincount(pairs // kinds, often, len(names))
        begins = np.searchsorted(pairs, np.arange(len(names) + 1) * kinds)
        found.append((np.stack((begins[which], begins[which + 1])), pairs % kinds, share * often / totals[pairs // kinds]))
    best = np.zeros(len(rows), np.int64)
    for i in range(len(rows)):
        score = common.copy()
        for bounds, pieces, shares in found:
            some = slice(int(bounds[0, i]), int(bounds[1, i]))
            score[pieces[some]] += shares[some]
        best[i] = score.argmax()
    return best
