"""What stands beside the mechanism: figures from each model.json, the heads that were found, the training curve. Nothing is typed here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer import labels
from explorer.controls import Value
from explorer.labels import Text, filled
from explorer.labs import about
from explorer.labs.bert import texts
from explorer.labs.labelled import labelled
from explorer.widgets.card import Pair

SLUG = "bert"
VARIANTS = ("mlm", "minilm")


def facts() -> dict[str, dict[str, Any]]:
    """What each shipped variant's model.json says, by variant; those that are not shipped are missing."""
    return about.models(SLUG, VARIANTS)


@dataclass(frozen=True)
class Found:
    """What a head of MiniLM finds. head: "3.5", from 1. test: how often, or with which mean weight; of a relation, offset: the best fixed
    distance, and offset_test: how often that is right; None of a pattern."""

    key: str
    name: Text
    head: str
    test: float
    offset: int | None = None
    offset_test: float | None = None

    @property
    def points(self) -> int | None:
        """By how many points of a hundred, as both figures are printed, the head is ahead of the fixed distance."""
        return None if self.offset_test is None else round(100 * self.test) - round(100 * self.offset_test)


def found() -> list[Found]:
    """What was found in MiniLM's heads, patterns first."""
    known = facts().get("minilm", {})

    def of(key: str, name: Text, one: Mapping[str, Any]) -> Found:
        return Found(key, name, f"{one['layer'] + 1}.{one['head'] + 1}", one["test"], one.get("distance"), one.get("distance_test"))

    patterns = [of(one["pattern"], texts.PATTERN[one["pattern"]], one) for one in known.get("patterns", ())]
    relations = []
    for one in known.get("relations", ()):
        a, b = texts.RELATION[one["relation"]][:: 1 if one["way"] == "governor" else -1]
        relations.append(of(one["relation"], filled(texts.TO, a=a, b=b), one))
    return [*patterns, *sorted(relations, key=lambda one: -(one.points or 0))]


def pairs() -> tuple[Pair, ...]:
    """The four figures of the title row: size, data, hidden words that are found, training time."""
    known = facts()
    own = {variant: one for variant, one in known.items() if variant == "mlm"}
    figure = own.get("mlm", {}).get("figure")
    reached: list[Pair] = []
    if figure:
        said = {name: f"{value:.2f}" for name, value in figure.items() if isinstance(value, float)}
        note, why = filled(texts.CAPTIONS, **said), filled(texts.COUNTING, **said)
        reached.append(Pair(filled(texts.METRIC, split=labels.split(figure["split"])), said["value"], note, why))
    beside = filled(texts.OF_MINILM, size=f"{known['minilm']['parameters'] / 1e6:.1f}") if "minilm" in known else ""
    return about.pairs(own, Pair(labels.CARD["data"], texts.DATA), reached, beside)


def curves() -> dict[str, object] | None:
    """Held-out loss over training; None where no log is shipped. Slow at first: it imports Plotly."""
    return about.curves(SLUG, facts(), texts.NAMES, {"mlm": "var(--cat-1)"}, texts, per_step=lambda _: 1)


def judging() -> Value | None:
    """Film reviews judged after fine-tuning, beside the language model, which reads the left side alone; None before it was trained."""
    return labelled(SLUG, texts.BOTH, {"language_model": texts.LEFT})
