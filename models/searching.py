"""Finding a translation: greedy and beam search over preallocated key/value caches, whole batches at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from models import fused, sampling
from models.beam import NEVER, Hypothesis, Searching, Watch, finished, only_stop
from models.beam import beam_steps as searched
from models.encoder_decoder import AS_PUBLISHED, Changes, Transformer, parts
from models.multi30k import START, STOP
from models.trace import OFF, Trace

KEPT = 0.5  # ended rows leave the cache once no more than this share of it goes on: taking them out costs as much as some steps


@dataclass(frozen=True)
class Source:
    """A batch of sentences to translate: tokens and allowed are (batch, source); limits, the most pieces of each translation."""

    tokens: Tensor
    allowed: Tensor  # False at padding and at hidden pieces
    limits: tuple[int, ...]  # the stop token counts
    changes: Changes = AS_PUBLISHED  # a search never sees the future, which is not written yet: `reads` says nothing here
    memory: Tensor | None = None  # (batch, source, d_model), what the encoder makes of them, where that is known

    def read(self, model: Transformer, trace: Trace = OFF) -> Tensor:
        """`memory`; where it is not known it is computed, with taps of `encode`."""
        return model.encode(self.tokens, self.allowed, trace, self.changes) if self.memory is None else self.memory

    def rows(self, rows: Sequence[int]) -> Source:
        """Some sentences of the batch."""
        index = torch.tensor(rows, device=self.tokens.device)
        memory = None if self.memory is None else self.memory[index]
        return Source(self.tokens[index], self.allowed[index], tuple(self.limits[i] for i in rows), self.changes.rows(index), memory)


def piece_log_probabilities(model: Transformer, hidden: Tensor, never: Sequence[int] = NEVER) -> Tensor:
    """log p over pieces, (…, vocabulary) in float32 nats, for decoder outputs (…, d_model); what no translation contains, `never`, has
    p = 0."""
    logits = model.readout(hidden).float()
    logits[..., list(never)] = -torch.inf
    return logits.log_softmax(-1)


def laid_out(model: Transformer) -> Transformer:
    """The same model with its embedding stored column by column, which makes the readout of a single row twice as fast."""
    weight = model.embedding.weight
    weight.data = weight.data.t().contiguous().t()
    return model


class Cache(sampling.Cache):
    """Keys and values of everything read so far, for a batch of rows that all stand at the same position.

    Memory for the longest translation is taken once; `step` fills one position of it.
    """

    def __init__(self, model: Transformer, memory: Tensor, allowed: Tensor, longest: int, changes: Changes = AS_PUBLISHED) -> None:
        """memory: (row, source, d_model) from the encoder; allowed: (row, source); longest: positions to make room for."""
        super().__init__(model, len(memory), longest, model.embedding.weight)
        self._model, self._longest, self._changes = model, longest, changes
        self._sources, self._allowed = model.key_values(memory), allowed
        self._fused = self._fuse() if self.fused else None

    def _fuse(self) -> fused.Step:
        """Steps in one call, anew whenever rows change."""
        model, changes = self._model, self._changes
        heads, count, paths = model.config.n_heads, len(model.decoder), changes.paths or model.paths
        layers = [parts(one) for one in model.decoder]
        weights = fused.Weights.of(model, layers, heads, None, model.embedding.weight, never=NEVER, nats=True)
        own = self.own(
            changes.gains.get("decoder"),
            cross_gain=[changes.gain("cross", i) for i in range(count)],
            cross_keys=[fused.by_slot(key) for key, _ in self._sources],
            cross_values=[fused.by_slot(value) for _, value in self._sources],
            places=[model.positions[changes.first :] if paths.timing and i else None for i in range(count)],
            keep=paths.decoder or ((1, 1, 1),) * count,
        )
        mask = torch.zeros_like(self._allowed, dtype=torch.float32).masked_fill_(~self._allowed, -torch.inf)
        scale = (model.config.d_model // heads) ** -0.5 if changes.scale is None else changes.scale
        return fused.Step(weights, own, scale, mask, self._allowed.shape[1])

    @torch.no_grad()
    def step(self, tokens: Tensor) -> Tensor:
        """Read one token per row (row,) and return log p of what follows, (row, vocabulary)."""
        if self._fused is not None:
            x = self._model.embed(tokens[:, None], self._changes.first + self.position, self._changes.positional)[:, 0]
            said = self._fused(x, self.position, place=self.position)
        else:
            hidden = self._model.decode(tokens[:, None], self._sources, self._allowed, changes=self._changes, past=self)
            said = piece_log_probabilities(self._model, hidden[:, 0])
        self.position += 1
        return said

    def choose(self, rows: Tensor, sentences_change: bool = True) -> None:
        """Go on with these rows (n,) of the batch, in this order; one may come twice. Where each row stays with its sentence,
        only what was written after `<s>` moves."""
        position = self.position
        written = [one[..., :position, :].index_select(1, rows) for one in (self.keys, self.values)]
        if len(rows) != self.keys.shape[1]:
            super().__init__(self._model, len(rows), self._longest, self._model.embedding.weight)
        self.position = position
        for own, one in zip((self.keys, self.values), written, strict=True):
            own[..., :position, :] = one
        if sentences_change:
            self._allowed = self._allowed.index_select(0, rows)
            self._sources = [(key.index_select(0, rows), value.index_select(0, rows)) for key, value in self._sources]
            self._changes = self._changes.rows(rows)
            self._fused = self._fuse() if self.fused else None


def _argmax(values: Tensor) -> Tensor:
    """The place of the greatest of each row; on a CPU by NumPy, whose argmax is vectorised."""
    return torch.from_numpy(values.detach().numpy().argmax(-1)) if values.device.type == "cpu" else values.argmax(-1)


class Greedy:
    """Greedy search, one step at a time: at every position the most probable piece."""

    def __init__(self, model: Transformer, source: Source) -> None:
        self._source = source
        count = len(source.limits)
        self._cache = Cache(model, source.read(model), source.allowed, max(source.limits, default=0), source.changes)
        self._last = source.tokens.new_full((count,), START)
        self._rows = list(range(count))  # which sentence stands in each row of the cache
        self.done = not count  # has every sentence stopped?
        self.tokens: list[list[int]] = [[] for _ in range(count)]
        self.log_probabilities: list[list[float]] = [[] for _ in range(count)]

    def step(self) -> list[int]:
        """One piece more for every sentence that has not stopped; returns those sentences."""
        log_p = self._cache.step(self._last)
        length = self._cache.position
        only_stop(log_p, [row for row, sentence in enumerate(self._rows) if length >= self._source.limits[sentence]])
        piece = _argmax(log_p)
        best = log_p.gather(1, piece[:, None])[:, 0]
        moved = [sentence for sentence in self._rows if not self.stopped(sentence)]
        for sentence, token, value in zip(self._rows, piece.tolist(), best.tolist(), strict=True):
            if not self.stopped(sentence):
                self.tokens[sentence].append(token)
                self.log_probabilities[sentence].append(value)
        going = [row for row, sentence in enumerate(self._rows) if not self.stopped(sentence)]
        self._last, self.done = piece, not going
        if going and len(going) <= KEPT * len(self._rows):
            index = torch.tensor(going, device=piece.device)
            self._cache.choose(index)
            self._last, self._rows = piece.index_select(0, index), [self._rows[row] for row in going]
        return moved

    def stopped(self, sentence: int) -> bool:
        """Is the translation of this sentence finished?"""
        return bool(self.tokens[sentence]) and self.tokens[sentence][-1] == STOP

    def result(self, sentence: int) -> Hypothesis:
        """What has been produced for a sentence."""
        return Hypothesis(tuple(self.tokens[sentence]), tuple(self.log_probabilities[sentence]))


def greedy_search(model: Transformer, source: Source) -> list[Hypothesis]:
    """The greedy translation of every sentence of the batch."""
    search = Greedy(model, source)
    while not search.done:
        search.step()
    return [search.result(i) for i in range(len(source.limits))]


def beam_steps(
    model: Transformer,
    source: Source,
    beam: int | Sequence[int],
    alphas: Sequence[float],
    watch: Watch | None = None,
    may_stop: bool = True,
) -> Searching:
    """The search of `models.beam` with this model."""

    def begin(wide: int) -> Cache:
        rows = torch.arange(len(source.limits), device=source.tokens.device).repeat_interleave(wide)
        return Cache(model, source.read(model)[rows], source.allowed[rows], max(source.limits, default=0), source.changes.rows(rows))

    return searched(begin, source.limits, beam, alphas, source.tokens.device, watch, may_stop)


def beam_search(model: Transformer, source: Source, *how: Any, **more: Any) -> list[list[Hypothesis]]:
    """All of `beam_steps` at once."""
    return finished(beam_steps(model, source, *how, **more))
