"""The facts of the lab's card: figures from model.json, the prose of card.md, and the training
curve. Every number is read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.components.card import TitleFigure
from explorer.contract import labels
from explorer.contract.labels import fill_text
from explorer.figures.curves import Curve
from explorer.labs.translation import texts
from explorer.page import card_facts
from explorer.page.curves import draw_curve_figure
from explorer.panels.translation import name_metric
from models.translation.records import KINDS

SLUG = "translation"


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row, read from model.json."""
    known = card_facts.facts(SLUG)
    if not known:
        return ()
    return (
        TitleFigure(labels.CARD["parameters"], f"{known['parameters'] / 1e6:.1f} M"),
        TitleFigure(labels.CARD["data"], "Multi30k", "en→de"),
        *_describe_figure(known),
        card_facts.describe_training_time(known),
    )


def _describe_figure(known: Mapping[str, Any]) -> tuple[TitleFigure, ...]:
    """Return the held-out figure beside the published one; nothing before it was measured."""
    measured, published = known.get("figure"), known.get("published")
    if not measured or not published:
        return ()
    return (
        TitleFigure(
            name_metric(measured),
            f"{measured['value']:.1f}",
            *card_facts.describe_published(measured, published),
        ),
    )


def prose() -> dict[str, str]:
    """Return the model card in each language; empty where none is shipped."""
    return card_facts.prose(SLUG, card_facts.facts(SLUG))


def list_head_sizes() -> dict[str, tuple[int, int]]:
    """Return (layers, heads) of each attention; empty where no model is shipped."""
    config = card_facts.facts(SLUG).get("config")
    return dict.fromkeys(KINDS, (config["n_layers"], config["n_heads"])) if config else {}


def curves() -> dict[str, object] | None:
    """Draw the training curve for the figure widget, or None where no log is shipped. The first
    call is slow: it imports Plotly."""
    log = card_facts.read_training_log(SLUG)
    if not log:
        return None
    best = min(log, key=lambda line: line["validation"])
    axes = {"en": ("epoch", "loss, nats per piece"), "zh": ("轮次", "损失，每词片纳特")}
    epochs, span = (
        [line["epoch"] for line in log],
        (0.0, 1.05 * max(max(line["loss"], line["validation"]) for line in log)),
    )
    lines = [
        Curve(name, epochs, [line[key] for line in log], f"var(--cat-{n})", dots=len(log) < 3)
        for n, (key, name) in enumerate(
            (("loss", texts.LEARNED), ("validation", texts.HELD_OUT)), 1
        )
    ]
    says = fill_text(
        texts.CURVE_SAYS,
        epochs=len(log),
        loss=f"{best['validation']:.2f}",
        best=int(best["epoch"]),
        first=f"{log[0]['validation']:.2f}",
    )
    words, columns = (
        (labels.CARD["curve"], texts.CURVE_UNITS, says),
        (texts.EPOCH, texts.LEARNED, texts.HELD_OUT),
    )
    rows = [
        (int(line["epoch"]), round(line["loss"], 3), round(line["validation"], 3)) for line in log
    ]
    return draw_curve_figure("translation-training", lines, axes, words, columns, rows, up=span)
