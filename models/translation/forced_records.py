"""The requests to score a user's translation and their results, without torch."""

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
    """A sentence and a translation of it to score without a search.

    german: None stands for the greedy translation.
    """

    sentence: str
    german: str | None = None

    def group(self) -> Hashable:
        """Return the key of a batch: requests of one group may share one."""
        return ()


@dataclass(frozen=True)
class Forced:
    """The likelihood of a translation, piece by piece, each given the pieces before it, whatever
    the model itself predicts.

    source, target: pieces as displayed; the last of target is "</s>". source_space, target_space:
    whether a space precedes the piece. german: the text. own: the greedy translation of the
    sentence. own_log_probability: nats. own_length: its pieces. log_probabilities: nats, (target,).
    ranks: 1 if the given piece is the likeliest, (target,). favourites: pieces as displayed,
    likeliest first, (target, FAVOURITES). probabilities: (target, FAVOURITES). cross: row i belongs
    to the step that predicts target[i], (layer, head, target, source).
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
