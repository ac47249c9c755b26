"""The facts beside the lab's mechanism: figures from each model.json, measurements on the held-out
book, the training curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.components.card import TitleFigure
from explorer.contract import labels
from explorer.contract.labels import fill_text
from explorer.figures.curves import Curve, Place
from explorer.labs.transformer_xl import texts
from explorer.page import card_facts
from explorer.page.curves import draw_curve_figure
from models.transformer_xl.records import MODELS, ladder

SLUG = "transformer_xl"
COLOURS = {"xl": "var(--cat-1)", "absolute": "var(--cat-2)"}

Facts = Mapping[str, Any]


def facts() -> dict[str, dict[str, Any]]:
    """Return the model.json of each shipped variant, by variant; variants that are not shipped are
    missing."""
    return card_facts.read_models(SLUG, MODELS)


def count_layers() -> int:
    """Return the number of layers of the networks; 0 where none is shipped."""
    return max((int(one["config"]["n_layers"]) for one in facts().values()), default=0)


def find_unusual_bound() -> float | None:
    """Return the bits per character that 99 of 100 pages of the held-out book stay below; None
    before that was measured."""
    found = ladder()
    limit = (found or {}).get("pages", {}).get("p99")
    return None if limit is None else float(limit)


# ---- the card


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: size, data, the held-out figure beside those of the
    other models and the published one, training time."""
    known, data = facts(), TitleFigure(labels.CARD["data"], texts.DATA, texts.BOOKS)
    return card_facts.pairs(
        known,
        data,
        card_facts.compare_with_published(known, texts.METRIC, texts.RUNG_VALUE, texts.BRIEF),
    )


def prose() -> dict[str, str]:
    """Return the model card in each language; empty where none is shipped. Entries are named by
    variant: {xl.figure.value}."""
    measured = ladder() or {}
    by_memory = {f"m{one['memory']}": one["value"] for one in measured.get("by_memory", [])}
    lengths = {f"r{round(100 * one['r'])}": one for one in measured.get("effective_lengths", [])}
    places = measured.get("contexts", {}).get("n")
    return card_facts.prose(SLUG, facts(), memory=by_memory, recl=lengths, places=places)


# ---- the wave of loss at a border


def draw_border_loss() -> dict[str, object] | None:
    """Draw the loss around the border of a segment, on the held-out book; None before it was
    measured."""
    measured = ladder()
    if measured is None:
        return None
    segment, bits = int(measured["by_place"]["segment"]), measured["by_place"]["bits"]
    parts = len(bits["xl"])
    before = parts // 2  # parts of the segment before the border that are drawn
    places = [(i + 0.5) * segment / parts for i in range(-before, parts)]
    colours = {"xl": "var(--cat-1)", "none": "var(--cat-3)", "absolute": "var(--cat-2)"}
    drawn = [
        Curve(texts.PLACES[name], places, [*bits[name][-before:], *bits[name]], colours[name])
        for name in colours
        if name in bits
    ]
    edges = [round(i * segment / parts) for i in range(parts + 1)]
    ticks = tuple(range(-segment // 2, segment + 1, segment // 4))
    numbers = {
        "near": bits["xl"][0],
        "cut": bits["none"][0],
        "far": bits["xl"][-1],
        "far_cut": bits["none"][-1],
    }
    words = (
        texts.PLACE,
        texts.PLACE_UNITS,
        fill_text(texts.PLACE_SAYS, **{name: f"{value:.2f}" for name, value in numbers.items()}),
    )
    columns = (texts.FROM_PLACE, texts.TO_PLACE, *(line.name for line in drawn))
    rows = [
        (edges[i] + 1, edges[i + 1], *(line.y[before + i] for line in drawn)) for i in range(parts)
    ]
    mark = Place(0, text=texts.BORDER)
    return draw_curve_figure(
        "loss-at-the-border",
        drawn,
        texts.PLACE_AXES,
        words,
        columns,
        rows,
        mark=mark,
        ticks=ticks,
        height=340,
    )


# ---- evaluation speed


def draw_speed() -> dict[str, object] | None:
    """Draw the cost of a character by state reuse and by a sliding window, as `python -m benchmarks
    xl_evaluation` measured it; None before."""

    def says(figures: Mapping[str, float]) -> dict[str, str]:
        return {
            "ratio": f"{figures['vs_sliding_window_ratio']:,.0f}",
            "reuse": f"{figures['state_reuse_ms']:.2f}",
            "sliding": f"{figures['sliding_window_ms']:,.0f}",
            "difference": f"{figures['max_difference']:.0e}",
        }

    ways = {"state_reuse": (texts.REUSE, True), "sliding_window": (texts.SLIDING, False)}
    return card_facts.draw_speed("evaluation-speed", "xl_evaluation", ways, texts, says, 120)


# ---- training


def curves() -> dict[str, object] | None:
    """Draw the held-out loss of both models over training, or None where no log is shipped. The
    first call is slow."""
    seen: Any = {
        "per_step": lambda known: (
            known["recipe"]["lanes"]
            * known["recipe"]["segments"]
            * known["config"]["segment"]
            / 1e6
        )
    }
    return card_facts.curves(SLUG, facts(), texts.NAMES, COLOURS, texts, **seen)
