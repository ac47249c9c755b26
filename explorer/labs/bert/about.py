"""The facts beside the mechanism: figures from each model.json, the findings in the heads, the
training curve. Every number is read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer.components.card import TitleFigure
from explorer.contract import labels
from explorer.contract.control_kinds import Value
from explorer.contract.labels import Text, fill_text
from explorer.labs.bert import texts
from explorer.page import card_facts
from explorer.panels.label_curve import draw_label_curve

SLUG = "bert"
VARIANTS = ("mlm", "minilm")


def facts() -> dict[str, dict[str, Any]]:
    """Return the model.json of each shipped variant, by variant; variants that are not shipped are
    missing."""
    return card_facts.read_models(SLUG, VARIANTS)


@dataclass(frozen=True)
class Found:
    """A finding in a head of MiniLM.

    head: "3.5", from 1. test: for a relation, how often it is right; for a pattern, its mean
    weight. offset: the best fixed distance for a relation, and offset_test: how often that is
    right; both are None for a pattern."""

    key: str
    name: Text
    head: str
    test: float
    offset: int | None = None
    offset_test: float | None = None

    @property
    def points_ahead(self) -> int | None:
        """The lead of the head over the fixed distance in points of a hundred, as both figures are
        printed."""
        return (
            None
            if self.offset_test is None
            else round(100 * self.test) - round(100 * self.offset_test)
        )


def list_found() -> list[Found]:
    """Return the findings in MiniLM's heads, patterns first."""
    known = facts().get("minilm", {})

    def of(key: str, name: Text, one: Mapping[str, Any]) -> Found:
        return Found(
            key,
            name,
            f"{one['layer'] + 1}.{one['head'] + 1}",
            one["test"],
            one.get("distance"),
            one.get("distance_test"),
        )

    patterns = [
        of(one["pattern"], texts.PATTERN[one["pattern"]], one) for one in known.get("patterns", ())
    ]
    relations = []
    for one in known.get("relations", ()):
        a, b = texts.RELATION[one["relation"]][:: 1 if one["way"] == "governor" else -1]
        relations.append(of(one["relation"], fill_text(texts.TO, a=a, b=b), one))
    return [*patterns, *sorted(relations, key=lambda one: -(one.points_ahead or 0))]


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: size, data, the share of hidden words found,
    training time."""
    known = facts()
    own = {variant: one for variant, one in known.items() if variant == "mlm"}
    figure = own.get("mlm", {}).get("figure")
    reached: list[TitleFigure] = []
    if figure:
        said = {name: f"{value:.2f}" for name, value in figure.items() if isinstance(value, float)}
        note, why = fill_text(texts.CAPTIONS, **said), fill_text(texts.COUNTING, **said)
        reached.append(
            TitleFigure(
                fill_text(texts.METRIC, split=labels.name_split(figure["split"])),
                said["value"],
                note,
                why,
            )
        )
    beside = (
        fill_text(texts.OF_MINILM, size=f"{known['minilm']['parameters'] / 1e6:.1f}")
        if "minilm" in known
        else ""
    )
    return card_facts.pairs(own, TitleFigure(labels.CARD["data"], texts.DATA), reached, beside)


def curves() -> dict[str, object] | None:
    """Draw the held-out loss over training; None where no log is shipped. The first call is slow:
    it imports Plotly."""
    return card_facts.curves(
        SLUG, facts(), texts.NAMES, {"mlm": "var(--cat-1)"}, texts, per_step=lambda _: 1
    )


def draw_judging() -> Value | None:
    """Draw film reviews judged after fine-tuning, beside the language model, which reads the left
    side alone; None before it was trained."""
    return draw_label_curve(SLUG, texts.BOTH, {"language_model": texts.LEFT})
