"""Beam search, watched: the hypotheses as they grow, what was dropped and when. The search itself is decode.py's."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from models.arrays import frozen
from models.beam import EXTRA, Extension
from models.encoder_decoder import Transformer
from models.errors import InputError
from models.fields import check
from models.multi30k import PAD, START, STOP, Tokenizer, cleaned, padded
from models.searching import Source, beam_search
from models.translation.explain import explain
from models.translation.pretrained import load
from models.translation.records import MAX_ALPHA, Explanation, Request
from models.translation.search_records import Search, Tree
from models.turns import after, together


def search(requests: Sequence[Search]) -> list[Tree | InputError]:
    """The tree of each request, in order; requests of one group share every pass. InputError as from `explain`, and for an absurd beam."""
    greedy = after(requests, explain([Request(request.sentence) for request in requests]), _asked)
    return together(greedy, lambda one: one[0].group(), _grown)


def _asked(request: Search, greedy: Explanation) -> tuple[Search, Explanation]:
    """With what greedy search found of it. InputError for an absurd beam."""
    check(request)
    return request, greedy


def _grown(asked: Sequence[tuple[Search, Explanation]]) -> list[Tree]:
    """The trees of requests of one group, beside what greedy search found."""
    shipped, (requests, greedy) = load(), zip(*asked, strict=True)
    tokens = padded([shipped.tokenizer.encode(cleaned(request.sentence)).ids for request in requests])
    device = shipped.model.embedding.weight.device
    source = Source(tokens.to(device), (tokens != PAD).to(device), tuple(len(seen.source) + EXTRA for seen in greedy))
    growths = grow(shipped.model, source, requests[0].beam, requests[0].endless)
    return [growth.tree(shipped.tokenizer, seen) for growth, seen in zip(growths, greedy, strict=True)]


@torch.no_grad()
def grow(model: Transformer, source: Source, beam: int, endless: bool = False) -> list[Growth]:
    """Search with the largest length penalty there is, which searches longest, and keep what every step looked at."""
    growths = [Growth(beam, limit, endless) for limit in source.limits]

    def watch(sentence: int, log_p: Tensor, ranked: Sequence[Extension]) -> None:
        growths[sentence].step(log_p, ranked)

    beam_search(model, source, beam, [MAX_ALPHA] * len(growths), watch, may_stop=not endless)
    return growths


class Growth:
    """The tree of one sentence while it grows: one entry per node, node 0 the root."""

    def __init__(self, beam: int, limit: int, endless: bool) -> None:
        """beam: hypotheses kept; limit: pieces at most; endless: the stop token is forbidden."""
        self.beam, self.limit, self.endless = beam, limit, endless
        self.tokens, self.parents, self.steps, self.ranks = [START], [-1], [0], [0]
        self.values, self.totals, self.stops = [0.0], [0.0], [math.nan]
        self.fates = ["kept"]
        self.greedy: list[int] = []
        self._rows = [0]  # the node that each row of the beam stands at
        self._greedy_row: int | None = 0  # the row that greedy search would stand at, while the beam has it

    def step(self, log_p: Tensor, ranked: Sequence[Extension]) -> None:
        """One step of the search. log_p: (row, vocabulary); ranked: what was looked at, best first."""
        for node, stop in zip(self._rows, log_p[:, STOP].tolist(), strict=False):  # rows without a hypothesis come last
            self.stops[node] = stop
        wanted = None if self._greedy_row is None else (self._greedy_row, self._favourite(log_p[self._greedy_row]))
        rows: list[int] = []
        self._greedy_row = None
        length = self.steps[self._rows[0]] + 1
        for rank, one in enumerate(ranked, 1):
            node = len(self.tokens)
            if (one.parent, one.token) == wanted:
                self.greedy.append(node)
                self._greedy_row = len(rows) if one.fate == "kept" else None
            if one.fate == "kept":
                rows.append(node)
            self.tokens.append(one.token)
            self.parents.append(self._rows[one.parent])
            self.steps.append(length)
            self.ranks.append(rank)
            self.values.append(one.log_probability)
            self.totals.append(one.total)
            self.stops.append(math.nan)
            self.fates.append(one.fate)
        self._rows = rows

    def _favourite(self, log_p: Tensor) -> int:
        """The piece that greedy search would take."""
        first, second = log_p.topk(2).indices.tolist()
        at_limit = self.steps[self._rows[0]] + 1 >= self.limit
        return int(second if first == STOP and self.endless and not at_limit else first)

    def path(self, node: int) -> tuple[int, ...]:
        """The tokens up to a node, the start token left out."""
        tokens: list[int] = []
        while node > 0:
            tokens.append(self.tokens[node])
            node = self.parents[node]
        return tuple(reversed(tokens))

    def tree(self, tokenizer: Tokenizer, greedy: Explanation) -> Tree:
        """What the page gets. greedy: what greedy search makes of the same sentence, the stop token allowed."""
        labels = [tokenizer.piece(token) for token in self.tokens]
        texts = [tokenizer.decode(self.path(i)) if fate == "finished" else "" for i, fate in enumerate(self.fates)]
        return Tree(
            pieces=tuple(piece for piece, _ in labels),
            space=tuple(space for _, space in labels),
            fates=tuple(self.fates),
            texts=tuple(texts),
            parent=frozen(self.parents, np.int32),
            step=frozen(self.steps, np.int32),
            rank=frozen(self.ranks, np.int32),
            log_probability=frozen(self.values, np.float32),
            total=frozen(self.totals, np.float64),
            stop=frozen(self.stops, np.float32),
            beam=self.beam,
            limit=self.limit,
            endless=self.endless,
            greedy=tuple(self.greedy),
            greedy_text="" if self.endless else greedy.text,
            greedy_total=0.0 if self.endless else greedy.log_probability,
            greedy_length=0 if self.endless else len(greedy.target),
        )
