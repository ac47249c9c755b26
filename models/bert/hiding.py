"""The rule by which training, and the page, hide pieces of a text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from models.bert.pieces import Pieces
from models.data.windows import NONE

SHARE = 0.15  # of positions to predict (Devlin et al., 2019, §3.1)
# Shares of these positions that read [MASK], and another piece; the rest keep their piece.
MASKED, SWAPPED = 0.8, 0.1
Row = NDArray[np.int64]


def hide(
    rows: Sequence[Row],
    pieces: Pieces,
    generator: np.random.Generator,
    *,
    only_masks: bool = False,
    least: bool = False,
) -> tuple[Row, Row, Row]:
    """Hide pieces of some rows, padded to one length.

    Return the input, the readable positions, and the targets or NONE, (row, position) each. SHARE
    of the positions are drawn, special pieces excepted. Of these, MASKED read [MASK], SWAPPED read
    another piece, and the rest keep their own. only_masks: always use [MASK], as in measurements.
    least: draw at least one position.
    """
    wide = max(map(len, rows))
    plain = np.full((len(rows), wide), pieces.pad, np.int64)
    for row, one in zip(plain, rows, strict=True):
        row[: len(one)] = one
    chance = np.where(np.isin(plain, pieces.special), np.inf, generator.random(plain.shape))
    drawn = (chance < SHARE) | ((chance == chance.min()) & least & np.isfinite(chance))
    how = generator.random(plain.shape)
    ordinary = np.setdiff1d(np.arange(len(pieces)), pieces.special)
    swapped = np.where(how < MASKED + SWAPPED, generator.choice(ordinary, plain.shape), plain)
    given = np.where(
        drawn, pieces.mask if only_masks else np.where(how < MASKED, pieces.mask, swapped), plain
    )
    return given, plain != pieces.pad, np.where(drawn, plain, NONE)
