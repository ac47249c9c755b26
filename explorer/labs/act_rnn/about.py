"""The facts beside the mechanism: figures from each model.json, ponder by difficulty, the training
curves. Every number is read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.components.card import TitleFigure
from explorer.contract import labels
from explorer.contract.labels import fill_text
from explorer.figures import depth
from explorer.labs.act_rnn import texts
from explorer.page import card_facts
from explorer.panels import computation_by_difficulty
from models.act_rnn.records import TASKS, WITHOUT

SLUG = "act_rnn"
VARIANTS = tuple(f"{task}{ending}" for task in TASKS for ending in ("", WITHOUT))
COLOURS = dict(
    zip(VARIANTS, ("var(--cat-1)", "var(--cat-2)", "var(--cat-3)", "var(--cat-7)"), strict=True)
)
RIVAL = "var(--cat-2)"


def facts() -> dict[str, dict[str, Any]]:
    """Return the model.json of each shipped variant, by variant; variants that are not shipped are
    missing."""
    return card_facts.read_models(SLUG, VARIANTS)


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: sizes, data, the results of both tasks with those
    without ACT beside them, training time."""
    known = facts()
    ours = {task: known[task] for task in TASKS if task in known}
    if not ours:
        return ()
    return (
        TitleFigure(
            labels.CARD["parameters"],
            " · ".join(f"{one['parameters']:,}" for one in ours.values()),
            texts.EACH_TASK,
        ),
        TitleFigure(labels.CARD["data"], texts.GENERATED),
        *_describe_figures(known),
        card_facts.describe_training_time(*known.values()),
    )


def _describe_figures(known: Mapping[str, Mapping[str, Any]]) -> tuple[TitleFigure, ...]:
    """Return the shares of right answers, without ACT beside them; nothing before they were
    measured."""
    measured = {variant: one["figure"] for variant, one in known.items() if one.get("figure")}
    ours = [task for task in TASKS if task in measured]
    if not ours:
        return ()
    each = [
        fill_text(texts.RIGHT_ONE[task], value=f"{measured[task]['value']:.3f}") for task in ours
    ]
    value = {language: " · ".join(one[language] for one in each) for language in ("en", "zh")}
    others = {task: measured[task + WITHOUT] for task in ours if task + WITHOUT in measured}
    note = (
        fill_text(
            texts.WITHOUT_IT, values=" · ".join(f"{one['value']:.3f}" for one in others.values())
        )
        if others
        else ""
    )
    return (
        TitleFigure(
            fill_text(texts.RIGHT, split=labels.name_split(measured[ours[0]]["split"])),
            value,
            note,
            texts.UNPUBLISHED,
        ),
    )


# ---- hard inputs take longer


def draw_difficulty(task: str, mine: tuple[float, float] | None = None) -> dict[str, object] | None:
    """Draw ponder by bits or carries, and right answers with and without ACT; None before it was
    measured. mine: (difficulty, N + R) of the run in view."""
    known = facts()
    measured = known.get(task, {}).get("figure")
    if not measured:
        return None
    by = measured["ponder_by_difficulty"]
    other = (known.get(task + WITHOUT, {}).get("figure") or {}).get("ponder_by_difficulty", {})
    rivals = (
        [depth.Rival(texts.WITHOUT, [other.get(level, {}).get("accuracy") for level in by], RIVAL)]
        if other
        else []
    )
    axis, one, several = texts.DIFFICULTY[task]
    words = (axis, fill_text(texts.MEASURED[task], n=f"{measured['n']:,}"), one, several)
    return computation_by_difficulty.draw_figure(
        computation_by_difficulty.read_levels(by), words, mine=mine, rivals=rivals, ours=texts.WITH
    )


# ---- training


def curves() -> dict[str, object] | None:
    """Draw the wrong answers on held-out inputs over training, with and without ACT; None where no
    log is shipped. The first call is slow."""
    percent: Any = {"scale": 100, "show": lambda share: f"{share:.1f} %", "joint": ("; ", "；")}
    return card_facts.curves(
        SLUG,
        facts(),
        texts.VARIANTS,
        COLOURS,
        texts,
        per_step=lambda known: 100 / known["steps"],
        **percent,
    )
