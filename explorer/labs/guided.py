"""The guided steps of a lab, put together from its texts and from what each of them shows."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import TypeAlias

from explorer.lab import GuidedStep, in_lecture
from explorer.labels import filled

Shown: TypeAlias = tuple[str, Mapping[str, str], *tuple[str, ...]]  # what a guided step shows: its query, view, panel and figure


def guided(texts: ModuleType, shown: Mapping[str, Shown], **told: object) -> tuple[GuidedStep, ...]:
    """The steps of a lab, in the order of its texts; none of what is not shown. told: what their texts leave open.

    STEPS says (key, title, text) of each; or the text by key, where STEP_TITLES says the titles.
    """
    steps = texts.STEPS
    every = [(key, texts.STEP_TITLES[key], say) for key, say in steps.items()] if isinstance(steps, Mapping) else steps
    return tuple(
        GuidedStep(title, filled(say, **told) if told else say, *shown[key], **in_lecture(texts, key))
        for key, title, say in every
        if key in shown
    )
