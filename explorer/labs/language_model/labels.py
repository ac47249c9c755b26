"""Pictures of a fine-tuning on labelled sentences while it learns."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.components.figure import Mark, describe_drawn_figure
from explorer.contract.control_kinds import Value
from explorer.contract.labels import Text, fill_text, join_sentences
from explorer.figures.curves import Curve, draw_curves
from explorer.labs.language_model import texts
from explorer.panels.label_curve import BEGINNINGS, COLOURS, COUNTING, RIGHT
from models.language_model.records import Explanation, Learned, Point, Request, Step

OURS, BESIDE, COUNTS = COLOURS


def draw_partial_curve(steps: Sequence[Step | Point], request: Request) -> Value:
    """Draw the measured points so far. steps: of a fine-tuning, all are points."""
    points = [step for step in steps if isinstance(step, Point)]
    return _draw_points(
        points, request, fill_text(texts.LEARNING, seen=f"{points[-1].seen if points else 0:,}")
    )


def draw_label_curve(seen: Explanation | Learned, request: Request, _state: str) -> Value:
    """Draw the share of held-out sentences that are judged rightly against the number of sentences
    read, beside the share that counting words reaches."""
    assert isinstance(seen, Learned)  # a request of this task is answered by a fine-tuning
    return _draw_points(seen.points, request, describe_result(seen, request), seen.counts)


def describe_result(seen: Learned, request: Request) -> Text:
    """Describe the result of a fine-tuning."""
    if not seen.points:
        return texts.HALTED
    last = seen.points[-1]
    begins = BEGINNINGS[request.way]
    told = {
        "begins": {"en": begins["en"].capitalize(), "zh": begins["zh"]},
        "labels": f"{request.labels:,}",
        "n": f"{seen.held_out:,}",
    }
    fit = fill_text(texts.BY_HEART, fit=f"{last.fit:.2f}") if last.fit is not None else None
    counts = fill_text(texts.COUNTED, counts=f"{seen.counts:.2f}")
    judged = fill_text(texts.LEARNED, **told, seen=f"{last.seen:,}", right=f"{last.accuracy:.2f}")
    return join_sentences(texts.HALTED if seen.stopped else None, judged, fit, counts) or judged


def _draw_points(
    points: Sequence[Point], request: Request, sentence: Text, counts: float | None = None
) -> Value:
    fits = [point for point in points if point.fit is not None]
    lines = [
        Curve(texts.HELD_OUT, [one.seen for one in points], [one.accuracy for one in points], OURS)
    ]
    lines += [
        Curve(texts.FIT, [one.seen for one in fits], [one.fit or 0.0 for one in fits], BESIDE)
    ]
    lines += [Curve(COUNTING, [], [counts], COUNTS, level=True)] if counts is not None else []
    return describe_drawn_figure(
        "language-model-labels",
        lambda language: draw_curves(
            lines,
            (texts.READ_SO_FAR[language], RIGHT[language]),
            language,
            up=(0.4, 1.0),
            height=300,
        ),
        (texts.FINE_TUNED, texts.FINE_TUNED_UNITS, sentence),
        (texts.READ_SO_FAR, texts.HELD_OUT, texts.FIT),
        [
            (
                point.seen,
                round(point.accuracy, 4),
                None if point.fit is None else round(point.fit, 4),
            )
            for point in points
        ],
        [Mark(texts.HELD_OUT, OURS), Mark(texts.FIT, BESIDE), Mark(COUNTING, COUNTS, dashed=True)],
        height=300,
    )
