"""What stands on the lab's card: figures from model.json, the prose of card.md, and the training curve. Nothing is typed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer import labels
from explorer.figures.curves import Curve
from explorer.labels import filled
from explorer.labs import about
from explorer.labs.lined import lined
from explorer.labs.translated import metric
from explorer.labs.translation import texts
from explorer.widgets.card import Pair
from models.translation.records import KINDS

SLUG = "translation"


def pairs() -> tuple[Pair, ...]:
    """The four figures of the title row, read from model.json."""
    known = about.facts(SLUG)
    if not known:
        return ()
    return (
        Pair(labels.CARD["parameters"], f"{known['parameters'] / 1e6:.1f} M"),
        Pair(labels.CARD["data"], "Multi30k", "en→de"),
        *_measured(known),
        about.trained(known),
    )


def _measured(known: Mapping[str, Any]) -> tuple[Pair, ...]:
    """The held-out figure beside the published one; nothing before it was measured."""
    measured, published = known.get("figure"), known.get("published")
    if not measured or not published:
        return ()
    return (
        Pair(
            metric(measured),
            f"{measured['value']:.1f}",
            *about.published(measured, published),
        ),
    )


def prose() -> dict[str, str]:
    """The model card in each language; empty where none is shipped."""
    return about.prose(SLUG, about.facts(SLUG))


def heads() -> dict[str, tuple[int, int]]:
    """(layers, heads) of each attention; empty where no model is shipped."""
    config = about.facts(SLUG).get("config")
    return dict.fromkeys(KINDS, (config["n_layers"], config["n_heads"])) if config else {}


def curves() -> dict[str, object] | None:
    """The training curve as the figure widget draws it, or None where no log is shipped. Slow at first: it imports Plotly."""
    log = about.log(SLUG)
    if not log:
        return None
    best = min(log, key=lambda line: line["validation"])
    axes = {"en": ("epoch", "loss, nats per piece"), "zh": ("轮次", "损失，每词片纳特")}
    epochs, span = [line["epoch"] for line in log], (0.0, 1.05 * max(max(line["loss"], line["validation"]) for line in log))
    lines = [
        Curve(name, epochs, [line[key] for line in log], f"var(--cat-{n})", dots=len(log) < 3)
        for n, (key, name) in enumerate((("loss", texts.LEARNED), ("validation", texts.HELD_OUT)), 1)
    ]
    says = filled(
        texts.CURVE_SAYS,
        epochs=len(log),
        loss=f"{best['validation']:.2f}",
        best=int(best["epoch"]),
        first=f"{log[0]['validation']:.2f}",
    )
    words, columns = (labels.CARD["curve"], texts.CURVE_UNITS, says), (texts.EPOCH, texts.LEARNED, texts.HELD_OUT)
    rows = [(int(line["epoch"]), round(line["loss"], 3), round(line["validation"], 3)) for line in log]
    return lined("translation-training", lines, axes, words, columns, rows, up=span)
