"""The facts beside the views: figures from each model.json and the training curves. Every number is
read from a file."""

from __future__ import annotations

from typing import Any

from explorer.components.card import TitleFigure
from explorer.contract import labels
from explorer.contract.labels import fill_text
from explorer.labs.self_similarity import texts
from explorer.page import card_facts

SLUG = "self_similarity"
COLOURS = dict(zip(texts.VARIANTS, ("var(--cat-1)", "var(--cat-2)"), strict=True))


def facts() -> dict[str, dict[str, Any]]:
    """Return the model.json of each shipped variant, by variant."""
    return card_facts.read_models(SLUG, texts.VARIANTS)


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row; nothing before both networks were measured."""
    known = facts()
    measured = card_facts.select_measured(known)
    if len(measured) < len(texts.VARIANTS):
        return ()
    block, without = (measured[variant] for variant in texts.VARIANTS)
    return (
        TitleFigure(labels.CARD["parameters"], f"{known['block']['parameters']:,}"),
        TitleFigure(labels.CARD["data"], texts.PICTURES_DATA, texts.HALVES),
        TitleFigure(
            fill_text(texts.WITH_BLOCK, split=labels.name_split(block["split"])),
            f"{block['value']:.2f} dB",
            fill_text(texts.WITHOUT_BLOCK, value=f"{without['value']:.2f}"),
            texts.UNPUBLISHED,
        ),
        card_facts.describe_training_time(*known.values()),
    )


def curves() -> dict[str, object] | None:
    """Draw the PSNR on held-out rows over training; None where no log is shipped. The first call is
    slow."""
    return card_facts.curves(
        SLUG,
        facts(),
        texts.VARIANTS,
        COLOURS,
        texts,
        scale=-1,
        show=lambda value: f"{value:.2f} dB",
    )
