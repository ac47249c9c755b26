"""What crosses the border between the translation model and a page: frozen records of NumPy arrays, strings and numbers. No torch here."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

MAX_TOKENS = 60  # source pieces
MAX_CHARACTERS = 2_000  # of a sentence
MAX_BEAM = 8  # hypotheses
MAX_ALPHA = 2.0  # length penalty
PARTS = ("scale", "mask", "position")  # what can be left out of the network: ÷ √d_head, the causal mask, the sinusoids


@dataclass(frozen=True)
class Request:
    """One sentence, how it is searched for, and what is changed in the model meanwhile.

    sentence: English text. beam: hypotheses kept, 1 = greedy. alpha: length penalty α (Wu et al., 2016, eq. 14).
    silenced: (kind, layer, head) from 0, kind one of "encoder", "decoder", "cross". hidden: source pieces that nothing may attend to.
    without: what is left out of the network, names from PARTS. Without the mask the search stays what it is, for what is not written
    yet cannot be seen; the finished translation is then read with all of it in view.
    """

    sentence: str
    beam: int = 1
    alpha: float = 0.6
    silenced: tuple[tuple[str, int, int], ...] = ()
    hidden: tuple[int, ...] = ()
    without: tuple[str, ...] = ()

    def group(self) -> Hashable:
        """Requests of one group may share a batch: all with a beam, or all without one, whose words appear as they come."""
        return (self.beam > 1, frozenset(self.without))

    @property
    def changed(self) -> bool:
        """Is anything changed in the model?"""
        return bool(self.silenced or self.hidden or self.without)

    def plain(self) -> Request:
        """The same sentence and search, with nothing changed in the model."""
        return replace(self, silenced=(), hidden=(), without=())


@dataclass(frozen=True)
class Explanation:
    """A translation and every attention weight behind it.

    source, target: pieces as shown; source_space, target_space: True where a space stood before the piece. The last of target is "</s>".
    text: the German sentence. encoder (layer, head, source, source), decoder (layer, head, target, target), cross (layer, head, target,
    source): row i of the last two belongs to the step that produced target[i]; the decoder's keys are its inputs, "<s>" then target[:-1].
    log_probabilities: of each produced piece, nats; log_probability: their sum; score: it / ((5 + length) / 6)^alpha.
    hypotheses: (text, log-probability, score) of all beams, best first. unknown: source pieces outside the vocabulary.
    surprising: the mean log-probability lies below the 1st percentile of the validation set.
    """

    source: tuple[str, ...]
    source_space: tuple[bool, ...]
    target: tuple[str, ...]
    target_space: tuple[bool, ...]
    text: str
    encoder: Array
    decoder: Array
    cross: Array
    log_probabilities: Array
    log_probability: float
    score: float
    hypotheses: tuple[tuple[str, float, float], ...]
    unknown: int
    surprising: bool


@dataclass(frozen=True)
class Comparison:
    """What changes under an intervention.

    before: nothing changed. after: the free translation under the intervention. forced: before's translation, read under the
    intervention, so that every array has before's shape.
    """

    before: Explanation
    after: Explanation
    forced: Explanation


@dataclass(frozen=True)
class Step:
    """One produced piece. space: a space stands before it; text: the whole text so far; log_probability in nats."""

    piece: str
    space: bool
    text: str
    log_probability: float


EXAMPLES: tuple[Request, ...] = (
    Request("Children are playing soccer on a green field."),
    Request("Two dogs are running through the snow."),
    Request("A little girl in a pink dress is climbing a tree."),
    Request("A man in a blue shirt is standing on a ladder and cleaning a window."),
    Request("Three people sit at a table in front of a restaurant.", beam=4),
)
