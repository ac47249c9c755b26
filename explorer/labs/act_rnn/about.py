"""What stands beside the mechanism: figures from each model.json, ponder by difficulty, the training curves. Nothing is typed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer import labels
from explorer.figures import depth
from explorer.labels import filled
from explorer.labs import about, effort
from explorer.labs.act_rnn import texts
from explorer.widgets.card import Pair
from models.act_rnn.records import TASKS, WITHOUT

SLUG = "act_rnn"
VARIANTS = tuple(f"{task}{ending}" for task in TASKS for ending in ("", WITHOUT))
COLOURS = dict(zip(VARIANTS, ("var(--cat-1)", "var(--cat-2)", "var(--cat-3)", "var(--cat-7)"), strict=True))
RIVAL = "var(--cat-2)"


def facts() -> dict[str, dict[str, Any]]:
    """What each shipped variant's model.json says, by variant; those that are not shipped are missing."""
    return about.models(SLUG, VARIANTS)


def pairs() -> tuple[Pair, ...]:
    """The four figures of the title row: sizes, data, what both tasks reach with what is reached without ACT beside, training time."""
    known = facts()
    ours = {task: known[task] for task in TASKS if task in known}
    if not ours:
        return ()
    return (
        Pair(labels.CARD["parameters"], " · ".join(f"{one['parameters']:,}" for one in ours.values()), texts.EACH_TASK),
        Pair(labels.CARD["data"], texts.GENERATED),
        *_measured(known),
        about.trained(*known.values()),
    )


def _measured(known: Mapping[str, Mapping[str, Any]]) -> tuple[Pair, ...]:
    """The shares of right answers, without ACT beside them; nothing before they were measured."""
    measured = {variant: one["figure"] for variant, one in known.items() if one.get("figure")}
    ours = [task for task in TASKS if task in measured]
    if not ours:
        return ()
    each = [filled(texts.RIGHT_ONE[task], value=f"{measured[task]['value']:.3f}") for task in ours]
    value = {language: " · ".join(one[language] for one in each) for language in ("en", "zh")}
    others = {task: measured[task + WITHOUT] for task in ours if task + WITHOUT in measured}
    note = filled(texts.WITHOUT_IT, values=" · ".join(f"{one['value']:.3f}" for one in others.values())) if others else ""
    return (Pair(filled(texts.RIGHT, split=labels.split(measured[ours[0]]["split"])), value, note, texts.UNPUBLISHED),)


# ---- hard things take longer -------------------------------------------------------------------------------------------------------


def difficulty(task: str, mine: tuple[float, float] | None = None) -> dict[str, object] | None:
    """Ponder by bits or carries, and right answers with and without ACT; None before it was measured. mine: (difficulty, N + R)."""
    known = facts()
    measured = known.get(task, {}).get("figure")
    if not measured:
        return None
    by = measured["ponder_by_difficulty"]
    other = (known.get(task + WITHOUT, {}).get("figure") or {}).get("ponder_by_difficulty", {})
    rivals = [depth.Rival(texts.WITHOUT, [other.get(level, {}).get("accuracy") for level in by], RIVAL)] if other else []
    axis, one, several = texts.DIFFICULTY[task]
    words = (axis, filled(texts.MEASURED[task], n=f"{measured['n']:,}"), one, several)
    return effort.drawn(effort.levels(by), words, mine=mine, rivals=rivals, ours=texts.WITH)


# ---- training ----------------------------------------------------------------------------------------------------------------------


def curves() -> dict[str, object] | None:
    """Wrong answers on held-out inputs over training, with and without ACT; None where no log is shipped. Slow at first."""
    percent: Any = {"scale": 100, "show": lambda share: f"{share:.1f} %", "joint": ("; ", "；")}
    return about.curves(SLUG, facts(), texts.VARIANTS, COLOURS, texts, per_step=lambda known: 100 / known["steps"], **percent)
