"""What is drawn of a fine-tuning on labelled sentences while it learns, and of all trainings that were made of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import mean, stdev

from explorer.controls import Value
from explorer.figures.curves import Curve, curves
from explorer.labels import CARD, Text, filled, joined
from explorer.labs import about
from explorer.labs.language_model import texts
from explorer.widgets.figure import Mark, shown
from models.errors import reading
from models.language_model.records import CURVE, SHIPPED, WAYS, Learned, Point, Request

OURS, BESIDE, COUNTS = "var(--cat-1)", "var(--cat-2)", "var(--cat-3)"


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
    begins = texts.BEGINNINGS[request.way]
    told = {"begins": {"en": begins["en"].capitalize(), "zh": begins["zh"]}, "labels": f"{request.labels:,}", "n": f"{seen.held_out:,}"}
    fit = filled(texts.BY_HEART, fit=f"{last.fit:.2f}") if last.fit is not None else None
    counts = filled(texts.COUNTED, counts=f"{seen.counts:.2f}")
    judged = filled(texts.LEARNED, **told, seen=f"{last.seen:,}", right=f"{last.accuracy:.2f}")
    return joined(texts.HALTED if seen.stopped else None, judged, fit, counts) or judged


def _drawn(points: Sequence[Point], request: Request, sentence: Text, counts: float | None = None) -> Value:
    fits = [point for point in points if point.fit is not None]
    lines = [Curve(texts.HELD_OUT, [one.seen for one in points], [one.accuracy for one in points], OURS)]
    lines += [Curve(texts.FIT, [one.seen for one in fits], [one.fit or 0.0 for one in fits], BESIDE)]
    lines += [Curve(texts.COUNTING, [], [counts], COUNTS, level=True)] if counts is not None else []
    return shown(
        "language-model-labels",
        lambda language: curves(lines, (texts.READ_SO_FAR[language], texts.RIGHT[language]), language, up=(0.4, 1.0), height=300),
        (texts.FINE_TUNED, texts.FINE_TUNED_UNITS, sentence),
        (texts.READ_SO_FAR, texts.HELD_OUT, texts.FIT),
        [(point.seen, round(point.accuracy, 4), None if point.fit is None else round(point.fit, 4)) for point in points],
        [Mark(texts.HELD_OUT, OURS), Mark(texts.FIT, BESIDE), Mark(texts.COUNTING, COUNTS, dashed=True)],
        height=300,
    )


def labelled() -> Value | None:
    """Accuracy against how many labels were learned from: pre-trained, from scratch, counting words; None before anything was trained."""
    with reading(SHIPPED / CURVE):
        known = json.loads((SHIPPED / CURVE).read_text("utf-8")) if (SHIPPED / CURVE).is_file() else {"runs": []}
    found: dict[tuple[str, int], list[float]] = {}
    for run in known["runs"]:
        found.setdefault((run["way"], run["labels"]), []).append(run["test"])
    if not found:
        return None
    counts, names = sorted({n for _, n in found}), dict(zip(WAYS, texts.JUDGES, strict=True))
    told = []
    for n in counts:
        each = [filled(about.NAMED, name=names[way], value=f"{mean(found[way, n]):.2f}") for way in WAYS if (way, n) in found]
        listed = {"en": ", ".join(one["en"] for one in each), "zh": "，".join(one["zh"] for one in each)}
        told.append(filled(texts.LABEL_CURVE_SAYS, labels=f"{n:,}", each=listed))
    lines = []
    for way, colour in zip(WAYS, (OURS, BESIDE, COUNTS), strict=True):
        at = [n for n in counts if (way, n) in found]
        lines.append(Curve(names[way], at, [mean(found[way, n]) for n in at], colour))
    units = filled(texts.LABEL_CURVE_UNITS, n=f"{known['n']:,}", subsets=max(map(len, found.values())))
    return shown(
        "language-model-labelled",
        lambda language: curves(lines, (texts.LABELS[language], texts.RIGHT[language]), language, ticks=counts, across="log", height=300),
        (texts.LABEL_CURVE, units, joined(*told) or units),
        (texts.LABELS, CARD["model"], texts.RIGHT, texts.SPREAD, texts.SUBSETS),
        [
            (n, names[way], round(mean(values), 4), round(stdev(values), 4) if len(values) > 1 else None, len(values))
            for (way, n), values in sorted(found.items(), key=lambda one: (one[0][1], WAYS.index(one[0][0])))
        ],
        [Mark(names[way], colour) for way, colour in zip(WAYS, (OURS, BESIDE, COUNTS), strict=True)],
        height=300,
    )
