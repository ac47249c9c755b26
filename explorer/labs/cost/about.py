"""What stands beside the runs: the family's stored measurement, the figures of the title row, the card's prose. Nothing is typed here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from explorer import labels
from explorer.labels import filled
from explorer.labs import about
from explorer.labs.cost import drawn, texts
from explorer.widgets.card import Pair
from models.cost.records import SECONDS
from models.errors import reading

SLUG = "cost"
COLOURS = dict(zip(texts.KINDS, (f"var(--cat-{n})" for n in (2, 6, 1, 4, 3, 5, 7, 8, 9, 10)), strict=True))
SAID = 1024  # positions at which the slowest and the fastest are compared


@cache
def family() -> dict[str, Any]:
    """What every attention takes, as `python -m models ladder cost` wrote it: {device, threads, heads, d_head, kinds: {kind: [{length,
    seconds, bytes}]}}. DamagedFile where it cannot be read."""
    path = about.ASSETS / SLUG / "family.json"
    with reading(path):
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def at(kind: str, length: int, what: str) -> float | None:
    """Seconds or bytes of one kind of attention at some length; None where it was not measured."""
    return next((float(one[what]) for one in family()["kinds"][kind] if one["length"] == length), None)


def chart(what: str) -> dict[str, object]:
    """Every attention of the family against length: what is "seconds" or "bytes"."""
    known = family()
    scale, axis = (1e3, texts.MILLISECONDS) if what == "seconds" else (1e-6, texts.MEGABYTES)
    lines = {
        kind: drawn.Curve(
            name,
            [one["length"] for one in known["kinds"][kind]],
            [one[what] * scale for one in known["kinds"][kind]],
            COLOURS[kind],
            label=True,
        )
        for kind, name in texts.KINDS.items()
    }
    here = {kind: value for kind in texts.KINDS if (value := at(kind, SAID, what)) is not None}
    slow, fast = max(here, key=here.__getitem__), min(here, key=here.__getitem__)
    end = max(max(line.x) for line in lines.values())
    last = {kind: line.y[-1] for kind, line in lines.items() if line.x[-1] == end}
    unit = "ms" if what == "seconds" else "MB"
    ticks = sorted({x for line in lines.values() for x in line.x})[::2]
    height = 320
    sizes = {"heads": known["heads"], "d_head": known["d_head"], "device": labels.device(known["device"]), "threads": known["threads"]}
    says = filled(
        texts.FAMILY_SAYS[what],
        length=f"{SAID:,}",
        slow=texts.KINDS[slow],
        most=f"{here[slow] * scale:,.0f} {unit}",
        fast=texts.KINDS[fast],
        least=f"{here[fast] * scale:,.1f} {unit}",
        times=f"{here[slow] / here[fast]:,.0f}",
        end=f"{end:,}",
        winner=texts.KINDS[min(last, key=last.__getitem__)],
    )
    return drawn.value(
        f"family-{what}",
        height,
        lambda language: drawn.curves(list(lines.values()), language, axes=(texts.POSITIONS, axis), ticks=ticks, room=118, height=height),
        (texts.FAMILY[what], filled(texts.FAMILY_UNITS, **sizes), says),
        (texts.KIND, texts.LENGTH_COLUMN, texts.TIME_COLUMN if what == "seconds" else texts.MB_COLUMN),
        [(texts.KINDS[kind], int(x), round(y, 3)) for kind, line in lines.items() for x, y in zip(line.x, line.y, strict=True)],
    )


def pairs() -> tuple[Pair, ...]:
    """The four figures of the title row: how the clock measures."""
    from explorer.labs.cost.views import first

    kept = first()
    threads = "1" if kept is None or kept.seen.clock is None else str(kept.seen.clock.threads)
    return (
        Pair(texts.THREADS, threads),
        Pair(texts.PRECISION, "float32"),
        Pair(texts.REPEATS, filled(texts.FASTEST, n=5)),
        Pair(texts.AT_MOST, filled(texts.SECONDS, n=f"{SECONDS:g}")),
    )


def prose() -> dict[str, str]:
    """What the lab is, in each language."""
    known: Mapping[str, Any] = family()
    return about.prose(SLUG, {"family": {name: value for name, value in known.items() if name != "kinds"}})
