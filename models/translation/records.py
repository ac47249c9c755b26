"""The requests to the translation model and their explanations: frozen records of NumPy arrays,
strings and numbers, without torch."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from models.explaining import request_fields
from models.explaining.shared_records import Array as Array
from models.explaining.shared_records import Retranslated, Translated

Rereading = Retranslated

MAX_TOKENS = 60  # source pieces
MAX_CHARACTERS = 2_000  # of a sentence
MAX_BEAM = 8  # hypotheses
MAX_ALPHA = 2.0  # length penalty
KINDS = ("encoder", "decoder", "cross")  # of attention
# what can be left out of the network: ÷ √d_head, the causal mask, the sinusoids
PARTS = ("scale", "mask", "position")


@dataclass(frozen=True)
class Request:
    """A request: a sentence, the search, and the changes to the model.

    sentence: English text. beam: hypotheses kept, 1 = greedy. alpha: length penalty α (Wu et al.,
    2016, eq. 14). silenced: (kind, layer, head) from 0, kind one of "encoder", "decoder", "cross".
    hidden: source pieces that no position may attend to. without: the removed parts of the network,
    names from PARTS. Without the mask the search does not change, because unwritten pieces cannot
    be seen; the finished translation is then read with all of it in view.
    """

    sentence: str = request_fields.text_field("", MAX_CHARACTERS)
    beam: int = request_fields.number_field(1, 1, MAX_BEAM, en="beam", zh="束宽")
    alpha: float = request_fields.number_field(
        0.6, 0.0, MAX_ALPHA, en="length penalty", zh="长度惩罚"
    )
    silenced: tuple[tuple[str, int, int], ...] = request_fields.heads_field(KINDS)
    hidden: tuple[int, ...] = request_fields.any_field(())
    without: tuple[str, ...] = request_fields.several_field(
        PARTS, en="part of the network", zh="网络部件"
    )

    def group(self) -> Hashable:
        """Return the key of a batch: requests may share one if all have a beam, or if none has one
        and their words appear one by one."""
        return (self.beam > 1, frozenset(self.without))

    def plain(self) -> Request:
        """Return the same sentence and search without changes to the model."""
        return replace(self, silenced=(), hidden=(), without=())


@dataclass(frozen=True, kw_only=True)
class Explanation(Translated):
    """A translation and all its attention weights.

    encoder (layer, head, source, source), decoder (layer, head, target, target), cross (layer,
    head, target, source): row i of the last two belongs to the step that predicts target[i]; the
    decoder's keys are its inputs, "<s>" then target[:-1].
    """

    encoder: Array
    decoder: Array
    cross: Array


@dataclass(frozen=True)
class Step:
    """A new piece.

    space: whether a space precedes it. text: the whole text so far. log_probability: nats.
    """

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
