"""The facts beside the mechanism: figures from each model.json and the training curves. Every
number is read from a file."""

from __future__ import annotations

from typing import Any

from explorer.components.card import TitleFigure
from explorer.contract import labels
from explorer.contract.labels import fill_text
from explorer.labs.graph_attention import texts
from explorer.page import card_facts

SLUG = "graph_attention"
VARIANTS = (
    "cora",
    "cora_gatv2",
    "dictionary",
    "dictionary_gat",
    "dictionary_dot",
    "distance",
    "distance_blind",
)
COLOURS = {name: f"var(--cat-{at + 1})" for at, name in enumerate(texts.VARIANTS)}


def facts() -> dict[str, dict[str, Any]]:
    """Return the model.json of each shipped variant, by variant; variants that are not shipped are
    missing."""
    return card_facts.read_models(SLUG, VARIANTS)


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: those of the network on Cora, with uniform α beside
    its result, and the training time of all."""
    known = facts()
    if "cora" not in known:
        return ()
    model = known["cora"]
    return (
        TitleFigure(labels.CARD["parameters"], f"{model['parameters']:,}", "Cora, GAT"),
        TitleFigure(labels.CARD["data"], "Cora", texts.DATA),
        *_describe_figure(model),
        card_facts.describe_training_time(*known.values()),
    )


def _describe_figure(model: dict[str, Any]) -> tuple[TitleFigure, ...]:
    """Return the share of right answers, the published one beside it; nothing before it was
    measured."""
    figure, published = model.get("figure"), model["published"]
    if not figure:
        return ()
    said = fill_text(texts.WITHOUT, value=f"{figure['uniform']:.3f}", published=published["value"])
    named = fill_text(texts.RIGHT_ON, split=labels.name_split(figure["split"]))
    return (TitleFigure(named, f"{figure['value']:.3f}", said, published["why"]),)


def curves() -> dict[str, object] | None:
    """Draw the loss on held-out inputs over training; None where no log is shipped. The first call
    is slow."""
    drawn_models = {name: model for name, model in facts().items() if name in texts.VARIANTS}
    return card_facts.curves(
        SLUG,
        drawn_models,
        texts.VARIANTS,
        COLOURS,
        texts,
        per_step=lambda known: 100 / known["steps"],
    )
