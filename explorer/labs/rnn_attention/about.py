"""The facts beside the mechanism: figures from each model.json, BLEU by length, the training
curves. Every number is read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.components.card import TitleFigure
from explorer.contract import labels
from explorer.contract.labels import Text, fill_text
from explorer.figures.curves import Curve, Place
from explorer.labs.rnn_attention import texts
from explorer.page import card_facts
from explorer.page.curves import draw_curve_figure
from explorer.panels.translation import name_metric
from models.rnn_attention.records import NETWORKS, UNSCALED

SLUG = "rnn_attention"
COLOURS = {
    "additive": "var(--cat-1)",
    "dot": "var(--cat-3)",
    "general": "var(--cat-6)",
    f"dot{UNSCALED}": "var(--cat-4)",
    f"general{UNSCALED}": "var(--cat-7)",
    "none": "var(--cat-2)",
}


def facts() -> dict[str, dict[str, Any]]:
    """Return the model.json of each shipped network, by name; networks that are not shipped are
    missing."""
    return card_facts.read_models(SLUG, NETWORKS)


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: size, data, BLEU with attention and without,
    training time."""
    known = facts()
    if not known:
        return ()
    return (
        TitleFigure(
            labels.CARD["parameters"],
            f"{max(one['parameters'] for one in known.values()) / 1e6:.1f} M",
            texts.EACH_MODEL,
        ),
        TitleFigure(labels.CARD["data"], "Multi30k", "en→de"),
        *_describe_figures(card_facts.select_measured(known)),
        card_facts.describe_training_time(*known.values()),
    )


def _describe_figures(found: Mapping[str, Mapping[str, Any]]) -> tuple[TitleFigure, ...]:
    with_weights = [float(one["value"]) for variant, one in found.items() if variant != "none"]
    if not with_weights or "none" not in found:
        return ()
    one = found["none"]
    value = fill_text(texts.BEST, best=f"{max(with_weights):.1f}", none=f"{one['value']:.1f}")
    return (TitleFigure(name_metric(one), value, "", texts.UNPUBLISHED),)


def prose() -> dict[str, str]:
    """Return the model card in each language; empty where none is shipped. Entries are named by
    variant: {additive.figure.value}."""
    return card_facts.prose(SLUG, facts(), transformer=card_facts.facts("translation"))


# ---- BLEU by length


def draw_quality(pieces: int = 0) -> dict[str, object] | None:
    """Draw BLEU by the length of the English sentence; None before it was measured. pieces: of the
    sentence in view, whose group is marked."""
    found = card_facts.select_measured(facts())
    attending = {variant: one for variant, one in found.items() if variant != "none"}
    if not attending or "none" not in found:
        return None
    none, groups = found["none"], found["none"]["bleu_by_length"]
    places = [
        f"{one['least']}–{one['most']}" if one["most"] else f"> {one['least'] - 1}"
        for one in groups
    ]
    mark = next(
        (i for i, one in enumerate(groups) if one["least"] <= pieces <= (one["most"] or pieces)),
        None,
    )
    best = max(attending, key=lambda variant: float(attending[variant]["value"]))
    curve = {
        variant: [float(group["value"]) for group in one["bleu_by_length"]]
        for variant, one in found.items()
    }
    at = range(len(places))
    drawn = [
        Curve(texts.NETWORKS[variant], at, values, COLOURS[variant])
        for variant, values in curve.items()
    ]
    yours = None if mark is None else Place(mark - 0.3, mark + 0.3, yours=True)
    n, split = f"{none['n']:,}", labels.name_split(none["split"].removesuffix("_flickr"))
    a, b, c, d = (f"{curve[variant][at]:.1f}" for variant in (best, "none") for at in (0, -1))
    transformer = (
        f"{card_facts.facts('translation').get('figure', {}).get('value', float('nan')):.1f}"
    )
    order = _describe_order(found, best)
    says = fill_text(
        texts.QUALITY_SAYS,
        best=texts.NETWORKS[best],
        a=a,
        b=b,
        c=c,
        d=d,
        order=order,
        transformer=transformer,
    )
    table = [
        (place, group["n"], *(curve[variant][i] for variant in found))
        for i, (place, group) in enumerate(zip(places, groups, strict=True))
    ]
    rows = [*table, (texts.ALL, none["n"], *(float(one["value"]) for one in found.values()))]
    words = (texts.QUALITY, fill_text(texts.QUALITY_UNITS, n=n, split=split), says)
    columns = (texts.LENGTH, texts.SENTENCES, *(one.name for one in drawn))
    return draw_curve_figure(
        "bleu-by-length",
        drawn,
        texts.QUALITY_AXES,
        words,
        columns,
        rows,
        ticks=at,
        names=places,
        up="zero",
        mark=yours,
    )


def _describe_order(found: Mapping[str, Mapping[str, Any]], best: str) -> Mapping[str, str]:
    """Describe the best model with attention against the one without; an order is claimed only
    where the bootstrap tells them apart."""
    one, other = found[best], found["none"]
    p = next(
        (
            pair["p"]
            for here, there in ((one, "none"), (other, best))
            if (pair := here.get("paired", {}).get(there))
        ),
        1.0,
    )
    said = {
        "one": texts.NETWORKS[best],
        "other": texts.NETWORKS["none"],
        "x": f"{one['value']:.1f}",
        "y": f"{other['value']:.1f}",
    }
    return fill_text(texts.APART if p < 0.05 else texts.TOO_NEAR, p=f"{p:.3f}", **said)


def describe_bleu(networks: tuple[str, str]) -> Text:
    """Say the BLEU of a network that divides and of one that does not; nothing where one was not
    measured."""
    found = card_facts.select_measured(facts())
    if not all(name in found for name in networks):
        return {"en": "", "zh": ""}
    (x, y), one = (f"{found[name]['value']:.1f}" for name in networks), found[networks[0]]
    split = labels.name_split(one["split"].removesuffix("_flickr"))
    return fill_text(texts.SCALE_FIGURES, n=f"{one['n']:,}", split=split, x=x, y=y)


# ---- training


def curves() -> dict[str, object] | None:
    """Draw the held-out loss over training, of all networks; None where no log is shipped. The
    first call is slow: it imports Plotly."""
    return card_facts.curves(SLUG, facts(), texts.NETWORKS, COLOURS, texts)
