"""What training hides of a text, and the page draws alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from models.bert.pieces import Pieces
from models.windows import NONE

SHARE = 0.15  # of positions that are to be said (Devlin et al., 2019, §3.1)
MASKED, SWAPPED = 0.8, 0.1  # shares of these that read [MASK], and another piece; the rest is left as it is
Row = NDArray[np.int64]


def hide(
    rows: Sequence[Row], pieces: Pieces, generator: np.random.Generator, *, only_masks: bool = False, least: bool = False
) -> tuple[Row, Row, Row]:
    """What is read of some rows, their lengths made one, what may be read, and what is to be said or NONE, each (row, position).

    SHARE of the positions are drawn, none of them a special piece; what these read: [MASK] MASKED of the time, SWAPPED another piece, else
    what stands there. only_masks: always [MASK], as where something is measured. least: one position at least.
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
    given = np.where(drawn, pieces.mask if only_masks else np.where(how < MASKED, pieces.mask, swapped), plain)
    return given, plain != pieces.pad, np.where(drawn, plain, NONE)
