"""Mask-predict: write every masked piece at once, mask again those that are least sure, and repeat (Ghazvininejad et al., 2019, §3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from models.beam import NEVER, Hypothesis
from models.encoder_decoder import DecoderLayer
from models.layers.masks import keys_allowed
from models.multi30k import PAD, STOP, padded
from models.nonautoregressive.model import LONGER, MASK, SHORTER, AllAtOnce
from models.searching import Views
from models.trace import OFF, Trace


class Read(NamedTuple):
    """Sentences that are read: keys and values of the source in every layer of the decoder, which positions of it are no padding, and
    log p(N | X) of N = S − SHORTER … S + LONGER, (row, 32), −∞ where N < 1. layers: of the decoder."""

    layers: list[Views]
    sources: list[tuple[Tensor, Tensor]]
    allowed: Tensor
    lengths: Tensor

    def rows(self, index: Tensor) -> Read:
        """The sentences that index (n,) names; one may come twice."""
        sources = [(key.index_select(0, index), value.index_select(0, index)) for key, value in self.sources]
        return Read(self.layers, sources, self.allowed.index_select(0, index), self.lengths.index_select(0, index))

    def candidates(self, count: int) -> list[list[int]]:
        """The likeliest lengths of each sentence, best first."""
        shortest = self.allowed.sum(1, keepdim=True) - SHORTER
        found: list[list[int]] = (self.lengths.topk(count).indices + shortest).tolist()
        return found


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
    layers = [Views.of(layer) for layer in model.decoder if isinstance(layer, DecoderLayer)]
    return Read(layers, model.key_values(memory), allowed, lengths)


def passes(
    model: AllAtOnce, source: Read, lengths: Sequence[int], times: int, pinned: Sequence[dict[int, int]] = (), trace: Trace = OFF
) -> Iterator[Pass]:
    """min(T, N) passes over translations of these lengths, N pieces each. times: T. trace: taps of pass t below `t`.

    After pass t < T the ⌊N(T − t)/T⌋ lowest-scored of all positions, at least one, are masked again; the others keep piece and score.
    pinned: of each row the tokens that stand at some positions from the start: they are never masked and do not count in N.
    """
    device = model.embedding.weight.device
    tokens = padded([[MASK] * n for n in lengths])
    for row, held in enumerate(pinned):
        tokens[row, list(held)] = torch.tensor(list(held.values()), dtype=torch.int64)
    tokens = tokens.to(device)
    free = tokens == MASK
    masked, count = free, free.sum(1, keepdim=True)
    total = count.clamp(1, times)  # passes of each row
    scores = torch.zeros(tokens.shape, device=device)
    for t in range(1, int(total.max()) + 1):
        found = again(model, source, tokens, scores, masked, trace.within(t - 1))
        yield found
        tokens, scores = found.tokens, found.scores
        few = torch.where(t < total, (count * (total - t) // total).clamp_min(1), 0)
        masked = (scores.masked_fill(~free, torch.inf).argsort(dim=1, stable=True).argsort(1) < few) & free


def again(model: AllAtOnce, source: Read, tokens: Tensor, scores: Tensor, masked: Tensor, trace: Trace = OFF) -> Pass:
    """One pass that writes the masked positions anew. tokens, scores, masked: (row, target), as of the `Pass` before."""
    seen = tokens.masked_fill(masked, MASK)
    hidden = filled(model, source, seen) if trace is OFF else model.fill(seen, source.sources, source.allowed, trace)
    logits = possible(model, hidden[masked])
    best, piece = logits.max(-1)
    tokens, scores = tokens.clone(), scores.clone()
    tokens[masked], scores[masked] = piece, best - logits.logsumexp(-1)
    return Pass(tokens, scores, masked, hidden)


def possible(model: AllAtOnce, hidden: Tensor) -> Tensor:
    """(…, d_model) -> (…, vocabulary), unnormalised log p of every piece in float32, −∞ for what no translation contains."""
    logits = model.readout(hidden).float()
    logits[..., [*NEVER, STOP]] = -torch.inf
    return logits


def filled(model: AllAtOnce, source: Read, seen: Tensor) -> Tensor:
    """`AllAtOnce.fill` in as few calls of the library as it takes, for they are most of the time of a single sentence; the tests hold both
    equal. seen: (row, target)."""
    rows, length = seen.shape
    heads, width = model.config.n_heads, model.config.d_model

    def split(x: Tensor) -> Tensor:
        return x.view(rows, length, heads, -1).transpose(1, 2)

    def attended(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        return F.scaled_dot_product_attention(split(query), key, value, mask).transpose(1, 2).reshape(-1, width)

    real = seen != PAD
    own, cross = (None if bool(there.all()) else keys_allowed(there) for there in (real, source.allowed))
    x = model.embed(seen).view(-1, width)
    for layer, (key, value) in zip(source.layers, source.sources, strict=True):
        query, mine, its = (torch.addmm(bias, x, matrix) for matrix, bias in (layer.query, layer.key, layer.value))
        x = torch.addmm(layer.out_of_self[1], attended(query, split(mine), split(its), own), layer.out_of_self[0]).add_(x)
        x = torch.layer_norm(x, (width,), *layer.norm_self)
        query = torch.addmm(layer.cross_query[1], x, layer.cross_query[0])
        x = torch.addmm(layer.out_of_cross[1], attended(query, key, value, cross), layer.out_of_cross[0]).add_(x)
        x = torch.layer_norm(x, (width,), *layer.norm_cross)
        inner = torch.addmm(layer.inner[1], x, layer.inner[0]).relu_()
        x = torch.layer_norm(torch.addmm(layer.outer[1], inner, layer.outer[0]).add_(x), (width,), *layer.norm)
    return x.view(rows, length, width)


@torch.no_grad()
def mask_predict(model: AllAtOnce, sentences: Sequence[Sequence[int]], times: int, candidates: int = 1) -> list[Hypothesis]:
    """The translation of each sentence, without a stop token; of as many likely lengths the one whose mean log p is highest."""
    source = read(model, sentences)
    lengths = [n for row in source.candidates(candidates) for n in row]
    wide = torch.arange(len(sentences), device=source.allowed.device).repeat_interleave(candidates)
    *_, last = passes(model, source.rows(wide) if candidates > 1 else source, lengths, times)
    rows = [
        Hypothesis(tuple(tokens[:n]), tuple(scores[:n]))
        for n, tokens, scores in zip(lengths, last.tokens.tolist(), last.scores.tolist(), strict=True)
    ]
    mean = [one.log_probability / len(one.tokens) for one in rows]
    return [rows[max(range(i, i + candidates), key=mean.__getitem__)] for i in range(0, len(rows), candidates)]
