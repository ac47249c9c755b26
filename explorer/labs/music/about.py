"""What stands beside the music lab's mechanism: figures from each model.json, the order that came out, the training curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer import labels
from explorer.figures import ladder as drawing
from explorer.labels import Text, filled, strung
from explorer.labs import about
from explorer.labs.music import texts
from explorer.widgets import figure
from explorer.widgets.card import Pair
from models.music.records import MODELS

SLUG = "music"
VARIANTS = tuple(variant for style in MODELS.values() for variant in style)
COLOURS = {"jsb_relative": "var(--cat-1)", "jsb_transformer": "var(--cat-2)"}

Facts = Mapping[str, Any]


def facts() -> dict[str, dict[str, Any]]:
    """What each shipped variant's model.json says, by variant; those that are not shipped are missing."""
    return about.models(SLUG, VARIANTS)


def seeds(variant: str) -> dict[int, float]:
    """As `about.seeds`."""
    return about.seeds(SLUG, variant)


def measured(style: str) -> dict[str, Facts]:
    """What is known of the variants of a style that were measured, best first."""
    known = {variant: one for variant, one in facts().items() if variant in MODELS[style] and one.get("figure")}
    return dict(sorted(known.items(), key=lambda pair: float(pair[1]["figure"]["value"])))


def beyond() -> bool:
    """Was anything measured at twice the length of training?"""
    return any("figure_times_2" in known for known in facts().values())


# ---- the card ----------------------------------------------------------------------------------------------------------------------


def pairs() -> tuple[Pair, ...]:
    """The four figures of the title row: size, data, the held-out figure beside the published one, training time."""
    known = facts()
    if not known:
        return ()
    size = {variant: f"{one['parameters'] / 1e6:.2f} M" for variant, one in known.items()}
    first, *others = size
    notes = [filled(texts.RUNG_VALUE, name=texts.RUNGS[v], value=size[v]) for v in others if v == "jsb_transformer"]
    notes += [filled(texts.PIANO_SIZE, value=size[v]) for v in others if v == "relative"]
    piano = any(variant in known for variant in MODELS["piano"])
    return (
        Pair(labels.CARD["parameters"], size[first], strung(notes, " · ", " · ")),
        Pair(labels.CARD["data"], "JSB · ASAP" if piano else "JSB", texts.NON_COMMERCIAL if piano else texts.CHORALES),
        *_held_out("chorale" if measured("chorale") else "piano"),
        about.trained(*known.values()),
    )


def _held_out(style: str) -> tuple[Pair, ...]:
    """The figure of the relative model beside the other's and the published one; nothing before it was measured."""
    known = measured(style)
    ours = next((variant for variant in MODELS[style] if variant in known), None)
    if ours is None:
        return ()
    figure_, published = known[ours]["figure"], known[ours].get("published")
    notes: list[Text] = [
        filled(texts.RUNG_VALUE, name=texts.RUNGS[v], value=three(one["figure"]["value"])) for v, one in known.items() if v != ours
    ]
    why = None
    if published:
        notes.append(filled(labels.CARD["published"], value=three(published["value"])))
        listed = filled(texts.SEEDS, values=_listed(seeds(ours))) if len(seeds(ours)) > 1 else {"en": "", "zh": ""}
        why = {language: f"{published['source']}. {published['why'][language]}{listed[language]}" for language in ("en", "zh")}
    return (
        Pair(filled(texts.METRIC[style], split=labels.split(figure_["split"])), three(figure_["value"]), strung(notes, " · ", " · "), why),
    )


def three(value: float) -> str:
    """A loss as it stands in tables."""
    return f"{value:.3f}"


def _listed(found: Mapping[int, float]) -> str:
    return " · ".join(three(value) for _, value in sorted(found.items()))


def prose() -> dict[str, str]:
    """The model card in each language; empty where none is shipped. Entries are named by variant: {jsb_relative.figure.value}.

    What it says of piano stands in a file of its own, which is read where those models are shipped.
    """
    known = facts()
    parts = [about.prose(SLUG, known)]
    if any(variant in known for variant in MODELS["piano"]):
        parts.append(about.prose(SLUG, known, "piano.md"))
    return {language: "\n\n".join(part[language] for part in parts if language in part) for language in parts[0]}


# ---- the order that came out -------------------------------------------------------------------------------------------------------


def standings() -> list[dict[str, object]]:
    """Who reads held-out music best, ours and as published, as the figure widget draws it: one figure for each style that was measured."""
    return [standing(style, known) for style in MODELS if (known := measured(style))]


def standing(style: str, known: Mapping[str, Facts]) -> dict[str, object]:
    """One style's figure. known: what model.json says of its measured variants, best first."""
    printed = {variant: one["published"] for variant, one in known.items() if one.get("published")}
    rungs = [(variant, float(one["figure"]["value"]), False) for variant, one in known.items()]
    rungs += [(variant, float(one["value"]), True) for variant, one in printed.items()]
    rungs.sort(key=lambda rung: -rung[1])
    bars = [drawing.Rung(_named(variant, shown), value, _role(variant, shown)) for variant, value, shown in rungs]
    rows: list[tuple[str | float | Text | None, ...]] = []
    for variant, value, shown in rungs:
        name = _named(variant, shown)
        if shown:
            rows.append((name, None, value, printed[variant]["source"]))
        else:
            here = filled(texts.HERE, split=labels.split(known[variant]["figure"]["split"]))
            rows += [(name, seed, loss, here) for seed, loss in (seeds(variant) or {1: value}).items()]
    words = (texts.STANDING[style], texts.STANDING_UNITS[style], standing_sentence(known))
    drawn = drawing.ladder(bars, digits=3, tick=0.2 if rungs[0][1] < 1.2 else 0.5)
    return figure.shown(
        f"music-{style}", drawn, words, (texts.MODEL, texts.SEED, texts.NATS, texts.SOURCE), rows, height=24 * len(rungs) + 28
    )


def _role(variant: str, published: bool) -> drawing.Role:
    if published:
        return "published"
    return "ours" if variant in {"jsb_relative", "relative"} else "baseline"


def _named(variant: str, published: bool) -> Text:
    return filled(texts.PUBLISHED, name=texts.RUNGS[variant]) if published else texts.RUNGS[variant]


def standing_sentence(known: Mapping[str, Facts]) -> Text:
    """What came out, the published order, whether it is the same one if seeds bear one out, and every seed.

    known: what model.json says of the variants, best first.
    """
    printed = {variant: float(one["published"]["value"]) for variant, one in known.items() if one.get("published")}
    theirs = sorted(printed, key=lambda variant: printed[variant])
    said = [filled(texts.STANDS, order=_order({variant: float(one["figure"]["value"]) for variant, one in known.items()}, list(known)))]
    if len(theirs) > 1:
        compared = [variant for variant in known if variant in printed]
        doubt = about.unproved(*(seeds(variant).values() for variant in compared))
        words = texts.IN_PRINT if doubt else texts.SAME_ORDER if theirs == compared else texts.OTHER_ORDER
        where = "" if all(known[variant]["published"]["comparable"] for variant in theirs) else texts.ELSEWHERE
        said += [filled(words, where=where, order=_order(printed, theirs)), *([doubt] if doubt else [])]
    for variant in known:
        found = seeds(variant)
        if len(found) > 1:
            said.append(filled(texts.BY_SEED, name=texts.RUNGS[variant], values=_listed(found)))
    return strung(said, " ", "")


def _order(values: Mapping[str, float], order: Sequence[str]) -> Text:
    return strung([filled(texts.RUNG_VALUE, name=texts.RUNGS[variant], value=three(values[variant])) for variant in order])


# ---- training ----------------------------------------------------------------------------------------------------------------------


def curves() -> dict[str, object] | None:
    """Held-out loss of the chorale models over training, or None where no log is shipped. Slow at first."""
    return about.curves(SLUG, facts(), texts.RUNGS, COLOURS, texts, show=three)
