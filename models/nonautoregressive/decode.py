"""Mask-predict: write every masked piece at once, mask again those that are least sure, and repeat (Ghazvininejad et al., 2019, §3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import torch
from torch import Tensor

from models.beam import NEVER, Hypothesis
from models.fused import Whole
from models.multi30k import PAD, STOP, padded
from models.nonautoregressive.model import LONGER, MASK, SHORTER, AllAtOnce
from models.searching import piece_log_probabilities
from models.trace import OFF, Trace

IMPOSSIBLE = [*NEVER, STOP]  # pieces that no translation contains
possible = partial(piece_log_probabilities, never=IMPOSSIBLE)  # as there, without a stop token


@dataclass(frozen=True)
class Read:
    """Sentences that are read, (row, source): their tokens, what the encoder makes of them, (row, source, d_model), which positions are no
    padding, and log p(N | X) of N = S − SHORTER … S + LONGER, (row, 32), −∞ where N < 1."""

    model: AllAtOnce
    tokens: Tensor
    memory: Tensor
    allowed: Tensor
    lengths: Tensor

    def likeliest(self, rank: int = 0) -> list[int]:
        """The likeliest length of each sentence. rank: 1, the second likeliest; and so on."""
        order = self.lengths.argsort(dim=1, descending=True, stable=True)
        found: list[int] = (order[:, rank] + self.allowed.sum(1) - SHORTER).tolist()
        return found

    @cached_property
    def sources(self) -> list[tuple[Tensor, Tensor]]:
        """Keys and values in every layer of the decoder."""
        return self.model.key_values(self.memory)

    @cached_property
    def _whole(self) -> tuple[Whole, Tensor] | None:
        """What fills a translation of one sentence in one call, and keys and values for it; None where that is not fused."""
        whole = self.model.whole(self.model.decoder, IMPOSSIBLE) if len(self.tokens) == 1 else None
        return None if whole is None or not bool(self.allowed.all()) else (whole, whole.source(self.memory[0]))

    def filled(self, seen: Tensor, trace: Trace = OFF) -> Tensor:
        """`AllAtOnce.fill` from what is seen of the translations, (row, target)."""
        if trace is OFF and self._whole is not None:
            whole, source = self._whole
            return whole(self.model.embed(seen)[0], source)[None]
        return self.model.fill(seen, self.sources, self.allowed, trace)

    def possible(self, hidden: Tensor) -> Tensor:
        """`possible` of some positions, (position, d_model)."""
        return possible(self.model, hidden) if self._whole is None else self._whole[0].readout(hidden).log_softmax(-1)


class Pass(NamedTuple):
    """What stands after one pass. tokens (row, target), PAD behind the end; scores: log p of each in nats, from the pass that wrote it;
    masked: what this pass wrote; hidden: (row, target, d_model), what it knows of every position."""

    tokens: Tensor
    scores: Tensor
    masked: Tensor
    hidden: Tensor


def read(model: AllAtOnce, sentences: Sequence[Sequence[int]], trace: Trace = OFF) -> Read:
    """One pass of the encoder over sentences, tokens each."""
    tokens = padded(sentences).to(model.embedding.weight.device)
    allowed = tokens != PAD
    memory = model.encode(tokens, allowed, trace=trace)
    places = allowed.sum(1, keepdim=True) + torch.arange(-SHORTER, LONGER + 1, device=tokens.device)
    lengths = model.lengths(memory, allowed).float().masked_fill(places < 1, -torch.inf).log_softmax(-1)
    return Read(model, tokens, memory, allowed, lengths)


def passes(source: Read, tokens: Tensor, times: int, again: Sequence[int] = (), trace: Trace = OFF) -> Iterator[Pass]:
    """min(T, N) passes over translations. times: T. trace: taps of pass t below `t`.

    tokens: (row, target), MASK where a piece is to be found, N in a row, PAD behind the end; what else stands there is never masked.
    After pass t < T the ⌊N(T − t)/T⌋ lowest-scored of all positions, at least one, are masked again; the others keep piece and score.
    again: positions that are masked once more after the last pass, for one pass more.
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
        hidden = source.filled(seen, trace.within(t))
        best, piece = source.possible(hidden[masked]).max(-1)
        tokens, scores = tokens.masked_scatter(masked, piece), scores.masked_scatter(masked, best)
        yield Pass(tokens, scores, masked, hidden)


@torch.no_grad()
def mask_predict(model: AllAtOnce, sentences: Sequence[Sequence[int]], times: int, lengths: int = 1) -> list[Hypothesis]:
    """The translation of each sentence, without a stop token, in `times` passes. It is written in so many of its likeliest `lengths`, and
    the one whose pieces have the largest mean log p is taken."""
    source = read(model, sentences)

    def written(sizes: list[int]) -> list[Hypothesis]:
        *_, last = passes(source, padded([[MASK] * n for n in sizes]).to(source.allowed.device), times)
        rows = zip(sizes, last.tokens.tolist(), last.scores.tolist(), strict=True)
        return [Hypothesis(tuple(tokens[:n]), tuple(scores[:n])) for n, tokens, scores in rows]

    tried = [written(source.likeliest(rank)) for rank in range(lengths)]
    return [max(each, key=lambda one: one.log_probability / len(one.tokens)) for each in zip(*tried, strict=True)]
