"""The facts beside the music lab's mechanism: figures from each model.json, the measured order, the
training curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.components import figure
from explorer.components.card import TitleFigure
from explorer.contract import labels
from explorer.contract.labels import Text, fill_text, join_parts
from explorer.figures import ladder as drawing
from explorer.labs.music import texts
from explorer.page import card_facts
from models.music.records import MODELS

SLUG = "music"
VARIANTS = tuple(variant for style in MODELS.values() for variant in style)
COLOURS = {"jsb_relative": "var(--cat-1)", "jsb_transformer": "var(--cat-2)"}

Facts = Mapping[str, Any]


def facts() -> dict[str, dict[str, Any]]:
    """Return the model.json of each shipped variant, by variant; variants that are not shipped are
    missing."""
    return card_facts.read_models(SLUG, VARIANTS)


def list_seeds(variant: str) -> dict[int, float]:
    """Return the held-out figure of each seed of a variant."""
    return card_facts.list_seed_figures(SLUG, variant)


def list_measured(style: str) -> dict[str, Facts]:
    """Return the facts of the measured variants of a style, best first."""
    known = {
        variant: one
        for variant, one in facts().items()
        if variant in MODELS[style] and one.get("figure")
    }
    return dict(sorted(known.items(), key=lambda pair: float(pair[1]["figure"]["value"])))


def is_measured_beyond() -> bool:
    """Return whether anything was measured at twice the length of training."""
    return any("figure_times_2" in known for known in facts().values())


# ---- the card


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: size, data, the held-out figure beside the
    published one, training time."""
    known = facts()
    if not known:
        return ()
    size = {variant: f"{one['parameters'] / 1e6:.2f} M" for variant, one in known.items()}
    first, *others = size
    notes = [
        fill_text(texts.RUNG_VALUE, name=texts.RUNGS[v], value=size[v])
        for v in others
        if v == "jsb_transformer"
    ]
    notes += [fill_text(texts.PIANO_SIZE, value=size[v]) for v in others if v == "relative"]
    piano = any(variant in known for variant in MODELS["piano"])
    return (
        TitleFigure(labels.CARD["parameters"], size[first], join_parts(notes, " · ", " · ")),
        TitleFigure(
            labels.CARD["data"],
            "JSB · ASAP" if piano else "JSB",
            texts.NON_COMMERCIAL if piano else texts.CHORALES,
        ),
        *_describe_figure("chorale" if list_measured("chorale") else "piano"),
        card_facts.describe_training_time(*known.values()),
    )


def _describe_figure(style: str) -> tuple[TitleFigure, ...]:
    """Return the figure of the relative model beside the other's and the published one; nothing
    before it was measured."""
    known = list_measured(style)
    ours = next((variant for variant in MODELS[style] if variant in known), None)
    if ours is None:
        return ()
    figure_, published = known[ours]["figure"], known[ours].get("published")
    notes: list[Text] = [
        fill_text(texts.RUNG_VALUE, name=texts.RUNGS[v], value=format_loss(one["figure"]["value"]))
        for v, one in known.items()
        if v != ours
    ]
    why = None
    if published:
        notes.append(fill_text(labels.CARD["published"], value=format_loss(published["value"])))
        listed = (
            fill_text(texts.SEEDS, values=_list_names(list_seeds(ours)))
            if len(list_seeds(ours)) > 1
            else {"en": "", "zh": ""}
        )
        why = {
            language: f"{published['source']}. {published['why'][language]}{listed[language]}"
            for language in ("en", "zh")
        }
    return (
        TitleFigure(
            fill_text(texts.METRIC[style], split=labels.name_split(figure_["split"])),
            format_loss(figure_["value"]),
            join_parts(notes, " · ", " · "),
            why,
        ),
    )


def format_loss(value: float) -> str:
    """Return a loss as tables print it."""
    return f"{value:.3f}"


def _list_names(found: Mapping[int, float]) -> str:
    return " · ".join(format_loss(value) for _, value in sorted(found.items()))


def prose() -> dict[str, str]:
    """Return the model card in each language; empty where none is shipped. Entries are named by
    variant: {jsb_relative.figure.value}.

    The part about piano stands in a file of its own, which is read where those models are shipped.
    """
    known = facts()
    parts = [card_facts.prose(SLUG, known)]
    if any(variant in known for variant in MODELS["piano"]):
        parts.append(card_facts.prose(SLUG, known, "piano.md"))
    return {
        language: "\n\n".join(part[language] for part in parts if language in part)
        for language in parts[0]
    }


# ---- the measured order


def draw_standings() -> list[dict[str, object]]:
    """Draw which model reads held-out music best, ours and as published, for the figure widget: one
    figure for each style that was measured."""
    return [draw_standing(style, known) for style in MODELS if (known := list_measured(style))]


def draw_standing(style: str, known: Mapping[str, Facts]) -> dict[str, object]:
    """Draw one style's figure. known: the model.json of its measured variants, best first."""
    printed = {variant: one["published"] for variant, one in known.items() if one.get("published")}
    rungs = [(variant, float(one["figure"]["value"]), False) for variant, one in known.items()]
    rungs += [(variant, float(one["value"]), True) for variant, one in printed.items()]
    rungs.sort(key=lambda rung: -rung[1])
    bars = [
        drawing.Rung(_name_variant(variant, shown), value, _find_role(variant, shown))
        for variant, value, shown in rungs
    ]
    rows: list[tuple[str | float | Text | None, ...]] = []
    for variant, value, shown in rungs:
        name = _name_variant(variant, shown)
        if shown:
            rows.append((name, None, value, printed[variant]["source"]))
        else:
            here = fill_text(texts.HERE, split=labels.name_split(known[variant]["figure"]["split"]))
            rows += [
                (name, seed, loss, here)
                for seed, loss in (list_seeds(variant) or {1: value}).items()
            ]
    words = (texts.STANDING[style], texts.STANDING_UNITS[style], describe_standing(known))
    drawn = drawing.draw_ladder(bars, digits=3, tick=0.2 if rungs[0][1] < 1.2 else 0.5)
    return figure.describe_drawn_figure(
        f"music-{style}",
        drawn,
        words,
        (texts.MODEL, texts.SEED, texts.NATS, texts.SOURCE),
        rows,
        height=24 * len(rungs) + 28,
    )


def _find_role(variant: str, published: bool) -> drawing.Role:
    if published:
        return "published"
    return "ours" if variant in {"jsb_relative", "relative"} else "baseline"


def _name_variant(variant: str, published: bool) -> Text:
    return (
        fill_text(texts.PUBLISHED, name=texts.RUNGS[variant]) if published else texts.RUNGS[variant]
    )


def describe_standing(known: Mapping[str, Facts]) -> Text:
    """Describe the measured order, the published order, whether both agree if the seeds bear one
    out, and every seed.

    known: the model.json of the variants, best first.
    """
    printed = {
        variant: float(one["published"]["value"])
        for variant, one in known.items()
        if one.get("published")
    }
    theirs = sorted(printed, key=lambda variant: printed[variant])
    said = [
        fill_text(
            texts.STANDS,
            order=_describe_order(
                {variant: float(one["figure"]["value"]) for variant, one in known.items()},
                list(known),
            ),
        )
    ]
    if len(theirs) > 1:
        compared = [variant for variant in known if variant in printed]
        doubt = card_facts.explain_missing_order(
            *(list_seeds(variant).values() for variant in compared)
        )
        words = (
            texts.IN_PRINT
            if doubt
            else texts.SAME_ORDER
            if theirs == compared
            else texts.OTHER_ORDER
        )
        where = (
            ""
            if all(known[variant]["published"]["comparable"] for variant in theirs)
            else texts.ELSEWHERE
        )
        said += [
            fill_text(words, where=where, order=_describe_order(printed, theirs)),
            *([doubt] if doubt else []),
        ]
    for variant in known:
        found = list_seeds(variant)
        if len(found) > 1:
            said.append(
                fill_text(texts.BY_SEED, name=texts.RUNGS[variant], values=_list_names(found))
            )
    return join_parts(said, " ", "")


def _describe_order(values: Mapping[str, float], order: Sequence[str]) -> Text:
    return join_parts(
        [
            fill_text(
                texts.RUNG_VALUE, name=texts.RUNGS[variant], value=format_loss(values[variant])
            )
            for variant in order
        ]
    )


# ---- training


def curves() -> dict[str, object] | None:
    """Draw the held-out loss of the chorale models over training, or None where no log is shipped.
    The first call is slow."""
    return card_facts.curves(SLUG, facts(), texts.RUNGS, COLOURS, texts, show=format_loss)
