"""The facts beside the lab's mechanism: figures from each model.json, the cost and the saving of a
pattern, the training curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.components.card import TitleFigure
from explorer.components.figure import describe_drawn_figure
from explorer.contract import labels
from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text, fill_text, join_parts, join_sentences
from explorer.figures import ladder as drawing
from explorer.labs.sparse_transformer import texts
from explorer.page import card_facts
from models.sparse_transformer.records import MODELS
from models.sparse_transformer.records import share as share_of

SLUG = "sparse_transformer"
COLOURS = {"strided": "var(--cat-1)", "dense": "var(--cat-2)", "fixed": "var(--cat-3)"}
# Published results for binarised digits of the same kind, nats per digit.
PUBLISHED: tuple[tuple[str, float, str], ...] = (
    ("NADE", 88.9, "Larochelle and Murray (2011)"),
    ("MADE", 88.0, "Germain et al. (2015)"),
    ("PixelCNN", 81.3, "van den Oord et al. (2016)"),
)

Facts = Mapping[str, Any]


def facts(task: str = "digit") -> dict[str, dict[str, Any]]:
    """Return each shipped model.json, by variant of a task; variants that are not shipped are
    missing."""
    return {
        variant: known for variant in MODELS[task] if (known := card_facts.facts(SLUG, variant))
    }


def list_tasks() -> tuple[str, ...]:
    """Return the tasks for which a model is shipped; digits where none is."""
    return tuple(task for task in MODELS if facts(task)) or ("digit",)


def list_head_sizes() -> dict[str, tuple[int, int]]:
    """Return the layers and heads of every shipped model."""
    return {
        variant: size
        for task in MODELS
        for variant, size in card_facts.list_sizes(facts(task)).items()
    }


def find_trained_pattern(task: str = "digit") -> dict[str, int]:
    """Return {stride, summary} of the patterns of a task, as trained."""
    config = next(iter(facts(task).values()), {}).get("config", {})
    return {"stride": int(config.get("stride", 28)), "summary": int(config.get("summary", 4))}


def list_measured(task: str = "digit") -> dict[str, Facts]:
    """Return the held-out figure of each measured variant, best first."""
    known = {variant: one["figure"] for variant, one in facts(task).items() if one.get("figure")}
    return dict(sorted(known.items(), key=lambda pair: float(pair[1]["value"])))


# ---- the card


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: size, data, the held-out figure beside those of the
    other models and the published one, training time."""
    known = facts()
    return card_facts.pairs(
        known, TitleFigure(labels.CARD["data"], texts.DATA), _describe_figure(known), texts.EACH
    )


def _describe_figure(known: Mapping[str, Facts]) -> tuple[TitleFigure, ...]:
    found = {variant: one["figure"] for variant, one in known.items() if one.get("figure")}
    if not found:
        return ()
    ours, *others = found
    notes = [
        fill_text(
            texts.RUNG_VALUE, name=texts.MODELS[variant], value=f"{found[variant]['value']:.1f}"
        )
        for variant in others
    ]
    name, value, source = PUBLISHED[-1]
    notes.append(fill_text(labels.CARD["published"], value=f"{value:.1f}"))
    why = fill_text(texts.PRINTED, name=name, value=f"{value:.1f}", source=source)
    label = fill_text(texts.METRIC, split=labels.name_split(found[ours]["split"]))
    return (
        TitleFigure(label, f"{found[ours]['value']:.1f}", join_parts(notes, " · ", " · "), why),
    )


def prose() -> dict[str, str]:
    """Return the model card in each language; empty where no model is shipped. Entries are named by
    variant: {strided.figure.value}."""
    return card_facts.prose(
        SLUG, {variant: one for task in MODELS for variant, one in facts(task).items()}
    )


# ---- the cost of a pattern


def measure_share(variant: str) -> float:
    """Return the share of the causal pairs of a digit that a model's pattern holds."""
    config = facts()[variant]["config"]
    return share_of(str(config["kind"]), int(config["stride"]), int(config["summary"]))


def draw_standing() -> dict[str, object] | None:
    """Draw the nats per digit of each model beside the published ones; None before a model was
    measured."""
    known = list_measured()
    if not known:
        return None
    ours: list[tuple[Text, float, drawing.Role, str]] = [
        (
            texts.NAMES[variant],
            float(one["value"]),
            "baseline" if variant == "dense" else "ours",
            f"{texts.HERE['en']}, n = {one['n']:,}",
        )
        for variant, one in known.items()
    ]
    printed: list[tuple[Text, float, drawing.Role, str]] = [
        (fill_text(texts.AS_PUBLISHED, name=name), value, "published", source)
        for name, value, source in PUBLISHED
    ]
    rungs = sorted([*ours, *printed], key=lambda one: -one[1])
    drawn = drawing.draw_ladder([drawing.Rung(*rung[:3]) for rung in rungs], digits=1, tick=20)
    rows, columns = (
        [(name, value, source) for name, value, _, source in rungs],
        (texts.WAY, texts.COST, texts.SOURCE),
    )
    words = (texts.STANDING, texts.STANDING_UNITS, describe_standing(known))
    return describe_drawn_figure(
        "patterns-standing", drawn, words, columns, rows, height=22 * len(rungs) + 32
    )


def describe_standing(known: Mapping[str, Facts]) -> Text:
    """Describe each model's nats, the cost of the strided pattern against dense attention, and the
    paper's finding."""
    each = [
        fill_text(texts.RUNG_VALUE, name=texts.NAMES[variant], value=f"{one['value']:.1f}")
        for variant, one in known.items()
    ]
    said = [join_parts([join_parts(each, "; ", "；"), shared.FULL_STOP], "", "")]
    if {"strided", "dense"} <= known.keys():
        gap = float(known["strided"]["value"]) - float(known["dense"]["value"])
        said.append(
            fill_text(
                texts.BEHIND if gap > 0 else texts.AHEAD,
                gap=f"{abs(gap):.1f}",
                share=f"{100 * measure_share('strided'):.0f}",
            )
        )
    if {"strided", "fixed"} <= known.keys():
        gap = float(known["fixed"]["value"]) - float(known["strided"]["value"])
        said.append(
            fill_text(texts.FIXED_MORE if gap > 0 else texts.FIXED_LESS, gap=f"{abs(gap):.2f}")
        )
    return (
        join_sentences(*said, card_facts.explain_order_of(SLUG, known), texts.IN_PRINT)
        or texts.IN_PRINT
    )


def measure_block_gaps() -> dict[str, str]:
    """Measure how much more the fixed pattern costs than the strided one in the first quarter of a
    block of text, in its middle and in the last quarter; {} before both were measured."""
    known = {
        variant: one["by_block"]
        for variant, one in list_measured("text").items()
        if "by_block" in one
    }
    if not {"text_fixed", "text_strided"} <= known.keys():
        return {}
    fixed, strided = (known[name]["quarters"] for name in ("text_fixed", "text_strided"))
    first, second, third, last = (one - other for one, other in zip(fixed, strided, strict=True))
    gaps = {"first": first, "middle": (second + third) / 2, "last": last}
    return {
        "block": str(known["text_fixed"]["block"]),
        **{name: f"{gap:.3f}".replace("-", "−") for name, gap in gaps.items()},
    }


def draw_on_text() -> dict[str, object] | None:
    """Draw the bits per character of both patterns on books; None before both were measured."""
    known = list_measured("text")
    if len(known) < 2:
        return None
    best, worst = known
    rungs = [(texts.NAMES[variant], float(one["value"])) for variant, one in known.items()]
    gap = float(known[worst]["value"]) - float(known[best]["value"])
    said = fill_text(
        texts.TEXT_SAYS if best == "text_fixed" else texts.TEXT_OTHER,
        best=texts.MODELS[best],
        gap=f"{gap:.3f}",
    )
    says = (
        join_sentences(
            said, card_facts.explain_order_of(SLUG, known), card_facts.read(known, texts.MODELS)
        )
        or said
    )
    drawn = drawing.draw_ladder(
        [drawing.Rung(name, value, "ours") for name, value in rungs], tick=0.5
    )
    words, columns = (texts.TEXT_STANDING, texts.TEXT_UNITS, says), (texts.WAY, texts.BITS)
    return describe_drawn_figure(
        "patterns-on-text", drawn, words, columns, rungs, height=22 * len(rungs) + 32
    )


# ---- the saving


def draw_speed() -> dict[str, object] | None:
    """Draw the time of one layer with each pattern, as `python -m benchmarks sparse_attention`
    measured it; None before."""
    ways = {
        key: (texts.WAYS[key], key in {"strided", "fixed"})
        for key in ("strided", "fixed", "dense", "strided_masked", "fixed_masked")
    }

    def says(figures: Mapping[str, float]) -> dict[str, str]:
        told = {name: f"{figures[f'{name}_vs_dense_ratio']:.1f}" for name in ("strided", "fixed")}
        return {
            **told,
            "masked": f"{figures['strided_vs_masked_ratio']:.0f}",
            "growth": f"{figures['growth_exponent']:.2f}",
        }

    return card_facts.draw_speed("sparse-speed", "sparse_attention", ways, texts, says, 190)


# ---- training


def curves() -> dict[str, object] | None:
    """Draw the held-out nats over training of the models of digits, or None where no log is
    shipped. The first call is slow."""
    how: Any = {
        "unequal": (texts.CURVE_UNEQUAL, texts.AFTER),
        "show": lambda nats: f"{nats:.1f}",
        "joint": ("; ", "；"),
    }
    return card_facts.curves(
        SLUG,
        facts(),
        texts.NAMES,
        {variant: COLOURS[variant] for variant in MODELS["digit"]},
        texts,
        **how,
    )
