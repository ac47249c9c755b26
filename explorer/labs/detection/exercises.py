"""The exercises of the detector: who owns which object, repeats, and objects that are lost."""

from __future__ import annotations

import dataclasses

import numpy as np

from explorer.contract.exercises import Attempt, Exercise
from models.detection.records import Array, Explanation, Request

SURE = 0.5  # probability from which a query answers
OVERLAP = 0.5  # intersection over union of two boxes that are one
LARGE = 0.2  # of the scene's side


def _locks_owner_of_smallest(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    if len(run.boxes) < 2 or run.pairs.shape[1] < len(run.boxes):  # too few queries for all
        return False
    smallest = int((run.boxes[:, 2] * run.boxes[:, 3]).argmin())
    return attempt.look.get("query") == str(int(run.pairs[-1, smallest]))


def _repeats_without_agreement(attempt: Attempt[Request, Explanation]) -> bool:
    is_talk_alone = dataclasses.replace(attempt.request, agree=True) == Request(
        attempt.request.scene, attempt.request.drawing, attempt.request.picture
    )
    return (
        is_talk_alone
        and not attempt.request.agree
        and count_repeats(attempt.plain) == 0
        and count_repeats(attempt.explanation) > 0
    )


def _loses_object(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    return (
        run is attempt.plain
        and len(run.boxes) > 1
        and bool((run.boxes[:, 2:].max(1) >= LARGE).all())
        and bool((run.chances[-1, run.pairs[-1], -1] > SURE).any())
    )


def count_repeats(run: Explanation) -> int:
    """Return how many queries answer with a box that a surer query of the same class has too."""
    kinds, chances = (each[-1] for each in run.answers)
    boxes, count = run.found[-1], 0
    kept: list[int] = []
    for query in np.argsort(-chances):
        if chances[query] < SURE:
            break
        if any(
            kinds[query] == kinds[other] and measure_overlap(boxes[query], boxes[other]) > OVERLAP
            for other in kept
        ):
            count += 1
        else:
            kept.append(int(query))
    return count


def measure_overlap(box: Array, other: Array) -> float:
    """Return the intersection over union of two boxes (center x, center y, width, height)."""
    low = np.maximum(box[:2] - box[2:] / 2, other[:2] - other[2:] / 2)
    high = np.minimum(box[:2] + box[2:] / 2, other[:2] + other[2:] / 2)
    shared = float(np.maximum(high - low, 0).prod())
    return shared / max(1e-9, float(box[2:].prod() + other[2:].prod()) - shared)


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="owner",
        question={
            "en": "Which object query owns the smallest object of the scene? Lock it.",
            "zh": "场景中最小的物体属于哪个目标查询？请锁定它。",
        },
        answer={
            "en": "The query whose box encloses it: the matching gives every object to exactly one"
            " query, the one that costs least in sum.",
            "zh": "框住它的那个查询：匹配使每个物体恰好归一个查询所有，总代价最小。",
        },
        solution="v=1&_query=11",
        is_solved=_locks_owner_of_smallest,
    ),
    Exercise(
        key="repeat",
        question={
            "en": "Let the queries no longer see each other, in a scene in which then, and only"
            " then, two of them answer for the same object.",
            "zh": "让查询彼此看不见：找一个场景，只有这样时才会有两个查询回答同一个物体。",
        },
        answer={
            "en": "Six equal kinds side by side do it. Queries agree on who answers by attending to"
            " each other; without that, two may claim one box.",
            "zh": "六个同类物体并排放着就会这样。查询靠相互注意来商定谁回答；"
            "没有它，两个查询可能认领同一个框。",
        },
        solution="v=1&scene=6,1.0.2.2.30.1,1.1.34.2.30.1,1.2.66.2.30.1,1.3.2.50.30.0,"
        "1.4.34.50.30.0,1.5.66.50.30.0&agree=0",
        is_solved=_repeats_without_agreement,
    ),
    Exercise(
        key="lost",
        question={
            "en": "Place objects of at least a fifth of the scene so that the unchanged network"
            " loses one: the query that owns it says ∅.",
            "zh": "放置若干边长至少为场景五分之一的物体，"
            "使未改动的网络漏掉一个：拥有它的查询回答 ∅。",
        },
        answer={
            "en": "Lay three equal ones nearly on top of each other. Their tokens and boxes are"
            " almost the same, and the queries have learned not to answer twice.",
            "zh": "把三个同类物体几乎叠在一起。它们的特征和框几乎一样，而查询学会了不重复回答。",
        },
        solution="v=1&scene=3,1.0.30.30.30.1,1.0.34.32.30.1,1.0.38.34.30.1",
        is_solved=_loses_object,
    ),
)
