"""Requests to the translation lab's model from another lab: the record that both know, and the
engine function by its name. No torch here."""

from __future__ import annotations

from dataclasses import dataclass

# answers a SentencePair with an Explanation of the translation lab, whose `cross` is used
CROSS_ATTENTION = "models.translation.explain:explain_cross_attention"


@dataclass(frozen=True)
class SentencePair:
    """An English sentence and a German one in the pieces of the translation lab. target_space: True
    where a space stands before a piece; the stop token is the last of target."""

    sentence: str
    target: tuple[str, ...]
    target_space: tuple[bool, ...]
