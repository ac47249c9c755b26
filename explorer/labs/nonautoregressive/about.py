"""What stands beside the mechanism: figures from each model.json, quality against time, the training curves. Nothing is typed here."""

from __future__ import annotations

from collections.abc import Mapping
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

NOTHING = {"en": "", "zh": ""}


def there() -> tuple[str, ...]:
    """The networks that are shipped; the first where none is. Their files are not read: one that is damaged closes the page, no more."""
    return tuple(variant for variant in VARIANTS if (about.ASSETS / SLUG / variant / "model.json").exists()) or VARIANTS[:1]


def facts() -> dict[str, dict[str, Any]]:
    """What each shipped variant's model.json says, by variant; those that are not shipped are missing."""
    return about.models(SLUG, (*VARIANTS, GREEDY))


def measured() -> dict[str, Mapping[str, Any]]:
    """The figures of those that were measured."""
    return {variant: one["figure"] for variant, one in facts().items() if one.get("figure")}


def pairs() -> tuple[Pair, ...]:
    """The four figures of the title row: size, data, what is reached, training time."""
    known, found = facts(), measured()
    reached: list[Pair] = []
    for variant, figure in list(found.items())[:1]:
        note = filled(texts.AT, times=figure["times"])
        if GREEDY in found and variant != GREEDY:
            note = filled(texts.BESIDE, times=figure["times"], greedy=f"{found[GREEDY]['value']:.1f}")
        printed = known[variant].get("published")
        why = about.published(figure, printed)[1] if printed else None
        reached.append(Pair(metric(figure), f"{figure['value']:.1f}", note, why))
    return about.pairs(known, Pair(labels.CARD["data"], "Multi30k", "en→de"), reached, texts.EACH_MODEL)


def prose() -> dict[str, str]:
    """The model card in each language; empty where none is shipped. Entries are named by variant: {cmlm_distilled.figure.value}."""
    return about.prose(SLUG, facts(), transformer=about.facts("translation"))


def quality(variant: str = VARIANTS[0], passes: int = 0) -> dict[str, object] | None:
    """Quality against time; None before it was measured. variant, passes: of the run in view, whose place is named."""
    found = measured()
    rows = {name: figure["by_times"] for name, figure in found.items() if figure.get("by_times")}
    greedy = found.get(GREEDY)
    if not rows or variant not in rows:
        return None
    n = found[variant]["n"]
    lines = [
        Curve(texts.BRIEF[name], [_ms(one, n) for one in by], [float(one["value"]) for one in by], COLOURS[name], symbol=SYMBOLS[name])
        for name, by in rows.items()
    ]
    if greedy:
        timed = "seconds" in greedy
        place = [_ms(greedy, n)] if timed else [0.0]
        lines.append(Curve(texts.BRIEF[GREEDY], place, [float(greedy["value"])], COLOURS[GREEDY], level=not timed, symbol=SYMBOLS[GREEDY]))
    own = rows[variant]
    (least, a), (most, b) = ((one["times"], f"{one['value']:.1f}") for one in (own[0], own[-1]))
    here = next((one for one in own if one["times"] == passes), None)
    says = filled(
        texts.QUALITY_SAYS,
        name=texts.BRIEF[variant],
        least=least,
        a=a,
        most=most,
        b=b,
        greedy=filled(texts.GREEDY_HAS, value=f"{greedy['value']:.1f}") if greedy else NOTHING,
        here=filled(texts.HERE, times=passes, value=f"{here['value']:.1f}") if here and passes not in {least, most} else NOTHING,
    )
    table: list[tuple[Any, ...]] = [
        (texts.BRIEF[name], one["times"], round(_ms(one, n), 2), one["value"], one["repeat_rate"], one["length_exact"])
        for name, by in rows.items()
        for one in by
    ]
    if greedy:
        table.append((texts.BRIEF[GREEDY], None, round(_ms(greedy, n), 2) if "seconds" in greedy else None, greedy["value"], None, None))
    words = (texts.QUALITY, filled(texts.QUALITY_UNITS, n=f"{n:,}"), says)
    return lined("quality-against-time", lines, texts.QUALITY_AXES, words, texts.QUALITY_COLUMNS, table, height=220)


def _ms(one: Mapping[str, Any], sentences: int) -> float:
    """Milliseconds a sentence."""
    return 1000 * float(one["seconds"]) / sentences


def curves() -> dict[str, object] | None:
    """Held-out loss over training; None where no log is shipped. Slow at first: it imports Plotly."""
    lines = {variant: (texts.BRIEF[variant], COLOURS[variant]) for variant in (*VARIANTS, GREEDY)}
    return about.curves(SLUG, facts(), lines, texts)
