"""The panel about what hashing misses: one head of the run in view, its full attention beside what the rounds see, and by rounds."""

from __future__ import annotations

from typing import Any

from explorer.figures.curves import Curve, Place
from explorer.figures.missed import boards
from explorer.labels import filled
from explorer.labs.lined import lined
from explorer.labs.reformer import about, texts, views
from explorer.labs.reformer.deeper import asking
from explorer.widgets.folded import Value
from models.reformer.records import Explanation, Missed
from models.reformer.records import Place as Head

MISSES = "models.reformer.asked:misses"


def value(seen: Explanation, found: Missed, place: Head) -> Value:
    """What the panel draws of a head."""
    read = asking.read_of(seen, place)
    ran, size = (read.buckets.shape[2], read.kinds), (read.queries.shape[0], read.queries.shape[1])
    told: dict[str, Any] = {**vars(found), "ran": ran, "trained": about.rounds(place.variant), "tokens": views.spelled_tokens(seen)}
    drawn = boards(texts.NAMES[place.variant], (place.layer, place.head), size, chunk=read.chunk, seed=seen.seed, **told)
    return {**drawn, "below": {"figures": [{"figure": by_rounds(found, ran)}]}}


def by_rounds(found: Missed, ran: tuple[int, int]) -> Value:
    """Missed weight by rounds of hashing, a line for each number of buckets. ran: rounds and buckets of the run."""
    rounds = range(1, len(found.table) + 1)
    lines = [
        Curve(filled(texts.N_BUCKETS, n=kind), rounds, column.tolist(), f"var(--cat-{n})")
        for n, (kind, column) in enumerate(zip(found.kinds, found.table.T, strict=True), 1)
    ]
    buckets = ran[1] if ran[1] in found.kinds else found.chosen
    first, last = (f"{part:.1f}" for part in found.table[[0, -1], found.kinds.index(buckets)])
    says = filled(texts.BY_ROUNDS_SAYS, n=buckets, first=first, most=rounds[-1], last=last)
    words, mark = (texts.BY_ROUNDS, texts.BY_ROUNDS_UNITS, says), Place(ran[0], yours=True) if ran[0] else None
    axes, ticks = texts.BY_ROUNDS_AXES, rounds[:: 1 + len(rounds) // 10]
    return lined("missed-by-rounds", lines, axes, words, (texts.ROUNDS_COLUMN,), ticks=ticks, up="zero", mark=mark, height=240)


PANEL = asking.panel("missed", texts.MISSED, value, MISSES)
