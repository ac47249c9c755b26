"""The facts beside the image lab's mechanism: figures from each model.json, the ladder, the
training curves. Every number is read from a file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from explorer.components.card import TitleFigure
from explorer.components.figure import describe_drawn_figure
from explorer.contract import labels
from explorer.contract.labels import fill_text, join_sentences
from explorer.figures import ladder as drawing
from explorer.labs.image_transformer import texts
from explorer.page import card_facts
from models.checkpoints import folders

SLUG = "image_transformer"
PATTERNS = ("local_1d", "local_2d")
GREY = (*PATTERNS, "pixelcnn")  # trained on the same pictures, so that they may be compared
VARIANTS = (*GREY, "colour")
OURS = (*PATTERNS, "colour")
BASELINES = ("pixelcnn", "linear")  # models shown beside ours
COLOURS = {"local_1d": "var(--cat-1)", "local_2d": "var(--cat-2)", "pixelcnn": "var(--cat-3)"}

Rung = Mapping[str, Any]


def facts() -> dict[str, dict[str, Any]]:
    """Return the model.json of each shipped variant, by variant; variants that are not shipped are
    missing."""
    return card_facts.read_models(SLUG, VARIANTS)


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: size, data, both patterns' held-out figure beside
    the published one, training time."""
    known = facts()
    ours: dict[str, dict[str, Any]] = {
        variant: known[variant] for variant in PATTERNS if variant in known
    }
    if not ours:
        return ()
    one = next(iter(ours.values()))
    return (
        TitleFigure(labels.CARD["parameters"], f"{one['parameters'] / 1e6:.2f} M", texts.EACH),
        TitleFigure(labels.CARD["data"], "Fashion-MNIST"),
        *_describe_figure(ours),
        card_facts.describe_training_time(*known.values()),
    )


def _describe_figure(ours: Mapping[str, Mapping[str, Any]]) -> tuple[TitleFigure, ...]:
    """Return the bits/dim of the best pattern, with the other beside it; nothing before they were
    measured."""
    measured = {variant: known["figure"] for variant, known in ours.items() if known.get("figure")}
    if not measured:
        return ()
    best, *others = sorted(measured, key=lambda variant: float(measured[variant]["value"]))
    split = labels.name_split(measured[best]["split"])
    beside = " · ".join(
        [
            texts.PATTERNS[best]["en"],
            *(f"{measured[v]['value']:.2f} {texts.PATTERNS[v]['en']}" for v in others),
        ]
    )
    note: Mapping[str, str] = {"en": beside, "zh": beside}
    why = None
    if known := ours[best].get("published"):
        published, why = card_facts.describe_published(measured[best], known)
        note = {language: f"{beside} · {published[language]}" for language in ("en", "zh")}
    return (
        TitleFigure(
            fill_text(texts.TEST, split=split), f"{measured[best]['value']:.2f}", note, why
        ),
    )


# ---- the ladder


def list_rungs(pictures: str) -> list[Rung]:
    """Return the rungs of ladder.json for "grey" or "colour" pictures, {key, value, published,
    source} each; empty before it was measured."""
    found: list[Rung] = card_facts.read_json_file(
        folders.find_lab_folder(SLUG, card_facts.ASSETS) / "ladder.json", []
    )
    return [rung for rung in found if rung["pictures"] == pictures and rung.get("value")]


def draw_ladder(pictures: str, found: Sequence[Rung] | None = None) -> dict[str, object] | None:
    """Draw the ladder of "grey" or "colour" pictures for the figure widget, dearest first; None
    before it was measured."""
    rungs = sorted(
        list_rungs(pictures) if found is None else found, key=lambda rung: -float(rung["value"])
    )
    if not rungs:
        return None

    def role(rung: Rung) -> drawing.Role:
        if rung.get("published"):
            return "published"
        return (
            "ours" if rung["key"] in OURS else "baseline" if rung["key"] in BASELINES else "other"
        )

    says = describe_colour_ladder(rungs) if pictures == "colour" else describe_ladder(rungs)
    drawn = drawing.draw_ladder(
        [drawing.Rung(name_rung(rung), float(rung["value"]), role(rung)) for rung in rungs]
    )
    rows = [
        (name_rung(rung), round(float(rung["value"]), 3), str(rung.get("source", "")))
        for rung in rungs
    ]
    name, columns = (
        "image-ladder" if pictures == "grey" else f"image-ladder-{pictures}",
        (texts.WAY, texts.COST, texts.SOURCE),
    )
    return describe_drawn_figure(
        name,
        drawn,
        (texts.LADDERS[pictures], texts.LADDER_UNITS, says),
        columns,
        rows,
        height=21 * len(rungs) + 28,
    )


def name_rung(rung: Rung) -> Mapping[str, str]:
    """Return the name of a rung; one that this page does not know keeps its key."""
    key = str(rung["key"])
    return texts.RUNGS.get(key, {"en": key, "zh": key})


def describe_ladder(rungs: Sequence[Rung]) -> Mapping[str, str]:
    """Describe the ladder in words: the cheaper pattern against guessing and against the PixelCNN,
    and the paper's finding."""
    values = {str(rung["key"]): float(rung["value"]) for rung in rungs}
    ours = {key: values[key] for key in PATTERNS if key in values}
    if not ours or not {"uniform", "pixelcnn"} <= values.keys():
        return _describe_cheapest(rungs)
    best = min(ours, key=lambda key: ours[key])
    gain = values["pixelcnn"] - ours[best]
    said = fill_text(
        texts.LADDER_SAYS,
        best=texts.BEST[best],
        value=f"{ours[best]:.2f}",
        less=f"{values['uniform'] - ours[best]:.2f}",
        beside=fill_text(
            texts.LADDER_BEATS if gain >= 0 else texts.LADDER_LOSES, bits=f"{abs(gain):.2f}"
        ),
    )
    doubt = card_facts.explain_order_of(SLUG, (best, "pixelcnn"))
    order = texts.IN_PRINT if doubt else texts.SAME_ORDER if gain >= 0 else texts.OTHER_ORDER
    return join_sentences(said, order, doubt) or said


def describe_colour_ladder(rungs: Sequence[Rung]) -> Mapping[str, str]:
    """Describe the ladder in colour in words: the model against a linear coder with the same
    information, and against guessing."""
    values = {str(rung["key"]): float(rung["value"]) for rung in rungs}
    if not {"uniform", "linear", "colour"} <= values.keys():
        return _describe_cheapest(rungs)
    gain = values["linear"] - values["colour"]
    return fill_text(
        texts.COLOUR_SAYS,
        value=f"{values['colour']:.2f}",
        less=f"{values['uniform'] - values['colour']:.2f}",
        beside=fill_text(
            texts.LADDER_BEATS if gain >= 0 else texts.LADDER_LOSES, bits=f"{abs(gain):.2f}"
        ),
    )


def _describe_cheapest(rungs: Sequence[Rung]) -> Mapping[str, str]:
    """Describe the cheapest rung, for a ladder too short for a comparison. rungs: dearest first."""
    return {
        language: f"{name_rung(rungs[-1])[language]}: {float(rungs[-1]['value']):.2f}"
        for language in ("en", "zh")
    }


# ---- training


def curves() -> dict[str, object] | None:
    """Draw the held-out bits/dim over training of the compared models, or None where no log is
    shipped. The first call is slow."""
    how: Any = {
        "unequal": (texts.CURVE_UNEQUAL, texts.AFTER),
        "scale": 1 / math.log(2),
        "joint": ("; ", "；"),
    }
    return card_facts.curves(SLUG, facts(), texts.RUNGS, COLOURS, texts, **how)
