"""What crosses the border between the model and the page about a translation that a visitor wrote. No torch here."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.translation.records import MAX_CHARACTERS, MAX_TOKENS

__all__ = ["MAX_CHARACTERS", "MAX_TOKENS", "Forced", "Reading"]

FAVOURITES = 5  # pieces listed at each position


@dataclass(frozen=True)
class Reading:
    """A sentence and a translation of it that is read, not searched for. german None: what greedy search finds."""

    sentence: str
    german: str | None = None

    def group(self) -> Hashable:
        """Requests of one group may share a batch."""
        return ()


@dataclass(frozen=True)
class Forced:
    """How likely the model holds a translation, piece by piece: at each position it had read the given pieces before, whatever it
    would have said itself.

    source, target: pieces as shown; the last of target is "</s>". source_space, target_space: a space stands before the piece.
    german: the text that was read; own: what greedy search makes of the sentence; own_log_probability: nats, own_length: its pieces.
    log_probabilities: (target,), nats. ranks: (target,), 1 where the given piece is the model's favourite.
    favourites: (target, FAVOURITES) pieces as shown, likeliest first; probabilities: (target, FAVOURITES).
    cross: (layer, head, target, source), row i belongs to the step that was to produce target[i].
    """

    source: tuple[str, ...]
    source_space: tuple[bool, ...]
    target: tuple[str, ...]
    target_space: tuple[bool, ...]
    german: str
    own: str
    own_log_probability: float
    own_length: int
    log_probabilities: NDArray[np.float32]
    ranks: NDArray[np.int32]
    favourites: tuple[tuple[str, ...], ...]
    probabilities: NDArray[np.float32]
    cross: NDArray[np.float32]
