"""Boxes that overlap: duplicates, and their suppression. No torch here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.detection.records import Explanation
from models.evaluation.average_precision import Boxes, measure_overlap

SAME = 0.5  # IoU from which two boxes of one class count as the same object


def mark_duplicates(boxes: Boxes, overlap: float = SAME) -> NDArray[np.bool_]:
    """Mark boxes that overlap a surer kept box of their class, (box,): greedy non-maximum
    suppression would remove them."""
    assert boxes.scores is not None
    marked, kept = np.zeros(len(boxes.kinds), np.bool_), list[int]()
    iou = measure_overlap(boxes.corners, boxes.corners)
    for i in np.argsort(-boxes.scores, kind="stable").tolist():
        marked[i] = any(boxes.kinds[i] == boxes.kinds[k] and iou[i, k] >= overlap for k in kept)
        if not marked[i]:
            kept.append(i)
    return marked


def select_boxes(boxes: Boxes, chosen: NDArray[np.bool_]) -> Boxes:
    """Return some of the boxes."""
    scores = None if boxes.scores is None else boxes.scores[chosen]
    return Boxes(boxes.corners[chosen], boxes.kinds[chosen], scores)


def suppress_neighbours(boxes: Boxes) -> Boxes:
    """Return the boxes without duplicates."""
    return select_boxes(boxes, ~mark_duplicates(boxes))


def count_duplicates(boxes: Boxes, sure: float) -> int:
    """Count the duplicates among boxes whose score is at least `sure`."""
    assert boxes.scores is not None
    return int(mark_duplicates(select_boxes(boxes, boxes.scores >= sure)).sum())


@dataclass(frozen=True)
class Answers:
    """A judgement of the answers of one run.

    count: queries that answer. duplicates: answers that overlap a surer one of their class. sure:
    the mean probability of the right class at the matched queries, 0 for an object without one;
    where no object is known, the highest probability of any class. overlap: the mean IoU of
    objects and their queries; 0 where none is known.
    """

    count: int
    duplicates: int
    sure: float
    overlap: float


def judge_answers(run: Explanation, least: float = 0.5) -> Answers:
    """Judge the last answers of a run. least: the score from which a query answers."""
    kinds, scores = (entry[-1] for entry in run.answers)
    boxes = Boxes(find_corners(run.found[-1]), kinds, scores)
    count, duplicates = int((scores >= least).sum()), count_duplicates(boxes, least)
    if not len(run.kinds):
        return Answers(count, duplicates, float(scores.max()), 0.0)
    pairs, objects = run.pairs[-1], len(run.kinds)
    right = run.chances[-1, pairs, run.kinds[: len(pairs)]]
    overlap = measure_overlap(boxes.corners, find_corners(run.boxes))[pairs, np.arange(len(pairs))]
    return Answers(count, duplicates, float(right.sum()) / objects, float(overlap.sum()) / objects)


def find_corners(boxes: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return left, top, right and bottom of boxes given by center and size, (box, 4) each."""
    center, size = boxes[:, :2].astype(np.float64), boxes[:, 2:].astype(np.float64)
    return np.concatenate((center - size / 2, center + size / 2), 1)
