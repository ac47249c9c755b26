"""The guided steps of a lab, built from its texts and from the view that each step shows."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import TypeAlias

from explorer.contract.lab import GuidedStep
from explorer.contract.labels import fill_text

# of a guided step: its query, view, panel and figure
Shown: TypeAlias = tuple[str, Mapping[str, str], *tuple[str, ...]]


def build_steps(
    texts: ModuleType, shown: Mapping[str, Shown], **told: object
) -> tuple[GuidedStep, ...]:
    """Return the steps of a lab, in the order of its texts. Steps without an entry in `shown` are
    left out. The further values fill the names in braces of their texts.

    STEPS holds the words of each step, STEP_TITLES its title, STEP_QUESTIONS its question and
    STEP_SHOWS the lecturer's gesture; STEP_GUESSES covers some steps, and STEP_RANKS those whose
    rank is not 2.
    """
    return tuple(
        GuidedStep(
            texts.STEP_TITLES[key],
            fill_text(say, **told) if told else say,
            *shown[key],
            question=texts.STEP_QUESTIONS[key],
            guess=texts.STEP_GUESSES.get(key),
            show=texts.STEP_SHOWS[key],
            rank=texts.STEP_RANKS.get(key, 2),
        )
        for key, say in texts.STEPS.items()
        if key in shown
    )
