"""The requests to trace a beam search and their trees, without torch."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.explaining import request_fields
from models.explaining.shared_records import reason_of
from models.translation.records import MAX_BEAM


@dataclass(frozen=True)
class Search:
    """A beam search to trace.

    sentence: English text. beam: hypotheses kept, 1 to 8. endless: forbid the stop token.
    """

    sentence: str = request_fields.any_field("")
    beam: int = request_fields.number_field(4, 1, MAX_BEAM, en="beam", zh="束宽")
    endless: bool = request_fields.switch_field(False)

    def group(self) -> Hashable:
        """Return the key of a batch: requests of one group may share one."""
        return (self.beam, self.endless)


@dataclass(frozen=True)
class Tree:
    """All hypotheses that a beam search ranked, as a tree: node 0 is "<s>", and each other node
    adds one piece to its parent.

    The nodes of a step are in the order of their rank, parents before children. Arrays have one
    entry per node. parent: node number, −1 for the root. step: pieces so far. rank: among the
    extensions of its step, from 1. log_probability: of the node's own piece. total: of all pieces
    up to it, nats. stop: log p of the stop token as the next, also if it is forbidden; NaN if it
    was not computed. fates: "kept" for the next step, "finished", or "passed" over. space: whether
    a space precedes the piece. texts: of finished nodes, otherwise "".

    The length penalty α does not affect the growth, only the end of the search and the winner; a
    larger α never ends it earlier. This tree, grown with the largest α, therefore holds the search
    of every other α as its beginning: see `outcome`.

    beam, limit: hypotheses kept, the most pieces. greedy: the nodes of the greedy translation as
    far as the beam ranked them. greedy_text, greedy_total: that translation and its log p.
    greedy_length: its pieces, the stop token included; "" and 0 if endless.
    """

    pieces: tuple[str, ...]
    space: tuple[bool, ...]
    fates: tuple[str, ...]
    texts: tuple[str, ...]
    parent: NDArray[np.int32]
    step: NDArray[np.int32]
    rank: NDArray[np.int32]
    log_probability: NDArray[np.float32]
    total: NDArray[np.float64]
    stop: NDArray[np.float32]
    beam: int
    limit: int
    endless: bool
    greedy: tuple[int, ...]
    greedy_text: str
    greedy_total: float
    greedy_length: int


def reason(tree: Tree, node: int) -> str:
    """Return the reason why a finished hypothesis ends, from
    `models.explaining.shared_records.REASONS`."""
    return reason_of(int(tree.step[node]), tree.limit, float(tree.log_probability[node]))


@dataclass(frozen=True)
class Outcome:
    """The end of the search with one length penalty.

    last: its last step. ranking: nodes of the hypotheses that it returns, best first.
    """

    last: int
    ranking: tuple[int, ...]


def score(tree: Tree, node: int, alpha: float) -> float:
    """Return log p / ((5 + |Y|) / 6)^α of the pieces up to a node (Wu et al., 2016, eq. 14)."""
    return float(tree.total[node] / ((5 + int(tree.step[node])) / 6) ** alpha)


def outcome(tree: Tree, alpha: float) -> Outcome:
    """Return the search with this length penalty, read from the tree; the panel's script does the
    same.

    It ends at step t if `beam` hypotheses have finished and the best kept one would not rank among
    the best `beam` of them even if it grew to the limit at no cost.
    """
    steps = int(tree.step.max())
    finished: list[int] = []
    for t in range(1, steps + 1):
        here = [node for node in range(len(tree.pieces)) if tree.step[node] == t]
        finished += [node for node in here if tree.fates[node] == "finished"]
        finished.sort(key=lambda node: -score(tree, node, alpha))
        del finished[tree.beam :]
        best_kept = (
            max(
                (tree.total[node] for node in here if tree.fates[node] == "kept"), default=-math.inf
            )
            / ((5 + tree.limit) / 6) ** alpha
        )
        if best_kept == -math.inf or (
            len(finished) == tree.beam and best_kept <= score(tree, finished[-1], alpha)
        ):
            return Outcome(t, tuple(finished))
    return Outcome(steps, tuple(finished))


def loop(pieces: tuple[Hashable, ...]) -> tuple[int, int] | None:
    """Return the beginning and the period of a loop in a sequence, (begin, period), or None.

    At least two whole rounds at its end must be equal; of several periods the shortest counts.
    """
    for period in range(1, len(pieces) // 2 + 1):
        begin = len(pieces)
        while begin > period and pieces[begin - 1] == pieces[begin - 1 - period]:
            begin -= 1
        begin -= period
        if len(pieces) - begin >= 2 * period:
            return begin, period
    return None
