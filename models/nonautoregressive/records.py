"""The requests to the parallel translators and their explanations: frozen records of arrays,
strings and numbers, without torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.explaining import request_fields
from models.explaining.batching import Apart
from models.explaining.shared_records import EXTRA, Array, Written, reason_of

# The last was trained for a single pass.
VARIANTS = ("cmlm_distilled", "cmlm_raw", "nat_distilled")
# The network with the same data that writes one piece after the other.
GREEDY = "ar_distilled"
MAX_TOKENS = 60  # source pieces
MAX_PASSES = 20
SPACE = "\u2581"  # marks a piece with a space before it


@dataclass(frozen=True)
class Request(Apart):
    """A request: a sentence, the network that translates it, the number of passes, and the changes.

    sentence: English text. passes: T; 1 writes everything at once. offset: pieces to add to the
    network's own length N, or to remove. pinned: (position, piece), pieces that are fixed from the
    first pass on, as `spell_piece` spells them. again: positions that are masked once more after
    the last pass, for one additional pass.
    """

    sentence: str = request_fields.text_field("", 2_000)
    variant: str = request_fields.choice_field("cmlm_distilled", VARIANTS, en="network", zh="网络")
    passes: int = request_fields.number_field(4, 1, MAX_PASSES, en="number of passes", zh="轮数")
    offset: int = request_fields.number_field(0, -31, 31, en="change of length", zh="长度变化")
    pinned: tuple[tuple[int, str], ...] = request_fields.any_field(())
    again: tuple[int, ...] = request_fields.any_field(())


@dataclass(frozen=True, kw_only=True)
class Explanation(Written):
    """A translation after every pass, without a stop token, N = len(target), and the same sentence
    piece by piece.

    log_probabilities: from the pass that wrote the piece, 0 where it is pinned. ran: the number of
    passes, at most N.

    For every pass, the one over `again` last: pieces, spaces: the translation after it, (pass,
    position). masked: the pieces that it wrote. confidence: p of the pieces, from the pass that
    wrote them. repeats: whether a piece equals the one before. candidates, candidate_p: the
    likeliest pieces at every position, masked or not, best first, (pass, position, 3). settled: the
    pass after which the piece no longer changes, (position,). decoder, cross, encoder: weights,
    (pass, layer, head, target, target), (pass, layer, head, target, source) and (layer, head,
    source, source).

    lengths: p(N | X), the first for N = shortest, (32,). ends_ms: the times at which the source and
    the length were known and each pass ended, in milliseconds of this run, (1 + pass,). greedy_*:
    the same sentence piece by piece, the stop token last. greedy_ends_ms: (1 + piece,).
    """

    ran: int
    pieces: tuple[tuple[str, ...], ...]
    spaces: NDArray[np.bool_]
    masked: NDArray[np.bool_]
    confidence: Array
    repeats: NDArray[np.bool_]
    candidates: tuple[tuple[tuple[str, ...], ...], ...]
    candidate_p: Array
    settled: NDArray[np.int64]
    encoder: Array
    decoder: Array
    cross: Array
    lengths: Array
    shortest: int
    ends_ms: Array
    greedy_target: tuple[str, ...]
    greedy_log_probabilities: Array
    greedy_ends_ms: Array

    @property
    def greedy_reason(self) -> str:
        """The reason why the autoregressive translation ends, from
        `models.explaining.shared_records.REASONS`."""
        limit = len(self.source) + EXTRA
        return reason_of(len(self.greedy_target), limit, float(self.greedy_log_probabilities[-1]))


@dataclass(frozen=True)
class Neighbours:
    """A position of a request's translation and the next one."""

    request: Request
    position: int


@dataclass(frozen=True)
class Joint:
    """The predictions for two neighbours.

    first, second: the likeliest pieces at either position with everything masked. alike: whether
    both are the same piece, by number, (first, second). product: the product of both probabilities,
    as parallel writing takes it, (first, second). joint: p(first, second | X, before) of the
    autoregressive network after the same beginning, `before`, (first, second).
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    alike: NDArray[np.bool_]
    product: Array
    joint: Array
    before: str


def spell_piece(piece: str, space: bool) -> str:
    """Return a piece in the spelling of `pinned`."""
    return SPACE + piece if space else piece


EXAMPLES: tuple[Request, ...] = (
    Request("Two men are standing on a bridge and talking to each other."),
    Request("Two dogs are running through the snow.", passes=1),
    Request("A man in a blue shirt is standing on a ladder and cleaning a window.", passes=10),
    Request(
        "A group of young people in colorful clothes is sitting on the steps of a building while a"
        " man plays music.",
        passes=1,
    ),
    Request("A little girl in a pink dress is climbing a tree.", variant="cmlm_raw", passes=1),
)
