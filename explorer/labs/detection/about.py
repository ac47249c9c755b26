"""The facts beside the mechanism: figures from model.json, the places where queries answer, the
training curve. Every number is read from a file."""

from __future__ import annotations

from typing import Any

from explorer.components.card import TitleFigure
from explorer.contract import labels
from explorer.contract.control_kinds import Value
from explorer.contract.labels import fill_text
from explorer.labs.detection import texts
from explorer.page import card_facts
from explorer.values.packing import pack_array
from models.data.pixels import load_shipped_pictures
from models.detection.records import QUERIES

SLUG = "detection"
NAMES = [dict(name) for name in texts.NAMES]


def facts() -> dict[str, dict[str, Any]]:
    """Return the model.json of the shipped network, by variant; empty where none is shipped."""
    return card_facts.read_models(SLUG, ("base",))


def find_figure() -> dict[str, Any]:
    """Return the measured figures of the shipped network, empty before they were measured."""
    stored: dict[str, Any] = facts().get("base", {}).get("figure") or {}
    return stored


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: size, data, average precision, training time."""
    known, figure = facts().get("base"), find_figure()
    if known is None:
        return ()
    reached: list[TitleFigure] = []
    if figure:
        name = fill_text(texts.PRECISION, split=labels.name_split(figure["split"]))
        strict = fill_text(texts.STRICT, ap=f"{figure['ap']:.3f}")
        reached.append(TitleFigure(name, f"{figure['value']:.3f}", strict, texts.UNPUBLISHED))
    return (
        TitleFigure(labels.CARD["parameters"], f"{known['parameters']:,}"),
        TitleFigure(labels.CARD["data"], texts.GENERATED),
        *reached,
        card_facts.describe_training_time(known),
    )


def draw_territories() -> Value | None:
    """Return where each object query answered on held-out scenes, for its picture; None before it
    was stored."""
    stored = load_shipped_pictures(SLUG, "territories")
    if not stored:
        return None
    return {
        "query": "",
        "state": "stored",
        "queries": QUERIES,
        "scenes": int(stored["scenes"]),
        "of": pack_array(stored["query"]),
        "kind": pack_array(stored["kind"]),
        "box": pack_array(stored["box"].astype("float32").clip(0, 1)),
        "names": NAMES,
    }


def curves() -> dict[str, object] | None:
    """Draw the held-out precision over training; None where no log is shipped."""
    return card_facts.curves(
        SLUG,
        facts(),
        {"base": texts.TITLE},
        {"base": "var(--cat-1)"},
        texts,
        per_step=lambda _known: 1,
    )
