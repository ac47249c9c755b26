"""Records that several labs answer with: frozen, of NumPy arrays and texts. No torch here."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

EXTRA = 50  # a translation stops at source length + 50 pieces (Vaswani et al., 2017, §6.1)
TOKEN, LIMIT, CANCELLED = REASONS = (
    "token",
    "limit",
    "cancelled",
)  # the reasons why a generated text ends


def reason_of(length: int, limit: int, log_p_stop: float) -> str:
    """Return why a translation of so many pieces, the stop token counted, ends. At its limit only
    the stop token may follow: the translation ended by itself where the stop token had at least
    half of the probability."""
    return LIMIT if length >= limit and log_p_stop < math.log(0.5) else TOKEN


@dataclass(frozen=True)
class Familiarity:
    """The familiarity of a sentence to a network, by the words and pairs that training held often.

    often: how many times training holds a word that is not rare.
    rare_words: the rare words as typed.
    rare_pairs: how many of `pairs` pairs of neighbours are rare, both ends of the sentence
        included.
    measure: (rare pairs + weight · rare words) / pairs.
    is_unfamiliar: whether the measure lies beyond the threshold.
    """

    often: int
    rare_words: tuple[str, ...]
    rare_pairs: int
    pairs: int
    measure: float
    is_unfamiliar: bool


@dataclass(frozen=True, kw_only=True)
class Written:
    """A sentence and its translation, whatever network wrote it.

    source, target: pieces as shown.
    source_space, target_space: True where a space stood before the piece.
    text: the German sentence.
    log_probabilities: of each produced piece, nats; log_probability: their sum.
    unknown: source pieces outside the vocabulary.
    familiarity: of the sentence; None where nobody counted the words of training.
    """

    source: tuple[str, ...]
    source_space: tuple[bool, ...]
    target: tuple[str, ...]
    target_space: tuple[bool, ...]
    text: str
    log_probabilities: Array
    log_probability: float
    unknown: int
    familiarity: Familiarity | None = None


@dataclass(frozen=True, kw_only=True)
class Translated(Written):
    """A translation that a search has found; the last piece of target is "</s>".

    score: log-probability / ((5 + length) / 6)^alpha.
    hypotheses: (text, log-probability, score, why it ends, of REASONS) of all beams, best first.
    surprising: whether the mean log-probability lies below the 1st percentile of the validation
        set.
    """

    score: float
    hypotheses: tuple[tuple[str, float, float, str], ...]
    surprising: bool

    @property
    def reason(self) -> str:
        """The reason why it ends, of REASONS."""
        return self.hypotheses[0][3]


@dataclass(frozen=True)
class Retranslated:
    """A finished translation, to be read again under the changes of `request`. target,
    target_space: its pieces, as in `Translated`."""

    request: Any
    target: tuple[str, ...]
    target_space: tuple[bool, ...]

    def group(self) -> Hashable:
        """Return the group of the request."""
        return self.request.group()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Rereading:
    """A text that was read and its continuation, to be read once more under the changes of a
    request.

    request: the changes, and the settings of the reading; nothing else of it is used.
    made: for each model that is loaded, in the order of MODELS: a text, or the bytes of an array of
        symbols.
    """

    request: Any
    made: tuple[Any, ...]


@dataclass(frozen=True)
class Losses:
    """The losses of a second reading. nats: for each model (position,), in the order of MODELS."""

    nats: tuple[Array, ...]
