"""What one lab asks of the translation lab's model: the record that both know, and the engine function by its name. No torch here."""

from __future__ import annotations

from dataclasses import dataclass

CROSS_ATTENTION = "models.translation.explain:crossed"  # of a Pair: an Explanation of the translation lab, whose `cross` it is


@dataclass(frozen=True)
class Pair:
    """An English sentence and a German one in the pieces of the translation lab, target_space True where a space stands before a piece;
    the stop token is the last of target."""

    sentence: str
    target: tuple[str, ...]
    target_space: tuple[bool, ...]
