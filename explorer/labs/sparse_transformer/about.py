"""What stands beside the lab's mechanism: figures from each model.json, what a pattern costs and saves, the training curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer import labels
from explorer.figures import ladder as drawing
from explorer.labels import Text, filled, joined, strung
from explorer.labs import about
from explorer.labs.sparse_transformer import texts
from explorer.widgets.card import Pair
from explorer.widgets.figure import shown
from models.sparse_transformer.records import MODELS
from models.sparse_transformer.records import share as share_of

SLUG = "sparse_transformer"
COLOURS = {"strided": "var(--cat-1)", "dense": "var(--cat-2)", "fixed": "var(--cat-3)"}
# Binarised digits of the same kind, nats per digit, in print.
PUBLISHED: tuple[tuple[str, float, str], ...] = (
    ("NADE", 88.9, "Larochelle and Murray (2011)"),
    ("MADE", 88.0, "Germain et al. (2015)"),
    ("PixelCNN", 81.3, "van den Oord et al. (2016)"),
)

Facts = Mapping[str, Any]


def facts(task: str = "digit") -> dict[str, dict[str, Any]]:
    """What each shipped model.json says, by variant of a task; those that are not shipped are missing."""
    return {variant: known for variant in MODELS[task] if (known := about.facts(SLUG, variant))}


def tasks() -> tuple[str, ...]:
    """The tasks for which a model is shipped; digits where none is."""
    return tuple(task for task in MODELS if facts(task)) or ("digit",)


def heads() -> dict[str, tuple[int, int]]:
    """Layers and heads of every shipped model."""
    return {variant: size for task in MODELS for variant, size in about.sizes(facts(task)).items()}


def trained(task: str = "digit") -> dict[str, int]:
    """{stride, summary} of the patterns of a task, as trained."""
    config = next(iter(facts(task).values()), {}).get("config", {})
    return {"stride": int(config.get("stride", 28)), "summary": int(config.get("summary", 4))}


def measured(task: str = "digit") -> dict[str, Facts]:
    """The held-out figure of each variant that was measured, best first."""
    known = {variant: one["figure"] for variant, one in facts(task).items() if one.get("figure")}
    return dict(sorted(known.items(), key=lambda pair: float(pair[1]["value"])))


# ---- the card ----------------------------------------------------------------------------------------------------------------------


def pairs() -> tuple[Pair, ...]:
    """The four figures of the title row: size, data, the held-out figure beside the others' and the published one, training time."""
    known = facts()
    return about.pairs(known, Pair(labels.CARD["data"], texts.DATA), _held_out(known), texts.EACH)


def _held_out(known: Mapping[str, Facts]) -> tuple[Pair, ...]:
    found = {variant: one["figure"] for variant, one in known.items() if one.get("figure")}
    if not found:
        return ()
    ours, *others = found
    notes = [filled(texts.RUNG_VALUE, name=texts.MODELS[variant], value=f"{found[variant]['value']:.1f}") for variant in others]
    name, value, source = PUBLISHED[-1]
    notes.append(filled(labels.CARD["published"], value=f"{value:.1f}"))
    why = filled(texts.PRINTED, name=name, value=f"{value:.1f}", source=source)
    label = filled(texts.METRIC, split=labels.split(found[ours]["split"]))
    return (Pair(label, f"{found[ours]['value']:.1f}", strung(notes, " · ", " · "), why),)


def prose() -> dict[str, str]:
    """The model card in each language; empty where none is shipped. Entries are named by variant: {strided.figure.value}."""
    return about.prose(SLUG, {variant: one for task in MODELS for variant, one in facts(task).items()})


# ---- what a pattern costs ----------------------------------------------------------------------------------------------------------


def share(variant: str) -> float:
    """Part of the causal pairs of a digit that a model's pattern holds."""
    config = facts()[variant]["config"]
    return share_of(str(config["kind"]), int(config["stride"]), int(config["summary"]))


def standing() -> dict[str, object] | None:
    """Nats per digit of each model beside what is in print; None before one was measured."""
    known = measured()
    if not known:
        return None
    ours: list[tuple[Text, float, drawing.Role, str]] = [
        (texts.NAMES[variant], float(one["value"]), "baseline" if variant == "dense" else "ours", f"{texts.HERE['en']}, n = {one['n']:,}")
        for variant, one in known.items()
    ]
    printed: list[tuple[Text, float, drawing.Role, str]] = [
        (filled(texts.AS_PUBLISHED, name=name), value, "published", source) for name, value, source in PUBLISHED
    ]
    rungs = sorted([*ours, *printed], key=lambda one: -one[1])
    drawn = drawing.ladder([drawing.Rung(*rung[:3]) for rung in rungs], digits=1, tick=20)
    rows, columns = [(name, value, source) for name, value, _, source in rungs], (texts.WAY, texts.COST, texts.SOURCE)
    words = (texts.STANDING, texts.STANDING_UNITS, standing_sentence(known))
    return shown("patterns-standing", drawn, words, columns, rows, height=22 * len(rungs) + 32)


def standing_sentence(known: Mapping[str, Facts]) -> Text:
    """What each model costs, what the strided pattern costs against dense attention, and what the paper found."""
    each = [filled(texts.RUNG_VALUE, name=texts.NAMES[variant], value=f"{one['value']:.1f}") for variant, one in known.items()]
    said = [strung([strung(each, "; ", "；"), {"en": ".", "zh": "。"}], "", "")]
    if {"strided", "dense"} <= known.keys():
        gap = float(known["strided"]["value"]) - float(known["dense"]["value"])
        said.append(filled(texts.BEHIND if gap > 0 else texts.AHEAD, gap=f"{abs(gap):.1f}", share=f"{100 * share('strided'):.0f}"))
    if {"strided", "fixed"} <= known.keys():
        gap = float(known["fixed"]["value"]) - float(known["strided"]["value"])
        said.append(filled(texts.FIXED_MORE if gap > 0 else texts.FIXED_LESS, gap=f"{abs(gap):.2f}"))
    return joined(*said, about.order_of(SLUG, known), texts.IN_PRINT) or texts.IN_PRINT


def block_gaps() -> dict[str, str]:
    """What the fixed pattern costs more than the strided one in the first quarter of a block of text, in its middle and in the last; {}
    before both were measured."""
    known = {variant: one["by_block"] for variant, one in measured("text").items() if "by_block" in one}
    if not {"text_fixed", "text_strided"} <= known.keys():
        return {}
    fixed, strided = (known[name]["quarters"] for name in ("text_fixed", "text_strided"))
    first, second, third, last = (one - other for one, other in zip(fixed, strided, strict=True))
    gaps = {"first": first, "middle": (second + third) / 2, "last": last}
    return {"block": str(known["text_fixed"]["block"]), **{name: f"{gap:.3f}".replace("-", "−") for name, gap in gaps.items()}}


def on_text() -> dict[str, object] | None:
    """Bits per character of both patterns on books; None before both were measured."""
    known = measured("text")
    if len(known) < 2:
        return None
    best, worst = known
    rungs = [(texts.NAMES[variant], float(one["value"])) for variant, one in known.items()]
    gap = float(known[worst]["value"]) - float(known[best]["value"])
    said = filled(texts.TEXT_SAYS if best == "text_fixed" else texts.TEXT_OTHER, best=texts.MODELS[best], gap=f"{gap:.3f}")
    says = joined(said, about.order_of(SLUG, known), about.read(known, texts.MODELS)) or said
    drawn = drawing.ladder([drawing.Rung(name, value, "ours") for name, value in rungs], tick=0.5)
    words, columns = (texts.TEXT_STANDING, texts.TEXT_UNITS, says), (texts.WAY, texts.BITS)
    return shown("patterns-on-text", drawn, words, columns, rungs, height=22 * len(rungs) + 32)


# ---- what it saves -----------------------------------------------------------------------------------------------------------------


def speed() -> dict[str, object] | None:
    """What one layer takes with each pattern, as `python -m benchmarks sparse_attention` measured it; None before."""
    ways = {key: (texts.WAYS[key], key in {"strided", "fixed"}) for key in ("strided", "fixed", "dense", "strided_masked", "fixed_masked")}

    def says(figures: Mapping[str, float]) -> dict[str, str]:
        told = {name: f"{figures[f'{name}_vs_dense_ratio']:.1f}" for name in ("strided", "fixed")}
        return {**told, "masked": f"{figures['strided_vs_masked_ratio']:.0f}", "growth": f"{figures['growth_exponent']:.2f}"}

    return about.speed("sparse-speed", "sparse_attention", ways, texts, says, 190)


# ---- training ----------------------------------------------------------------------------------------------------------------------


def curves() -> dict[str, object] | None:
    """Held-out nats over training of the models of digits, or None where no log is shipped. Slow at first."""
    how: Any = {"unequal": (texts.CURVE_UNEQUAL, texts.AFTER), "show": lambda nats: f"{nats:.1f}", "joint": ("; ", "；")}
    return about.curves(SLUG, facts(), texts.NAMES, {variant: COLOURS[variant] for variant in MODELS["digit"]}, texts, **how)
