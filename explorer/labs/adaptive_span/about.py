"""What stands beside the lab's mechanism: figures from each model.json, what a short span costs, the training curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer import labels
from explorer.figures import ladder as drawing
from explorer.labels import Text, filled, joined, raised, strung
from explorer.labs import about
from explorer.labs.adaptive_span import texts
from explorer.widgets.card import Pair
from explorer.widgets.figure import shown
from models.adaptive_span.records import VARIANTS

SLUG = "adaptive_span"
COLOURS = {"adaptive": "var(--cat-1)", "fixed": "var(--cat-2)", "dynamic": "var(--cat-3)"}

Facts = Mapping[str, Any]


def facts() -> dict[str, dict[str, Any]]:
    """What each shipped variant's model.json says, by variant; those that are not shipped are missing."""
    return about.models(SLUG, VARIANTS)


def size() -> tuple[int, int, int, int]:
    """Layers, heads, S and R of the networks; ones where none is shipped."""
    for one in facts().values():
        config = one["config"]
        return int(config["n_layers"]), int(config["n_heads"]), int(config["span"]), int(config["ramp"])
    return 1, 1, 1, 1


def unusual() -> float | None:
    """Bits per character that 99 of 100 pages of the held-out book stay below; None before that was measured."""
    limit = about.facts(SLUG, VARIANTS[0]).get("figure", {}).get("page_p99")
    return None if limit is None else float(limit)


def measured() -> dict[str, Facts]:
    """The held-out figure of each variant that was measured, best first."""
    known = {variant: one["figure"] for variant, one in facts().items() if one.get("figure")}
    return dict(sorted(known.items(), key=lambda pair: float(pair[1]["value"])))


# ---- the card ----------------------------------------------------------------------------------------------------------------------


def pairs() -> tuple[Pair, ...]:
    """The four figures of the title row: size, data, the held-out figure beside the others' and the published one, training time."""
    known, data = facts(), Pair(labels.CARD["data"], texts.DATA, texts.BOOKS)
    return about.pairs(known, data, about.beside(known, texts.METRIC, texts.RUNG_VALUE, texts.BRIEF))


# ---- what a short span costs -------------------------------------------------------------------------------------------------------


def standing() -> dict[str, object] | None:
    """Bits per character of each model beside its mean span; None before two were measured."""
    known = measured()
    if len(known) < 2:
        return None
    rungs = [
        drawing.Rung(
            filled(texts.RUNG, name=texts.BRIEF[variant], span=f"{one['mean_span']:,.0f}"),
            float(one["value"]),
            "ours" if variant == "adaptive" else "baseline",
        )
        for variant, one in known.items()
    ]
    words = (texts.STANDING, texts.STANDING_UNITS, standing_sentence(known))
    rows = [(texts.NAMES[variant], one["value"], one["mean_span"], round(100 * one["share"], 2)) for variant, one in known.items()]
    columns = (texts.MODEL, texts.BITS, texts.SPAN, texts.SHARE)
    return shown("short-spans", drawing.ladder(rungs, digits=3, tick=0.5), words, columns, rows, height=24 * len(known) + 36)


def standing_sentence(known: Mapping[str, Facts]) -> Text:
    """What each model costs and how far it looks, what learned spans cost against the full one, and what is in print."""
    each = [
        filled(
            texts.STANDS,
            name=texts.BRIEF[variant],
            value=f"{one['value']:.3f}",
            span=f"{one['mean_span']:,.0f}",
            share=f"{100 * one['share']:.0f} %",
        )
        for variant, one in known.items()
    ]
    said = [labels.sentence([strung(each, "; ", "；")])]
    if {"adaptive", "fixed"} <= known.keys():
        gap = float(known["adaptive"]["value"]) - float(known["fixed"]["value"])
        said.append(filled(texts.BEHIND if gap > 0 else texts.AHEAD, gap=f"{abs(gap):.3f}"))
    return raised(joined(*said, about.order_of(SLUG, known), texts.IN_PRINT) or texts.IN_PRINT)


# ---- training ----------------------------------------------------------------------------------------------------------------------


def curves() -> dict[str, object] | None:
    """Held-out loss of all models over training, or None where no log is shipped. Slow at first."""
    seen: Any = {"per_step": lambda known: known["recipe"]["batch"] * known["recipe"]["window"] / 1e6}
    return about.curves(SLUG, facts(), texts.NAMES, COLOURS, texts, **seen)
