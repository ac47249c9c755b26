"""Average precision of boxes, as COCO measures it (Lin et al., 2014). No torch here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

THRESHOLDS = np.linspace(0.5, 0.95, 10)  # of the IoU from which a box counts as found
RECALLS = np.linspace(0, 1, 101)  # at which precision is read


@dataclass(frozen=True)
class Boxes:
    """The boxes of one picture. corners: left, top, right, bottom, (box, 4). kinds: (box,). scores:
    (box,), or None for the true boxes."""

    corners: Array
    kinds: NDArray[np.int64]
    scores: Array | None = None


def measure_overlap(a: Array, b: Array) -> Array:
    """Return the IoU of every pair of boxes given by corners, (a, 4) and (b, 4) -> (a, b)."""
    a, b = a[:, None], b[None]
    low, high = np.maximum(a[..., :2], b[..., :2]), np.minimum(a[..., 2:], b[..., 2:])
    shared = np.clip(high - low, 0, None).prod(-1)
    areas = [(box[..., 2:] - box[..., :2]).prod(-1) for box in (a, b)]
    union = areas[0] + areas[1] - shared
    overlap: Array = np.divide(shared, union, out=np.zeros_like(union), where=union > 0)
    return overlap


def _mark_found(detections: Boxes, true: Boxes, kind: int) -> tuple[Array, NDArray[np.bool_], int]:
    """Return the scores of one kind's boxes, highest first, whether each has found a true box at
    each threshold, (threshold, box), and how many true boxes there are."""
    assert detections.scores is not None
    mine = np.flatnonzero(detections.kinds == kind)
    mine = mine[np.argsort(-detections.scores[mine], kind="stable")]
    there = true.corners[true.kinds == kind]
    right = np.zeros((len(THRESHOLDS), len(mine)), np.bool_)
    overlap = measure_overlap(detections.corners[mine], there)
    for level, least in enumerate(THRESHOLDS):
        taken = np.zeros(len(there), np.bool_)
        for row, values in enumerate(overlap):
            free = np.where(taken, -1.0, values)
            if len(free) and free.max() >= least:
                # of equal overlaps COCO's program takes the last
                taken[len(free) - 1 - int(free[::-1].argmax())] = right[level, row] = True
    return detections.scores[mine], right, len(there)


def measure_average_precision(
    detections: Sequence[Boxes], true: Sequence[Boxes], kinds: int
) -> Array:
    """Return the average precision per threshold and kind, (threshold, kind); nan for a kind that
    no picture holds.

    All boxes of a kind are sorted by score. Precision at a recall is the best precision at this
    recall or a higher one, read at 101 recalls and averaged.
    """
    result = np.full((len(THRESHOLDS), kinds), np.nan)
    for kind in range(kinds):
        parts = [_mark_found(a, b, kind) for a, b in zip(detections, true, strict=True)]
        total = sum(count for *_, count in parts)
        if not total:
            continue
        order = np.argsort(-np.concatenate([scores for scores, *_ in parts]), kind="stable")
        right = np.concatenate([marks for _, marks, _ in parts], 1)[:, order].cumsum(1)
        precision = right / np.arange(1, right.shape[1] + 1)
        best = np.maximum.accumulate(precision[:, ::-1], 1)[:, ::-1]
        for level, recall in enumerate(right / total):
            at = np.searchsorted(recall, RECALLS, side="left")
            reached = at < len(recall)
            result[level, kind] = best[level][at[reached]].sum() / len(RECALLS)
    return result
