"""The panel about the attention that hashing misses: one head of the run in view, its full
attention beside what the rounds see, and by rounds."""

from __future__ import annotations

from typing import Any

from explorer.components.folded import Value
from explorer.contract.labels import fill_text
from explorer.figures.curves import Curve, Place
from explorer.labs.reformer import about, texts, views
from explorer.labs.reformer.figures.missed import draw_boards
from explorer.labs.reformer.panels import asking
from explorer.page.curves import draw_curve_figure
from models.reformer.records import Explanation, Missed
from models.reformer.records import Place as Head

MISSES = "models.reformer.asked:misses"


def draw_panel(explanation: Explanation, found: Missed, place: Head) -> Value:
    """Draw the panel of a head."""
    read = asking.find_reading(explanation, place)
    ran, size = (read.buckets.shape[2], read.kinds), (read.queries.shape[0], read.queries.shape[1])
    told: dict[str, Any] = {
        **vars(found),
        "ran": ran,
        "trained": about.find_rounds(place.variant),
        "tokens": views.list_tokens(explanation),
    }
    drawn = draw_boards(
        texts.NAMES[place.variant],
        (place.layer, place.head),
        size,
        chunk=read.chunk,
        seed=explanation.seed,
        **told,
    )
    return {**drawn, "below": {"figures": [{"figure": draw_by_rounds(found, ran)}]}}


def draw_by_rounds(found: Missed, ran: tuple[int, int]) -> Value:
    """Draw the missed weight by rounds of hashing, a line for each number of buckets. ran: rounds
    and buckets of the run."""
    rounds = range(1, len(found.table) + 1)
    lines = [
        Curve(fill_text(texts.N_BUCKETS, n=kind), rounds, column.tolist(), f"var(--cat-{n})")
        for n, (kind, column) in enumerate(zip(found.kinds, found.table.T, strict=True), 1)
    ]
    buckets = ran[1] if ran[1] in found.kinds else found.chosen
    first, last = (f"{part:.1f}" for part in found.table[[0, -1], found.kinds.index(buckets)])
    says = fill_text(texts.BY_ROUNDS_SAYS, n=buckets, first=first, most=rounds[-1], last=last)
    words, mark = (
        (texts.BY_ROUNDS, texts.BY_ROUNDS_UNITS, says),
        Place(ran[0], yours=True) if ran[0] else None,
    )
    axes, ticks = texts.BY_ROUNDS_AXES, rounds[:: 1 + len(rounds) // 10]
    return draw_curve_figure(
        "missed-by-rounds",
        lines,
        axes,
        words,
        (texts.ROUNDS_COLUMN,),
        ticks=ticks,
        up="zero",
        mark=mark,
        height=240,
    )


PANEL = asking.make_panel("missed", texts.MISSED, draw_panel, MISSES)
