"""The guided steps of a lab, put together from its texts and from what each of them shows."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import TypeAlias

from explorer.lab import GuidedStep
from explorer.labels import filled

Shown: TypeAlias = tuple[str, Mapping[str, str], *tuple[str, ...]]  # what a guided step shows: its query, view, panel and figure


def guided(texts: ModuleType, shown: Mapping[str, Shown], **told: object) -> tuple[GuidedStep, ...]:
    """The steps of a lab, in the order of its texts; none of what is not shown. told: what their texts leave open.

    STEPS says what each says, STEP_TITLES what it is called, STEP_QUESTIONS and STEP_SHOWS what it asks and what a lecturer does there;
    STEP_GUESSES speaks of some, STEP_RANKS of those that are no 2.
    """
    return tuple(
        GuidedStep(
            texts.STEP_TITLES[key],
            filled(say, **told) if told else say,
            *shown[key],
            question=texts.STEP_QUESTIONS[key],
            guess=texts.STEP_GUESSES.get(key),
            show=texts.STEP_SHOWS[key],
            rank=texts.STEP_RANKS.get(key, 2),
        )
        for key, say in texts.STEPS.items()
        if key in shown
    )
