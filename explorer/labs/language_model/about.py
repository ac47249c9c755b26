"""The facts beside the lab's mechanism: figures from each model.json, the training curves. Every
number is read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.components.card import TitleFigure
from explorer.components.figure import describe_drawn_figure
from explorer.contract import labels
from explorer.contract.labels import build_sentence, fill_text, join_parts, join_sentences
from explorer.figures import ladder as drawing
from explorer.labs.language_model import texts
from explorer.page import card_facts
from models.language_model.records import VARIANTS

SLUG = "language_model"
COLOURS = {variant: f"var(--cat-{n})" for n, variant in enumerate(VARIANTS, 1)}


def facts() -> dict[str, dict[str, Any]]:
    """Return the model.json of each shipped variant, by variant; variants that are not shipped are
    missing."""
    return card_facts.read_models(SLUG, VARIANTS)


def read_size(variant: str) -> tuple[int, int]:
    """Return the layers and heads of a network; ones where it is not shipped."""
    config = facts().get(variant, {}).get("config", {})
    return int(config.get("n_layers", 1)), int(config.get("n_heads", 1))


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: size, data, the held-out figure beside those of the
    other models and the published one, training time."""
    known = facts()
    return card_facts.pairs(
        known, TitleFigure(labels.CARD["data"], texts.DATA, texts.BOOKS), _describe_figure(known)
    )


def _describe_figure(known: Mapping[str, Mapping[str, Any]]) -> tuple[TitleFigure, ...]:
    found = {variant: one["figure"] for variant, one in known.items() if one.get("figure")}
    if not found:
        return ()
    ours = next(iter(found))
    note, why = card_facts.describe_published(
        found[ours], {"metric": found[ours]["metric"], **known[ours]["published"]}
    )
    return (
        TitleFigure(
            fill_text(texts.METRIC, split=labels.name_split(found[ours]["split"])),
            f"{found[ours]['value']:.2f}",
            note,
            why,
        ),
    )


def draw_standing() -> dict[str, object] | None:
    """Draw the bits per character of each model of the books, by its training data; None before two
    were measured.

    No model pays for the places of line breaks, which the text behind the pieces does not hold.
    """
    known = {
        variant: one["figure"]
        for variant, one in facts().items()
        if one.get("figure") and variant in texts.LESSONS
    }
    if len(known) < 2:
        return None
    alike = {
        variant: float(one.get("breaks_as_spaces", one)["value"]) for variant, one in known.items()
    }
    rungs = [
        drawing.Rung(texts.LESSONS[variant], value, "ours" if variant == "plain" else "baseline")
        for variant, value in alike.items()
    ]
    each = [
        fill_text(card_facts.NAMED, name=texts.LESSONS[variant], value=f"{value:.2f}")
        for variant, value in alike.items()
    ]
    said = build_sentence([join_parts(each, "; ", "；")])
    last = known.get("last_only", {}).get("last_position")
    remark = fill_text(texts.AT_THE_LAST, value=f"{last:.2f}") if last else None
    told = (
        join_sentences(
            said,
            remark,
            texts.OF_PIECES if "words" in known else None,
            card_facts.explain_order_of(SLUG, known),
        )
        or said
    )
    rows = [(texts.LESSONS[variant], value) for variant, value in alike.items()]
    words, columns = (texts.STANDING, texts.CURVE_UNITS, told), (labels.CARD["model"], texts.BITS)
    return describe_drawn_figure(
        "language-model-lessons",
        drawing.draw_ladder(rungs, tick=1),
        words,
        columns,
        rows,
        height=26 * len(known) + 36,
    )


def curves() -> dict[str, object] | None:
    """Draw the bits per character of the held-out book over training, from the shipped logs; None
    where there is none."""
    seen: Any = {
        "per_step": lambda known: known["recipe"]["batch"] * known["config"]["window"] / 1e6
    }
    return card_facts.curves(SLUG, facts(), texts.NAMES, COLOURS, texts, **seen)
