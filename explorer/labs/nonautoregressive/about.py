"""The facts beside the mechanism: figures from each model.json, quality against time, the training
curves. Every number is read from a file."""

from __future__ import annotations

from typing import Any

from explorer.components.card import TitleFigure
from explorer.contract.labels import CARD, fill_text, join_sentences
from explorer.figures.curves import Curve
from explorer.labs.nonautoregressive import texts
from explorer.page import card_facts
from explorer.page.curves import draw_curve_figure
from explorer.panels.translation import name_metric
from models.nonautoregressive.records import GREEDY, VARIANTS

SLUG = "nonautoregressive"
COLOURS = {variant: f"var(--cat-{n})" for n, variant in enumerate((*VARIANTS, GREEDY), 1)}
SYMBOLS = dict(
    zip((*VARIANTS, GREEDY), ("circle", "square", "triangle-up", "diamond"), strict=True)
)


def facts() -> dict[str, dict[str, Any]]:
    """Return the model.json of each network, by variant; none where none is shipped."""
    return card_facts.read_models(SLUG, (*VARIANTS, GREEDY))


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: size, data, quality, training time."""
    known = facts()
    if not known:
        return ()
    ours, greedy = (known[variant]["figure"] for variant in (VARIANTS[0], GREEDY))
    how = fill_text(
        texts.BESIDE, times=ours["times"], lengths=ours["lengths"], greedy=f"{greedy['value']:.1f}"
    )
    reached = TitleFigure(name_metric(ours), f"{ours['value']:.1f}", how)
    return card_facts.pairs(
        known, TitleFigure(CARD["data"], "Multi30k", "en→de"), (reached,), texts.EACH_MODEL
    )


def prose() -> dict[str, str]:
    """Return the model card in each language; empty where none is shipped. Entries are named by
    variant: {cmlm_distilled.figure.value}."""
    return card_facts.prose(SLUG, facts(), transformer=card_facts.facts("translation"))


def draw_quality(variant: str = VARIANTS[0], passes: int = 0) -> dict[str, object] | None:
    """Draw quality against time; None where no network is shipped. variant, passes: of the run in
    view, whose place is named. Greedy decoding, which is measured without a clock, is a level."""
    found = card_facts.select_measured(facts())
    if not found:
        return None
    greedy, n = found.pop(GREEDY)["value"], found[variant]["n"]
    rows = {name: figure["by_times"] for name, figure in found.items()}
    lines, table = [], []
    for name, by in rows.items():
        each = [1000 * float(one["seconds"]) / n for one in by]  # milliseconds of a sentence
        lines.append(
            Curve(
                texts.BRIEF[name],
                each,
                [float(one["value"]) for one in by],
                COLOURS[name],
                symbol=SYMBOLS[name],
            )
        )
        told = (tuple(one[key] for key in ("value", "repeat_rate", "length_exact")) for one in by)
        table += [
            (texts.BRIEF[name], one["times"], round(ms, 2), *more)
            for one, ms, more in zip(by, each, told, strict=True)
        ]
    reached = {one["times"]: f"{one['value']:.1f}" for one in rows[variant]}
    (least, a), *between, (most, b) = reached.items()
    says = fill_text(
        texts.QUALITY_SAYS, name=texts.BRIEF[variant], least=least, a=a, most=most, b=b
    )
    here = (
        fill_text(texts.HERE, times=passes, value=reached[passes])
        if passes in dict(between)
        else None
    )
    level = fill_text(texts.GREEDY_HAS, value=f"{greedy:.1f}")
    lines.append(Curve(texts.BRIEF[GREEDY], [0.0], [float(greedy)], COLOURS[GREEDY], level=True))
    table.append((texts.BRIEF[GREEDY], None, None, greedy, None, None))
    words = (
        texts.QUALITY,
        fill_text(texts.QUALITY_UNITS, n=f"{n:,}"),
        join_sentences(says, here, level) or says,
    )
    return draw_curve_figure(
        "quality-against-time",
        lines,
        texts.QUALITY_AXES,
        words,
        texts.QUALITY_COLUMNS,
        table,
        height=220,
    )


def curves() -> dict[str, object] | None:
    """Draw the held-out loss over training; None where no log is shipped. The first call is slow:
    it imports Plotly."""
    return card_facts.curves(SLUG, facts(), texts.BRIEF, COLOURS, texts)
