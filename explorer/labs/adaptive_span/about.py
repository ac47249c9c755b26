"""The facts beside the lab's mechanism: figures from each model.json, the cost of a short span, the
training curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.components.card import TitleFigure
from explorer.components.figure import describe_drawn_figure
from explorer.contract import labels
from explorer.contract.labels import Text, capitalise, fill_text, join_parts, join_sentences
from explorer.figures import ladder as drawing
from explorer.labs.adaptive_span import texts
from explorer.page import card_facts
from models.adaptive_span.records import VARIANTS

SLUG = "adaptive_span"
COLOURS = {"adaptive": "var(--cat-1)", "fixed": "var(--cat-2)", "dynamic": "var(--cat-3)"}

Facts = Mapping[str, Any]


def facts() -> dict[str, dict[str, Any]]:
    """Return the model.json of each shipped variant, by variant; variants that are not shipped are
    missing."""
    return card_facts.read_models(SLUG, VARIANTS)


def read_size() -> tuple[int, int, int, int]:
    """Return the layers, heads, S and R of the networks; ones where none is shipped."""
    for one in facts().values():
        config = one["config"]
        return (
            int(config["n_layers"]),
            int(config["n_heads"]),
            int(config["span"]),
            int(config["ramp"]),
        )
    return 1, 1, 1, 1


def find_unusual_bound() -> float | None:
    """Return the bits per character that 99 of 100 pages of the held-out book stay below; None
    before that was measured."""
    limit = card_facts.facts(SLUG, VARIANTS[0]).get("figure", {}).get("page_p99")
    return None if limit is None else float(limit)


def list_measured() -> dict[str, Facts]:
    """Return the held-out figure of each measured variant, best first."""
    known = {variant: one["figure"] for variant, one in facts().items() if one.get("figure")}
    return dict(sorted(known.items(), key=lambda pair: float(pair[1]["value"])))


# ---- the card


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: size, data, the held-out figure beside those of the
    other models and the published one, training time."""
    known, data = facts(), TitleFigure(labels.CARD["data"], texts.DATA, texts.BOOKS)
    return card_facts.pairs(
        known,
        data,
        card_facts.compare_with_published(known, texts.METRIC, texts.RUNG_VALUE, texts.BRIEF),
    )


# ---- the cost of a short span


def draw_standing() -> dict[str, object] | None:
    """Draw the bits per character of each model beside its mean span; None before two were
    measured."""
    known = list_measured()
    if len(known) < 2:
        return None
    rungs = [
        drawing.Rung(
            fill_text(texts.RUNG, name=texts.BRIEF[variant], span=f"{one['mean_span']:,.0f}"),
            float(one["value"]),
            "ours" if variant == "adaptive" else "baseline",
        )
        for variant, one in known.items()
    ]
    words = (texts.STANDING, texts.STANDING_UNITS, describe_standing(known))
    rows = [
        (texts.NAMES[variant], one["value"], one["mean_span"], round(100 * one["share"], 2))
        for variant, one in known.items()
    ]
    columns = (texts.MODEL, texts.BITS, texts.SPAN, texts.SHARE)
    return describe_drawn_figure(
        "short-spans",
        drawing.draw_ladder(rungs, digits=3, tick=0.5),
        words,
        columns,
        rows,
        height=24 * len(known) + 36,
    )


def describe_standing(known: Mapping[str, Facts]) -> Text:
    """Describe what each model costs and how far it looks, what learned spans cost against the full
    one, and the published result."""
    each = [
        fill_text(
            texts.STANDS,
            name=texts.BRIEF[variant],
            value=f"{one['value']:.3f}",
            span=f"{one['mean_span']:,.0f}",
            share=f"{100 * one['share']:.0f} %",
        )
        for variant, one in known.items()
    ]
    said = [labels.build_sentence([join_parts(each, "; ", "；")])]
    if {"adaptive", "fixed"} <= known.keys():
        gap = float(known["adaptive"]["value"]) - float(known["fixed"]["value"])
        said.append(fill_text(texts.BEHIND if gap > 0 else texts.AHEAD, gap=f"{abs(gap):.3f}"))
    return capitalise(
        join_sentences(*said, card_facts.explain_order_of(SLUG, known), texts.IN_PRINT)
        or texts.IN_PRINT
    )


# ---- training


def curves() -> dict[str, object] | None:
    """Draw the held-out loss of all models over training, or None where no log is shipped. The
    first call is slow."""
    seen: Any = {
        "per_step": lambda known: known["recipe"]["batch"] * known["recipe"]["window"] / 1e6
    }
    return card_facts.curves(SLUG, facts(), texts.NAMES, COLOURS, texts, **seen)
