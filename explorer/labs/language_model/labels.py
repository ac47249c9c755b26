"""What is drawn of a fine-tuning on labelled sentences while it learns."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.controls import Value
from explorer.figures.curves import Curve, curves
from explorer.labels import Text, filled, joined
from explorer.labs.labelled import BEGINNINGS, COLOURS, COUNTING, RIGHT
from explorer.labs.language_model import texts
from explorer.widgets.figure import Mark, shown
from models.language_model.records import Learned, Point, Request

OURS, BESIDE, COUNTS = COLOURS


def growing(steps: Sequence[Point], request: Request) -> Value:
    """The looks so far."""
    return _drawn(steps, request, filled(texts.LEARNING, seen=f"{steps[-1].seen if steps else 0:,}"))


def drawn(seen: Learned, request: Request, _state: str) -> Value:
    """The share of held-out sentences that are judged rightly against how many were read, and what counting words gives."""
    return _drawn(seen.points, request, said(seen, request), seen.counts)


def said(seen: Learned, request: Request) -> Text:
    """What a fine-tuning has come to."""
    if not seen.points:
        return texts.HALTED
    last = seen.points[-1]
    begins = BEGINNINGS[request.way]
    told = {"begins": {"en": begins["en"].capitalize(), "zh": begins["zh"]}, "labels": f"{request.labels:,}", "n": f"{seen.held_out:,}"}
    fit = filled(texts.BY_HEART, fit=f"{last.fit:.2f}") if last.fit is not None else None
    counts = filled(texts.COUNTED, counts=f"{seen.counts:.2f}")
    judged = filled(texts.LEARNED, **told, seen=f"{last.seen:,}", right=f"{last.accuracy:.2f}")
    return joined(texts.HALTED if seen.stopped else None, judged, fit, counts) or judged


def _drawn(points: Sequence[Point], request: Request, sentence: Text, counts: float | None = None) -> Value:
    fits = [point for point in points if point.fit is not None]
    lines = [Curve(texts.HELD_OUT, [one.seen for one in points], [one.accuracy for one in points], OURS)]
    lines += [Curve(texts.FIT, [one.seen for one in fits], [one.fit or 0.0 for one in fits], BESIDE)]
    lines += [Curve(COUNTING, [], [counts], COUNTS, level=True)] if counts is not None else []
    return shown(
        "language-model-labels",
        lambda language: curves(lines, (texts.READ_SO_FAR[language], RIGHT[language]), language, up=(0.4, 1.0), height=300),
        (texts.FINE_TUNED, texts.FINE_TUNED_UNITS, sentence),
        (texts.READ_SO_FAR, texts.HELD_OUT, texts.FIT),
        [(point.seen, round(point.accuracy, 4), None if point.fit is None else round(point.fit, 4)) for point in points],
        [Mark(texts.HELD_OUT, OURS), Mark(texts.FIT, BESIDE), Mark(COUNTING, COUNTS, dashed=True)],
        height=300,
    )
