"""The facts beside the runs: the family's stored measurement, the figures of the title row, the
card's prose. Every number is read from a stored result."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from explorer.components.card import TitleFigure
from explorer.contract import labels
from explorer.contract.labels import fill_text
from explorer.figures.curves import Curve
from explorer.labs.cost import texts
from explorer.page import card_facts
from explorer.page.curves import draw_curve_figure
from models.cost.records import SECONDS
from models.explaining.errors import reading_file

SLUG = "cost"
RESULT = card_facts.RESULTS / "family.json"
COLOURS = dict(
    zip(texts.KINDS, (f"var(--cat-{n})" for n in (2, 6, 1, 4, 3, 5, 7, 8, 9, 10)), strict=True)
)
SAID = 1024  # positions at which the slowest and the fastest are compared in words


@cache
def read_family() -> dict[str, Any]:
    """Load the cost of every attention, as `python -m benchmarks family --save` wrote it: {device,
    threads, kinds: {kind: {length: {"ms", "mb"}}}}. Raise DamagedFile where it cannot be read."""
    with reading_file(RESULT):
        kept: dict[str, Any] = json.loads(RESULT.read_text("utf-8"))
        kinds: dict[str, dict[int, dict[str, float]]] = {}
        for name, value in kept["figures"].items():
            kind, length, unit = name.rsplit("_", 2)
            kinds.setdefault(kind, {}).setdefault(int(length), {})[unit] = value
    return {"device": kept["device"], "threads": kept["threads"], "kinds": kinds}


def draw_chart(what: str) -> dict[str, object]:
    """Draw every attention of the family against length. what: "seconds" or "bytes"."""
    known = read_family()
    key, axis = ("ms", texts.MILLISECONDS) if what == "seconds" else ("mb", texts.MEGABYTES)
    unit = {"ms": "ms", "mb": "MB"}[key]
    lines = {
        kind: Curve(
            name,
            list(known["kinds"][kind]),
            [one[key] for one in known["kinds"][kind].values()],
            COLOURS[kind],
            end=name,
        )
        for kind, name in texts.KINDS.items()
    }
    here = {
        kind: known["kinds"][kind][SAID][key]
        for kind in texts.KINDS
        if SAID in known["kinds"][kind]
    }
    slow, fast = max(here, key=here.__getitem__), min(here, key=here.__getitem__)
    end = max(max(line.x) for line in lines.values())
    last = {kind: line.y[-1] for kind, line in lines.items() if line.x[-1] == end}
    ticks = sorted({x for line in lines.values() for x in line.x})[::2]
    says = fill_text(
        texts.FAMILY_SAYS[what],
        length=f"{SAID:,}",
        slow=texts.KINDS[slow],
        most=f"{here[slow]:,.0f} {unit}",
        fast=texts.KINDS[fast],
        least=f"{here[fast]:,.1f} {unit}",
        times=f"{here[slow] / here[fast]:,.0f}",
        end=f"{end:,}",
        winner=texts.KINDS[min(last, key=last.__getitem__)],
    )
    return draw_curve_figure(
        f"family-{what}",
        list(lines.values()),
        (texts.POSITIONS, axis),
        (
            texts.FAMILY[what],
            fill_text(texts.FAMILY_UNITS, machine=labels.name_machine(known)),
            says,
        ),
        (
            texts.KIND,
            texts.LENGTH_COLUMN,
            texts.TIME_COLUMN if what == "seconds" else texts.MB_COLUMN,
        ),
        [
            (texts.KINDS[kind], int(x), round(y, 3))
            for kind, line in lines.items()
            for x, y in zip(line.x, line.y, strict=True)
        ],
        legend=(),
        ticks=ticks,
        across="log",
        up="log",
        room=118,
        height=320,
    )


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: how the clock measures."""
    from explorer.labs.cost.views import first

    kept = first()
    threads = "1" if kept is None or kept.seen.clock is None else str(kept.seen.clock.threads)
    return (
        TitleFigure(texts.THREADS, threads),
        TitleFigure(texts.PRECISION, "float32"),
        TitleFigure(texts.REPEATS, fill_text(texts.FASTEST, n=5)),
        TitleFigure(texts.AT_MOST, fill_text(texts.SECONDS, n=f"{SECONDS:g}")),
    )


def prose() -> dict[str, str]:
    """Return the description of the lab in each language."""
    return card_facts.prose(
        SLUG, {"family": {name: value for name, value in read_family().items() if name != "kinds"}}
    )
