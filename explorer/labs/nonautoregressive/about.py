"""What stands beside the mechanism: figures from each model.json, quality against time, the training curves. Nothing is typed here."""

from __future__ import annotations

from typing import Any

from explorer import labels
from explorer.figures.curves import Curve
from explorer.labels import filled
from explorer.labs import about
from explorer.labs.lined import lined
from explorer.labs.nonautoregressive import texts
from explorer.labs.translated import metric
from explorer.widgets.card import Pair
from models.nonautoregressive.records import VARIANTS

SLUG = "nonautoregressive"
GREEDY = "ar_distilled"  # the network that is given the same data, and writes one piece after the other
COLOURS = {variant: f"var(--cat-{n})" for n, variant in enumerate((*VARIANTS, GREEDY), 1)}
SYMBOLS = dict(zip((*VARIANTS, GREEDY), ("circle", "square", "triangle-up", "diamond"), strict=True))


def there() -> tuple[str, ...]:
    """The networks that are shipped; the first where none is. Their files are not read: one that is damaged closes the page, no more."""
    return tuple(variant for variant in VARIANTS if (about.ASSETS / SLUG / variant / "model.json").exists()) or VARIANTS[:1]


def facts() -> dict[str, dict[str, Any]]:
    """What each shipped variant's model.json says, by variant; those that are not shipped are missing."""
    return about.models(SLUG, (*VARIANTS, GREEDY))


def pairs() -> tuple[Pair, ...]:
    """The four figures of the title row: size, data, what is reached, training time."""
    known = facts()
    found = about.measured(known)
    greedy = found.pop(GREEDY, None)
    beside = filled(texts.BESIDE, greedy=f"{greedy['value']:.1f}") if greedy else texts.AT
    reached = [
        Pair(metric(one), f"{one['value']:.1f}", filled(beside, times=one["times"], lengths=one["lengths"])) for one in found.values()
    ]
    return about.pairs(known, Pair(labels.CARD["data"], "Multi30k", "en→de"), reached[:1], texts.EACH_MODEL)


def prose() -> dict[str, str]:
    """The model card in each language; empty where none is shipped. Entries are named by variant: {cmlm_distilled.figure.value}."""
    return about.prose(SLUG, facts(), transformer=about.facts("translation"))


def quality(variant: str = VARIANTS[0], passes: int = 0) -> dict[str, object] | None:
    """Quality against time; None before it was measured. variant, passes: of the run in view, whose place is named. Greedy decoding, which
    is measured without a clock, is a level."""
    found = about.measured(facts())
    rows = {name: figure["by_times"] for name, figure in found.items() if name != GREEDY}
    if variant not in rows:
        return None
    n, greedy = found[variant]["n"], found.get(GREEDY)
    lines, table = [], []
    for name, by in rows.items():
        each = [1000 * float(one["seconds"]) / n for one in by]  # ms of a sentence
        lines.append(Curve(texts.BRIEF[name], each, [float(one["value"]) for one in by], COLOURS[name], symbol=SYMBOLS[name]))
        told = (tuple(one[key] for key in ("value", "repeat_rate", "length_exact")) for one in by)
        table += [(texts.BRIEF[name], one["times"], round(ms, 2), *more) for one, ms, more in zip(by, each, told, strict=True)]
    reached = {one["times"]: f"{one['value']:.1f}" for one in rows[variant]}
    (least, a), *between, (most, b) = reached.items()
    says = [filled(texts.QUALITY_SAYS, name=texts.BRIEF[variant], least=least, a=a, most=most, b=b)]
    if passes in dict(between):
        says.append(filled(texts.HERE, times=passes, value=reached[passes]))
    if greedy:
        lines.append(Curve(texts.BRIEF[GREEDY], [0.0], [float(greedy["value"])], COLOURS[GREEDY], level=True))
        table.append((texts.BRIEF[GREEDY], None, None, greedy["value"], None, None))
        says.append(filled(texts.GREEDY_HAS, value=f"{greedy['value']:.1f}"))
    words = (texts.QUALITY, filled(texts.QUALITY_UNITS, n=f"{n:,}"), labels.joined(*says) or says[0])
    return lined("quality-against-time", lines, texts.QUALITY_AXES, words, texts.QUALITY_COLUMNS, table, height=220)


def curves() -> dict[str, object] | None:
    """Held-out loss over training; None where no log is shipped. Slow at first: it imports Plotly."""
    lines = {variant: (texts.BRIEF[variant], COLOURS[variant]) for variant in (*VARIANTS, GREEDY)}
    return about.curves(SLUG, facts(), lines, texts)
