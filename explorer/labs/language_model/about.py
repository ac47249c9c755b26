"""What stands beside the lab's mechanism: figures from each model.json, the training curves. Nothing is typed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer import labels
from explorer.figures import ladder as drawing
from explorer.labels import filled, joined, sentence, strung
from explorer.labs import about
from explorer.labs.language_model import texts
from explorer.widgets.card import Pair
from explorer.widgets.figure import shown
from models.language_model.records import VARIANTS

SLUG = "language_model"
COLOURS = {variant: f"var(--cat-{n})" for n, variant in enumerate(VARIANTS, 1)}


def facts() -> dict[str, dict[str, Any]]:
    """What each shipped variant's model.json says, by variant; those that are not shipped are missing."""
    return about.models(SLUG, VARIANTS)


def size(variant: str) -> tuple[int, int]:
    """Layers and heads of a network; ones where it is not shipped."""
    config = facts().get(variant, {}).get("config", {})
    return int(config.get("n_layers", 1)), int(config.get("n_heads", 1))


def pairs() -> tuple[Pair, ...]:
    """The four figures of the title row: size, data, the held-out figure beside the others' and the published one, training time."""
    known = facts()
    return about.pairs(known, Pair(labels.CARD["data"], texts.DATA, texts.BOOKS), _held_out(known))


def _held_out(known: Mapping[str, Mapping[str, Any]]) -> tuple[Pair, ...]:
    found = {variant: one["figure"] for variant, one in known.items() if one.get("figure")}
    if not found:
        return ()
    ours = next(iter(found))
    note, why = about.published(found[ours], {"metric": found[ours]["metric"], **known[ours]["published"]})
    return (Pair(filled(texts.METRIC, split=labels.split(found[ours]["split"])), f"{found[ours]['value']:.2f}", note, why),)


def standing() -> dict[str, object] | None:
    """Bits per character of each model of the books, by what it has learned from; None before two were measured."""
    known = {variant: one["figure"] for variant, one in facts().items() if one.get("figure") and variant in texts.LESSONS}
    if len(known) < 2:
        return None
    rungs = [
        drawing.Rung(texts.LESSONS[variant], float(one["value"]), "ours" if variant == "plain" else "baseline")
        for variant, one in known.items()
    ]
    each = [filled(about.NAMED, name=texts.LESSONS[variant], value=f"{one['value']:.2f}") for variant, one in known.items()]
    said = sentence([strung(each, "; ", "；")])
    last = known.get("last_only", {}).get("last_position")
    remark = filled(texts.AT_THE_LAST, value=f"{last:.2f}") if last else None
    told = joined(said, remark, texts.OF_PIECES if "words" in known else None, about.order_of(SLUG, known)) or said
    rows = [(texts.LESSONS[variant], one["value"]) for variant, one in known.items()]
    words, columns = (texts.STANDING, texts.CURVE_UNITS, told), (labels.CARD["model"], texts.BITS)
    return shown("language-model-lessons", drawing.ladder(rungs, tick=1), words, columns, rows, height=26 * len(known) + 36)


def curves() -> dict[str, object] | None:
    """Bits per character of the held-out book over training, from the logs that are shipped; None where there is none."""
    seen: Any = {"per_step": lambda known: known["recipe"]["batch"] * known["config"]["window"] / 1e6}
    return about.curves(SLUG, facts(), texts.NAMES, COLOURS, texts, **seen)
