"""What crosses the border between the translation model and a page: frozen records of NumPy arrays, strings and numbers. No torch here."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from models import fields
from models.results import Array as Array
from models.results import Retranslated, Translated

Again = Retranslated

MAX_TOKENS = 60  # source pieces
MAX_CHARACTERS = 2_000  # of a sentence
MAX_BEAM = 8  # hypotheses
MAX_ALPHA = 2.0  # length penalty
KINDS = ("encoder", "decoder", "cross")  # of attention
PARTS = ("scale", "mask", "position")  # what can be left out of the network: ÷ √d_head, the causal mask, the sinusoids


@dataclass(frozen=True)
class Request:
    """One sentence, how it is searched for, and what is changed in the model meanwhile.

    sentence: English text. beam: hypotheses kept, 1 = greedy. alpha: length penalty α (Wu et al., 2016, eq. 14).
    silenced: (kind, layer, head) from 0, kind one of "encoder", "decoder", "cross". hidden: source pieces that nothing may attend to.
    without: what is left out of the network, names from PARTS. Without the mask the search stays what it is, for what is not written
    yet cannot be seen; the finished translation is then read with all of it in view.
    """

    sentence: str = fields.characters("", MAX_CHARACTERS)
    beam: int = fields.number(1, 1, MAX_BEAM, en="beam", zh="束宽")
    alpha: float = fields.number(0.6, 0.0, MAX_ALPHA, en="length penalty", zh="长度惩罚")
    silenced: tuple[tuple[str, int, int], ...] = fields.heads(KINDS)
    hidden: tuple[int, ...] = fields.anything(())
    without: tuple[str, ...] = fields.several(PARTS, en="part of the network", zh="网络部件")

    def group(self) -> Hashable:
        """Requests of one group may share a batch: all with a beam, or all without one, whose words appear as they come."""
        return (self.beam > 1, frozenset(self.without))

    def plain(self) -> Request:
        """The same sentence and search, with nothing changed in the model."""
        return replace(self, silenced=(), hidden=(), without=())


@dataclass(frozen=True, kw_only=True)
class Explanation(Translated):
    """A translation and every attention weight behind it.

    encoder (layer, head, source, source), decoder (layer, head, target, target), cross (layer, head, target, source): row i of the last two
    belongs to the step that produced target[i]; the decoder's keys are its inputs, "<s>" then target[:-1].
    """

    encoder: Array
    decoder: Array
    cross: Array


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
