"""What stands beside the mechanism: figures from each model.json, BLEU by length, the training curves. Nothing is typed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer import labels
from explorer.figures.curves import Curve, Place
from explorer.labels import filled
from explorer.labs import about
from explorer.labs.lined import lined
from explorer.labs.rnn_attention import texts
from explorer.labs.translated import metric
from explorer.widgets.card import Pair
from models.rnn_attention.records import VARIANTS

SLUG = "rnn_attention"
COLOURS = dict(zip(VARIANTS, ("var(--cat-1)", "var(--cat-3)", "var(--cat-6)", "var(--cat-2)"), strict=True))


def facts() -> dict[str, dict[str, Any]]:
    """What each shipped variant's model.json says, by variant; those that are not shipped are missing."""
    return about.models(SLUG, VARIANTS)


def pairs() -> tuple[Pair, ...]:
    """The four figures of the title row: size, data, what is reached with attention and without, training time."""
    known = facts()
    if not known:
        return ()
    return (
        Pair(labels.CARD["parameters"], f"{max(one['parameters'] for one in known.values()) / 1e6:.1f} M", texts.EACH_MODEL),
        Pair(labels.CARD["data"], "Multi30k", "en→de"),
        *_reached(about.measured(known)),
        about.trained(*known.values()),
    )


def _reached(found: Mapping[str, Mapping[str, Any]]) -> tuple[Pair, ...]:
    with_weights = [float(one["value"]) for variant, one in found.items() if variant != "none"]
    if not with_weights or "none" not in found:
        return ()
    one = found["none"]
    value = filled(texts.BEST, best=f"{max(with_weights):.1f}", none=f"{one['value']:.1f}")
    return (Pair(metric(one), value, "", texts.UNPUBLISHED),)


def prose() -> dict[str, str]:
    """The model card in each language; empty where none is shipped. Entries are named by variant: {additive.figure.value}."""
    return about.prose(SLUG, facts(), transformer=about.facts("translation"))


# ---- BLEU by length ----------------------------------------------------------------------------------------------------------------


def quality(pieces: int = 0) -> dict[str, object] | None:
    """BLEU by the length of the English sentence; None before it was measured. pieces: of the sentence in view, whose group is marked."""
    found = about.measured(facts())
    attending = {variant: one for variant, one in found.items() if variant != "none"}
    if not attending or "none" not in found:
        return None
    none, groups = found["none"], found["none"]["bleu_by_length"]
    places = [f"{one['least']}–{one['most']}" if one["most"] else f"> {one['least'] - 1}" for one in groups]
    mark = next((i for i, one in enumerate(groups) if one["least"] <= pieces <= (one["most"] or pieces)), None)
    best = max(attending, key=lambda variant: float(attending[variant]["value"]))
    curve = {variant: [float(group["value"]) for group in one["bleu_by_length"]] for variant, one in found.items()}
    at = range(len(places))
    drawn = [Curve(texts.VARIANTS[variant], at, values, COLOURS[variant]) for variant, values in curve.items()]
    yours = None if mark is None else Place(mark - 0.3, mark + 0.3, yours=True)
    n, split = f"{none['n']:,}", labels.split(none["split"].removesuffix("_flickr"))
    a, b, c, d = (f"{curve[variant][at]:.1f}" for variant in (best, "none") for at in (0, -1))
    transformer = f"{about.facts('translation').get('figure', {}).get('value', float('nan')):.1f}"
    order = _order(found, best)
    says = filled(texts.QUALITY_SAYS, best=texts.VARIANTS[best], a=a, b=b, c=c, d=d, order=order, transformer=transformer)
    table = [
        (place, group["n"], *(curve[variant][i] for variant in found)) for i, (place, group) in enumerate(zip(places, groups, strict=True))
    ]
    rows = [*table, (texts.ALL, none["n"], *(float(one["value"]) for one in found.values()))]
    words = (texts.QUALITY, filled(texts.QUALITY_UNITS, n=n, split=split), says)
    columns = (texts.LENGTH, texts.SENTENCES, *(one.name for one in drawn))
    return lined("bleu-by-length", drawn, texts.QUALITY_AXES, words, columns, rows, ticks=at, names=places, up="zero", mark=yours)


def _order(found: Mapping[str, Mapping[str, Any]], best: str) -> Mapping[str, str]:
    """The two best models with attention, or all of them and the one without, only where the bootstrap tells them apart."""
    one, other = found[best], found["none"]
    p = next((pair["p"] for here, there in ((one, "none"), (other, best)) if (pair := here.get("paired", {}).get(there))), 1.0)
    said = {"one": texts.VARIANTS[best], "other": texts.VARIANTS["none"], "x": f"{one['value']:.1f}", "y": f"{other['value']:.1f}"}
    return filled(texts.APART if p < 0.05 else texts.TOO_NEAR, p=f"{p:.3f}", **said)


# ---- training ----------------------------------------------------------------------------------------------------------------------


def curves() -> dict[str, object] | None:
    """Held-out loss over training, all four; None where no log is shipped. Slow at first: it imports Plotly."""
    return about.curves(SLUG, facts(), texts.VARIANTS, COLOURS, texts)
