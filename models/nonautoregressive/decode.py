"""Mask-predict: write every masked piece at once, mask the least certain pieces again, and repeat
(Ghazvininejad et al., 2019, §3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import torch
from torch import Tensor

from models.data.multi30k import PAD, STOP, pad_rows
from models.decoding.beam import NEVER, Hypothesis
from models.decoding.translation_search import piece_log_probabilities
from models.explaining.trace import OFF, Trace
from models.layers.fused import Whole
from models.nonautoregressive.model import LONGER, MASK, SHORTER, AllAtOnce

IMPOSSIBLE = [*NEVER, STOP]  # tokens that no translation contains
# as in the autoregressive search, but without a stop token
possible = partial(piece_log_probabilities, never=IMPOSSIBLE)


@dataclass(frozen=True)
class Read:
    """Encoded sentences: their tokens, (row, source), the encoder's output, (row, source, d_model),
    the positions without padding, and log p(N | X) of N = S − SHORTER … S + LONGER, (row, 32), −∞
    where N < 1."""

    model: AllAtOnce
    tokens: Tensor
    memory: Tensor
    allowed: Tensor
    lengths: Tensor

    def likeliest(self, rank: int = 0) -> list[int]:
        """Return the likeliest length of each sentence.

        rank: 1 for the second likeliest, and so on.
        """
        order = self.lengths.argsort(dim=1, descending=True, stable=True)
        found: list[int] = (order[:, rank] + self.allowed.sum(1) - SHORTER).tolist()
        return found

    @cached_property
    def sources(self) -> list[tuple[Tensor, Tensor]]:
        """The keys and values in every layer of the decoder."""
        return self.model.project_memory(self.memory)

    @cached_property
    def _whole(self) -> tuple[Whole, Tensor] | None:
        """The function that fills a translation of one sentence in one call, with its keys and
        values; None if it is not fused."""
        whole = (
            self.model.fuse_side(self.model.decoder, IMPOSSIBLE) if len(self.tokens) == 1 else None
        )
        return (
            None
            if whole is None or not bool(self.allowed.all())
            else (whole, whole.project_source(self.memory[0]))
        )

    def fill_seen(self, seen: Tensor, trace: Trace = OFF) -> Tensor:
        """Run `AllAtOnce.fill` on partly masked translations, (row, target)."""
        if trace is OFF and self._whole is not None:
            whole, source = self._whole
            return whole(self.model.embed(seen)[0], source)[None]
        return self.model.fill(seen, self.sources, self.allowed, trace)

    def possible(self, hidden: Tensor) -> Tensor:
        """Return `possible` for some positions, (position, d_model)."""
        return (
            possible(self.model, hidden)
            if self._whole is None
            else self._whole[0].readout(hidden).log_softmax(-1)
        )


class Pass(NamedTuple):
    """The translations after one pass.

    tokens: (row, target), PAD after the end. scores: log p of each in nats, from the pass that
    wrote it. masked: whether this pass wrote a piece. hidden: the vector of every position, (row,
    target, d_model).
    """

    tokens: Tensor
    scores: Tensor
    masked: Tensor
    hidden: Tensor


def read(model: AllAtOnce, sentences: Sequence[Sequence[int]], trace: Trace = OFF) -> Read:
    """Encode sentences, given as tokens, in one pass."""
    tokens = pad_rows(sentences).to(model.embedding.weight.device)
    allowed = tokens != PAD
    memory = model.encode(tokens, allowed, trace=trace)
    places = allowed.sum(1, keepdim=True) + torch.arange(-SHORTER, LONGER + 1, device=tokens.device)
    lengths = (
        model.lengths(memory, allowed).float().masked_fill(places < 1, -torch.inf).log_softmax(-1)
    )
    return Read(model, tokens, memory, allowed, lengths)


def passes(
    source: Read, tokens: Tensor, times: int, again: Sequence[int] = (), trace: Trace = OFF
) -> Iterator[Pass]:
    """Yield min(T, N) passes over translations.

    tokens: (row, target), MASK where a piece is missing, N in a row, PAD after the end; other
    pieces are never masked. After pass t < T, the ⌊N(T − t)/T⌋ positions with the lowest scores, at
    least one, are masked again; the others keep piece and score. times: T. again: positions that
    are masked once more after the last pass, for one additional pass. trace: the taps of pass t are
    below `t`.
    """
    free, scores = tokens == MASK, torch.zeros(tokens.shape, device=tokens.device)
    masked, count = free, free.sum(1, keepdim=True)
    total = count.clamp(1, times)  # passes of each row
    once_more = torch.zeros_like(free)
    once_more[:, list(again)] = free[:, list(again)]
    last = int(total.max())
    for t in range(last + bool(once_more.any())):
        if t:
            few = torch.where(t < total, (count * (total - t) // total).clamp_min(1), 0)
            order = scores.masked_fill(~free, torch.inf).argsort(dim=1, stable=True).argsort(1)
            masked = free & (order < few) if t < last else once_more
        seen = tokens.masked_fill(masked, MASK)
        hidden = source.fill_seen(seen, trace.within(t))
        best, piece = source.possible(hidden[masked]).max(-1)
        tokens, scores = tokens.masked_scatter(masked, piece), scores.masked_scatter(masked, best)
        yield Pass(tokens, scores, masked, hidden)


@torch.no_grad()
def mask_predict(
    model: AllAtOnce, sentences: Sequence[Sequence[int]], times: int, lengths: int = 1
) -> list[Hypothesis]:
    """Translate each sentence in `times` passes, without a stop token.

    Write it in this many of its likeliest `lengths`, and return the translation with the largest
    mean log p of its pieces.
    """
    source = read(model, sentences)

    def write_rows(sizes: list[int]) -> list[Hypothesis]:
        *_, last = passes(
            source, pad_rows([[MASK] * n for n in sizes]).to(source.allowed.device), times
        )
        rows = zip(sizes, last.tokens.tolist(), last.scores.tolist(), strict=True)
        return [Hypothesis(tuple(tokens[:n]), tuple(scores[:n])) for n, tokens, scores in rows]

    tried = [write_rows(source.likeliest(rank)) for rank in range(lengths)]
    return [
        max(each, key=lambda one: one.log_probability / len(one.tokens))
        for each in zip(*tried, strict=True)
    ]
