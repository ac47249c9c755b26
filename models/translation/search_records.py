"""What crosses the border between the model and the page about how a translation was searched for. No torch here."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models import fields
from models.translation.records import MAX_BEAM


@dataclass(frozen=True)
class Search:
    """A beam search to look on at. sentence: English text. beam: hypotheses kept, 1 to 8. endless: the stop token is forbidden."""

    sentence: str = fields.anything("")
    beam: int = fields.number(4, 1, MAX_BEAM, en="beam", zh="束宽")
    endless: bool = fields.switch(False)

    def group(self) -> Hashable:
        """Requests of one group may share a batch."""
        return (self.beam, self.endless)


@dataclass(frozen=True)
class Tree:
    """Every hypothesis that a beam search ranked, as a tree: node 0 is "<s>", each other node one piece more than its parent.

    The nodes of a step stand in the order of their rank, and parents before children. All arrays have one entry per node:
    parent: node number, −1 for the root. step: pieces so far. rank: among the extensions of its step, from 1. log_probability: of the
    node's own piece; total: of all pieces up to it, nats. stop: log p that the stop token comes next, also where it is forbidden;
    NaN where nobody asked. fates: "kept" for the next step, "finished", or "passed" over.
    space: a space stands before the piece. texts: of finished nodes, else "".

    The length penalty α does not decide what grows, only when the search is over and who has won; a larger α never ends it earlier.
    So this tree, grown with the largest α there is, holds the search of every other α as its beginning: see `outcome`.

    beam, limit: hypotheses kept, pieces at most. greedy: the nodes of the greedy translation as far as the beam ranked them.
    greedy_text, greedy_total: that translation and its log p; greedy_length: its pieces, the stop token included; "" and 0 if endless.
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


@dataclass(frozen=True)
class Outcome:
    """How the search ends with one length penalty. last: its last step. ranking: nodes of the hypotheses that it returns, best first."""

    last: int
    ranking: tuple[int, ...]


def score(tree: Tree, node: int, alpha: float) -> float:
    """log p / ((5 + |Y|) / 6)^α of the pieces up to a node (Wu et al., 2016, eq. 14)."""
    return float(tree.total[node] / ((5 + int(tree.step[node])) / 6) ** alpha)


def outcome(tree: Tree, alpha: float) -> Outcome:
    """The search with this length penalty, read off the tree; the panel's script does the same.

    At step t it is over when `beam` hypotheses have finished and the best kept one would not rank among the best `beam` of them even if
    it grew to the limit for nothing.
    """
    steps = int(tree.step.max())
    finished: list[int] = []
    for t in range(1, steps + 1):
        here = [node for node in range(len(tree.pieces)) if tree.step[node] == t]
        finished += [node for node in here if tree.fates[node] == "finished"]
        finished.sort(key=lambda node: -score(tree, node, alpha))
        del finished[tree.beam :]
        best_kept = (
            max((tree.total[node] for node in here if tree.fates[node] == "kept"), default=-math.inf) / ((5 + tree.limit) / 6) ** alpha
        )
        if best_kept == -math.inf or (len(finished) == tree.beam and best_kept <= score(tree, finished[-1], alpha)):
            return Outcome(t, tuple(finished))
    return Outcome(steps, tuple(finished))


def loop(pieces: tuple[Hashable, ...]) -> tuple[int, int] | None:
    """Where a sequence begins to go round in circles and how long one round is: (begin, period), or None.

    At its end at least two whole rounds must be alike; of several periods the shortest counts.
    """
    for period in range(1, len(pieces) // 2 + 1):
        begin = len(pieces)
        while begin > period and pieces[begin - 1] == pieces[begin - 1 - period]:
            begin -= 1
        begin -= period
        if len(pieces) - begin >= 2 * period:
            return begin, period
    return None
