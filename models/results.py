"""What several labs answer alike: frozen records of NumPy arrays and texts. No torch here."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Written:
    """A sentence and its translation, whatever network wrote it.

    source, target: pieces as shown; source_space, target_space: True where a space stood before the piece. text: the German sentence.
    log_probabilities: of each produced piece, nats; log_probability: their sum. unknown: source pieces outside the vocabulary.
    """

    source: tuple[str, ...]
    source_space: tuple[bool, ...]
    target: tuple[str, ...]
    target_space: tuple[bool, ...]
    text: str
    log_probabilities: Array
    log_probability: float
    unknown: int


@dataclass(frozen=True, kw_only=True)
class Translated(Written):
    """A translation that was searched for; the last of target is "</s>".

    score: log-probability / ((5 + length) / 6)^alpha. hypotheses: (text, log-probability, score) of all beams, best first. surprising: the
    mean log-probability lies below the 1st percentile of the validation set.
    """

    score: float
    hypotheses: tuple[tuple[str, float, float], ...]
    surprising: bool


@dataclass(frozen=True)
class Retranslated:
    """A finished translation, to be read again under what `request` changes. target, target_space: its pieces, as in `Translated`."""

    request: Any
    target: tuple[str, ...]
    target_space: tuple[bool, ...]

    def group(self) -> Hashable:
        """As of the request."""
        return self.request.group()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Again:
    """What was read and made, to be read once more under what a request changes.

    request: what it is read with and what it changes; of the rest nothing is taken. made: by each model that is there, in the order of
    MODELS: a text, or the bytes of an array of symbols.
    """

    request: Any
    made: tuple[Any, ...]


@dataclass(frozen=True)
class Losses:
    """What was read again costs. nats: for each model (position,), in the order of MODELS."""

    nats: tuple[Array, ...]
