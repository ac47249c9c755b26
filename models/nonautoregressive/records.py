"""What crosses the border between the parallel translators and a page: frozen records of arrays, strings and numbers. No torch here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models import fields
from models.results import Array, Written
from models.turns import Apart

VARIANTS = ("cmlm_distilled", "cmlm_raw", "nat_distilled")  # the last was trained for one pass alone
GREEDY = "ar_distilled"  # the network that is given the same data, and writes one piece after the other
MAX_TOKENS = 60  # source pieces
MAX_PASSES = 20
SPACE = "\u2581"  # before a piece that a space stands before


@dataclass(frozen=True)
class Request(Apart):
    """One sentence, which network translates it in how many passes, and what is changed meanwhile.

    sentence: English text. passes: T; 1 is all at once. offset: pieces more than the network's own length N has, or fewer.
    pinned: (position, piece), pieces that stand there from the first pass on; each as `written`. again: positions that are masked once
    more after the last pass, for one pass more.
    """

    sentence: str = fields.characters("", 2_000)
    variant: str = fields.choice("cmlm_distilled", VARIANTS, en="network", zh="网络")
    passes: int = fields.number(4, 1, MAX_PASSES, en="number of passes", zh="轮数")
    offset: int = fields.number(0, -31, 31, en="change of length", zh="长度变化")
    pinned: tuple[tuple[int, str], ...] = fields.anything(())
    again: tuple[int, ...] = fields.anything(())


@dataclass(frozen=True, kw_only=True)
class Explanation(Written):
    """A translation after every pass, without a stop token: N = len(target); and the same sentence piece by piece.

    log_probabilities are from the pass that wrote the piece, 0 where it is pinned. ran: passes; no more than N of those asked for.

    Of every pass, the one over `again` the last: pieces, spaces (pass, position): what stands after it. masked: what it wrote. confidence:
    p of what stands there, from the pass that wrote it. repeats: the same piece as the one before. candidates, candidate_p (pass, position,
    3): what it takes for likeliest at every position, masked or not, best first.
    settled (position,): the pass after which the piece no longer changes.
    decoder (pass, layer, head, target, target), cross (pass, layer, head, target, source), encoder (layer, head, source, source): weights.

    lengths (32,): p(N | X), the first of N = shortest.
    ends_ms (1 + pass,): when the source and the length were known, and when each pass was over, in milliseconds of this run.
    greedy_*: the same, one piece after the other, the stop token last; greedy_ends_ms (1 + piece,).
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


@dataclass(frozen=True)
class Neighbours:
    """Two places of a request's translation that stand side by side: position and the next one."""

    request: Request
    position: int


@dataclass(frozen=True)
class Joint:
    """What two neighbours could be. first, second: the likeliest pieces at either place with everything masked; product (first, second):
    of both probabilities, as all at once takes them. joint (first, second): p(first, second | X, before) of the
    network that writes one piece after the other, behind the same beginning, `before`.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    product: Array
    joint: Array
    before: str


def written(piece: str, space: bool) -> str:
    """A piece as `pinned` spells it."""
    return SPACE + piece if space else piece


EXAMPLES: tuple[Request, ...] = (
    Request("Two men are standing on a bridge and talking to each other."),
    Request("Two dogs are running through the snow.", passes=1),
    Request("A man in a blue shirt is standing on a ladder and cleaning a window.", passes=10),
    Request("A group of young people in colorful clothes is sitting on the steps of a building while a man plays music.", passes=1),
    Request("A little girl in a pink dress is climbing a tree.", variant="cmlm_raw", passes=1),
)
