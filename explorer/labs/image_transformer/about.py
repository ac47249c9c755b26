"""What stands beside the image lab's mechanism: figures from each model.json, the ladder, the training curves. Nothing is typed here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from explorer import labels
from explorer.figures import ladder as drawing
from explorer.labels import filled, joined
from explorer.labs import about
from explorer.labs.image_transformer import texts
from explorer.widgets.card import Pair
from explorer.widgets.figure import shown
from models import folders

SLUG = "image_transformer"
PATTERNS = ("local_1d", "local_2d")
GREY = (*PATTERNS, "pixelcnn")  # trained on the same pictures, so that they may be compared
VARIANTS = (*GREY, "colour")
OURS = (*PATTERNS, "colour")
BASELINES = ("pixelcnn", "linear")  # what stands beside ours
COLOURS = {"local_1d": "var(--cat-1)", "local_2d": "var(--cat-2)", "pixelcnn": "var(--cat-3)"}

Rung = Mapping[str, Any]


def facts() -> dict[str, dict[str, Any]]:
    """What each shipped variant's model.json says, by variant; those that are not shipped are missing."""
    return about.models(SLUG, VARIANTS)


def pairs() -> tuple[Pair, ...]:
    """The four figures of the title row: size, data, both patterns' held-out figure beside the published one, training time."""
    known = facts()
    ours: dict[str, dict[str, Any]] = {variant: known[variant] for variant in PATTERNS if variant in known}
    if not ours:
        return ()
    one = next(iter(ours.values()))
    return (
        Pair(labels.CARD["parameters"], f"{one['parameters'] / 1e6:.2f} M", texts.EACH),
        Pair(labels.CARD["data"], "Fashion-MNIST"),
        *_measured(ours),
        about.trained(*known.values()),
    )


def _measured(ours: Mapping[str, Mapping[str, Any]]) -> tuple[Pair, ...]:
    """bits/dim of the best pattern, the other beside it; nothing before they were measured."""
    measured = {variant: known["figure"] for variant, known in ours.items() if known.get("figure")}
    if not measured:
        return ()
    best, *others = sorted(measured, key=lambda variant: float(measured[variant]["value"]))
    split = labels.split(measured[best]["split"])
    beside = " · ".join([texts.PATTERNS[best]["en"], *(f"{measured[v]['value']:.2f} {texts.PATTERNS[v]['en']}" for v in others)])
    note: Mapping[str, str] = {"en": beside, "zh": beside}
    why = None
    if known := ours[best].get("published"):
        published, why = about.published(measured[best], known)
        note = {language: f"{beside} · {published[language]}" for language in ("en", "zh")}
    return (Pair(filled(texts.TEST, split=split), f"{measured[best]['value']:.2f}", note, why),)


# ---- the ladder --------------------------------------------------------------------------------------------------------------------


def measured(pictures: str) -> list[Rung]:
    """The rungs of ladder.json for "grey" or "colour" pictures, {key, value, published, source} each; empty before it was measured."""
    found: list[Rung] = about.kept(folders.lab(SLUG, about.ASSETS) / "ladder.json", [])
    return [rung for rung in found if rung["pictures"] == pictures and rung.get("value")]


def ladder(pictures: str, found: Sequence[Rung] | None = None) -> dict[str, object] | None:
    """The ladder of "grey" or "colour" pictures as the figure widget draws it, dearest first; None before it was measured."""
    rungs = sorted(measured(pictures) if found is None else found, key=lambda rung: -float(rung["value"]))
    if not rungs:
        return None

    def role(rung: Rung) -> drawing.Role:
        if rung.get("published"):
            return "published"
        return "ours" if rung["key"] in OURS else "baseline" if rung["key"] in BASELINES else "other"

    says = colour_sentence(rungs) if pictures == "colour" else ladder_sentence(rungs)
    drawn = drawing.ladder([drawing.Rung(named(rung), float(rung["value"]), role(rung)) for rung in rungs])
    rows = [(named(rung), round(float(rung["value"]), 3), str(rung.get("source", ""))) for rung in rungs]
    name, columns = "image-ladder" if pictures == "grey" else f"image-ladder-{pictures}", (texts.WAY, texts.COST, texts.SOURCE)
    return shown(name, drawn, (texts.LADDERS[pictures], texts.LADDER_UNITS, says), columns, rows, height=21 * len(rungs) + 28)


def named(rung: Rung) -> Mapping[str, str]:
    """What a rung is called; one that this page does not know keeps its key."""
    key = str(rung["key"])
    return texts.RUNGS.get(key, {"en": key, "zh": key})


def ladder_sentence(rungs: Sequence[Rung]) -> Mapping[str, str]:
    """The ladder in words: the cheaper pattern against guessing and against the PixelCNN, and what the paper found."""
    values = {str(rung["key"]): float(rung["value"]) for rung in rungs}
    ours = {key: values[key] for key in PATTERNS if key in values}
    if not ours or not {"uniform", "pixelcnn"} <= values.keys():
        return _cheapest(rungs)
    best = min(ours, key=lambda key: ours[key])
    gain = values["pixelcnn"] - ours[best]
    said = filled(
        texts.LADDER_SAYS,
        best=texts.BEST[best],
        value=f"{ours[best]:.2f}",
        less=f"{values['uniform'] - ours[best]:.2f}",
        beside=filled(texts.LADDER_BEATS if gain >= 0 else texts.LADDER_LOSES, bits=f"{abs(gain):.2f}"),
    )
    doubt = about.order_of(SLUG, (best, "pixelcnn"))
    order = texts.IN_PRINT if doubt else texts.SAME_ORDER if gain >= 0 else texts.OTHER_ORDER
    return joined(said, order, doubt) or said


def colour_sentence(rungs: Sequence[Rung]) -> Mapping[str, str]:
    """The ladder in colour in words: the model against a linear coder that is told as much, and against guessing."""
    values = {str(rung["key"]): float(rung["value"]) for rung in rungs}
    if not {"uniform", "linear", "colour"} <= values.keys():
        return _cheapest(rungs)
    gain = values["linear"] - values["colour"]
    return filled(
        texts.COLOUR_SAYS,
        value=f"{values['colour']:.2f}",
        less=f"{values['uniform'] - values['colour']:.2f}",
        beside=filled(texts.LADDER_BEATS if gain >= 0 else texts.LADDER_LOSES, bits=f"{abs(gain):.2f}"),
    )


def _cheapest(rungs: Sequence[Rung]) -> Mapping[str, str]:
    """What to say where a rung that the sentence needs is missing. rungs: dearest first."""
    return {language: f"{named(rungs[-1])[language]}: {float(rungs[-1]['value']):.2f}" for language in ("en", "zh")}


# ---- training ----------------------------------------------------------------------------------------------------------------------


def curves() -> dict[str, object] | None:
    """Held-out bits/dim over training of the models that are compared, or None where no log is shipped. Slow at first."""
    how: Any = {"unequal": (texts.CURVE_UNEQUAL, texts.AFTER), "scale": 1 / math.log(2), "joint": ("; ", "；")}
    return about.curves(SLUG, facts(), texts.RUNGS, COLOURS, texts, **how)
