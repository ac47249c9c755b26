"""A traced beam search: the growing hypotheses, and the dropped ones with their steps.

The search itself is in decode.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from models.data.multi30k import PAD, START, STOP, Tokenizer, clean_sentence, pad_rows
from models.decoding.beam import EXTRA, Extension
from models.decoding.translation_search import Source, beam_search
from models.explaining.arrays import freeze
from models.explaining.batching import answer_after, answer_together
from models.explaining.errors import InputError
from models.explaining.request_fields import check_request
from models.networks.encoder_decoder import Transformer
from models.translation.explain import explain
from models.translation.pretrained import load
from models.translation.records import MAX_ALPHA, Explanation, Request
from models.translation.search_records import Search, Tree


def search(requests: Sequence[Search]) -> list[Tree | InputError]:
    """Return the tree of each request, in order; requests of one group share every pass.

    An InputError is that of `explain`, or reports an invalid beam.
    """
    greedy = answer_after(
        requests, explain([Request(request.sentence) for request in requests]), _read_request
    )
    return answer_together(greedy, lambda one: one[0].group(), _grow_trees)


def _read_request(request: Search, greedy: Explanation) -> tuple[Search, Explanation]:
    """Read a request together with its greedy translation.

    Raise InputError for an invalid beam.
    """
    check_request(request)
    return request, greedy


def _grow_trees(asked: Sequence[tuple[Search, Explanation]]) -> list[Tree]:
    """Return the trees of requests of one group, with their greedy translations."""
    shipped, (requests, greedy) = load(), zip(*asked, strict=True)
    tokens = pad_rows(
        [shipped.tokenizer.encode(clean_sentence(request.sentence)).ids for request in requests]
    )
    device = shipped.model.embedding.weight.device
    source = Source(
        tokens.to(device),
        (tokens != PAD).to(device),
        tuple(len(seen.source) + EXTRA for seen in greedy),
    )
    growths = grow(shipped.model, source, requests[0].beam, requests[0].endless)
    return [
        growth.tree(shipped.tokenizer, seen) for growth, seen in zip(growths, greedy, strict=True)
    ]


@torch.no_grad()
def grow(model: Transformer, source: Source, beam: int, endless: bool = False) -> list[Growth]:
    """Search with the largest length penalty, which searches longest, and keep the candidates of
    every step."""
    growths = [Growth(beam, limit, endless) for limit in source.limits]

    def watch(sentence: int, log_p: Tensor, ranked: Sequence[Extension]) -> None:
        growths[sentence].step(log_p, ranked)

    beam_search(model, source, beam, [MAX_ALPHA] * len(growths), watch, may_stop=not endless)
    return growths


class Growth:
    """The growing tree of one sentence: one entry per node, node 0 is the root."""

    def __init__(self, beam: int, limit: int, endless: bool) -> None:
        """Start a tree at its root.

        beam: hypotheses kept. limit: the most pieces. endless: forbid the stop token.
        """
        self.beam, self.limit, self.endless = beam, limit, endless
        self.tokens, self.parents, self.steps, self.ranks = [START], [-1], [0], [0]
        self.values, self.totals, self.stops = [0.0], [0.0], [math.nan]
        self.fates = ["kept"]
        self.greedy: list[int] = []
        self._rows = [0]  # the node that each row of the beam stands at
        # the row that greedy search would stand at, while the beam has it
        self._greedy_row: int | None = 0

    def step(self, log_p: Tensor, ranked: Sequence[Extension]) -> None:
        """Add one step of the search.

        log_p: (row, vocabulary). ranked: the candidates, best first.
        """
        # rows without a hypothesis come last
        for node, stop in zip(self._rows, log_p[:, STOP].tolist(), strict=False):
            self.stops[node] = stop
        wanted = (
            None
            if self._greedy_row is None
            else (self._greedy_row, self._favourite(log_p[self._greedy_row]))
        )
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
        """Return the piece that greedy search would take."""
        first, second = log_p.topk(2).indices.tolist()
        at_limit = self.steps[self._rows[0]] + 1 >= self.limit
        return int(second if first == STOP and self.endless and not at_limit else first)

    def path(self, node: int) -> tuple[int, ...]:
        """Return the tokens up to a node, without the start token."""
        tokens: list[int] = []
        while node > 0:
            tokens.append(self.tokens[node])
            node = self.parents[node]
        return tuple(reversed(tokens))

    def tree(self, tokenizer: Tokenizer, greedy: Explanation) -> Tree:
        """Return the finished tree for the page.

        greedy: the greedy translation of the same sentence, with the stop token allowed.
        """
        labels = [tokenizer.show_piece(token) for token in self.tokens]
        texts = [
            tokenizer.decode(self.path(i)) if fate == "finished" else ""
            for i, fate in enumerate(self.fates)
        ]
        return Tree(
            pieces=tuple(piece for piece, _ in labels),
            space=tuple(space for _, space in labels),
            fates=tuple(self.fates),
            texts=tuple(texts),
            parent=freeze(self.parents, np.int32),
            step=freeze(self.steps, np.int32),
            rank=freeze(self.ranks, np.int32),
            log_probability=freeze(self.values, np.float32),
            total=freeze(self.totals, np.float64),
            stop=freeze(self.stops, np.float32),
            beam=self.beam,
            limit=self.limit,
            endless=self.endless,
            greedy=tuple(self.greedy),
            greedy_text="" if self.endless else greedy.text,
            greedy_total=0.0 if self.endless else greedy.log_probability,
            greedy_length=0 if self.endless else len(greedy.target),
        )
