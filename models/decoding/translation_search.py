"""Greedy and beam search for a translation over preallocated key/value caches, whole batches at a
time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from models.data.multi30k import START, STOP
from models.decoding import sampling
from models.decoding.beam import NEVER, Hypothesis, Searching, Watch, allow_only_stop, finish_search
from models.decoding.beam import search_in_steps as searched
from models.explaining.trace import OFF, Trace
from models.layers import fused
from models.networks.encoder_decoder import AS_PUBLISHED, Changes, Transformer, list_parts

# Ended rows leave the cache only once at most this share of it goes on, because taking them out
# costs as much as some steps.
KEPT = 0.5


@dataclass(frozen=True)
class Source:
    """A batch of sentences to translate: tokens and allowed are (batch, source); limits, the most
    pieces of each translation."""

    tokens: Tensor
    allowed: Tensor  # False at padding and at hidden pieces
    limits: tuple[int, ...]  # the stop token counts
    # A search never sees the future, which is not written yet, so `reads` has no effect.
    changes: Changes = AS_PUBLISHED
    # the output of the encoder, (batch, source, d_model), where it is known
    memory: Tensor | None = None

    def read(self, model: Transformer, trace: Trace = OFF) -> Tensor:
        """Return `memory`; where it is not known yet it is computed, with the taps of `encode`."""
        return (
            model.encode(self.tokens, self.allowed, trace, self.changes)
            if self.memory is None
            else self.memory
        )

    def rows(self, rows: Sequence[int]) -> Source:
        """Return some sentences of the batch."""
        index = torch.tensor(rows, device=self.tokens.device)
        memory = None if self.memory is None else self.memory[index]
        return Source(
            self.tokens[index],
            self.allowed[index],
            tuple(self.limits[i] for i in rows),
            self.changes.select_rows(index),
            memory,
        )


def piece_log_probabilities(
    model: Transformer, hidden: Tensor, never: Sequence[int] = NEVER
) -> Tensor:
    """Return log p over pieces, (…, vocabulary) in float32 nats, for decoder outputs (…, d_model);
    pieces that no translation contains, `never`, have p = 0."""
    logits = model.readout(hidden).float()
    logits[..., list(never)] = -torch.inf
    return logits.log_softmax(-1)


def lay_out_by_column(model: Transformer) -> Transformer:
    """Return the same model with its embedding stored column by column, which makes the readout of
    a single row twice as fast."""
    weight = model.embedding.weight
    weight.data = weight.data.t().contiguous().t()
    return model


class SearchCache(sampling.SamplingCache):
    """Keys and values of everything read so far, for a batch of rows that all stand at the same
    position.

    Memory for the longest translation is taken once; `step` fills one position of it.
    """

    def __init__(
        self,
        model: Transformer,
        memory: Tensor,
        allowed: Tensor,
        longest: int,
        changes: Changes = AS_PUBLISHED,
    ) -> None:
        """Take memory for the cache.

        memory: (row, source, d_model) from the encoder.
        allowed: (row, source).
        longest: positions to make room for.
        """
        super().__init__(model, len(memory), longest, model.embedding.weight)
        self._model, self._longest, self._changes = model, longest, changes
        self._sources, self._allowed = model.project_memory(memory), allowed
        self._fused = self._fuse() if self.fused else None

    def _fuse(self) -> fused.Step:
        """Return the fused step, which is made again whenever rows change."""
        model, changes = self._model, self._changes
        heads, count, paths = model.config.n_heads, len(model.decoder), changes.paths or model.paths
        layers = [list_parts(one) for one in model.decoder]
        weights = fused.Weights.of(
            model, layers, heads, None, model.embedding.weight, never=NEVER, nats=True
        )
        own = self.as_fused(
            changes.gains.get("decoder"),
            cross_gain=[changes.find_gain("cross", i) for i in range(count)],
            cross_keys=[fused.lay_out_by_slot(key) for key, _ in self._sources],
            cross_values=[fused.lay_out_by_slot(value) for _, value in self._sources],
            places=[
                model.positions[changes.first :] if "decoder" in paths.timing and i else None
                for i in range(count)
            ],
            keep=paths.decoder or ((1, 1, 1),) * count,
        )
        mask = torch.zeros_like(self._allowed, dtype=torch.float32).masked_fill_(
            ~self._allowed, -torch.inf
        )
        scale = (model.config.d_model // heads) ** -0.5 if changes.scale is None else changes.scale
        return fused.Step(weights, own, scale, mask, self._allowed.shape[1])

    @torch.no_grad()
    def step(self, tokens: Tensor) -> Tensor:
        """Read one token per row (row,) and return log p of the next one, (row, vocabulary)."""
        if self._fused is not None:
            x = self._model.embed(
                tokens[:, None], self._changes.first + self.position, self._changes.positional
            )[:, 0]
            said = self._fused(x, self.position, place=self.position)
        else:
            hidden = self._model.decode(
                tokens[:, None], self._sources, self._allowed, changes=self._changes, past=self
            )
            said = piece_log_probabilities(self._model, hidden[:, 0])
        self.position += 1
        return said

    def choose(self, rows: Tensor, sentences_change: bool = True) -> None:
        """Go on with these rows (n,) of the batch, in this order; one may come twice. Where each
        row stays with its sentence, only the positions after `<s>` move."""
        position = self.position
        written = [one[..., :position, :].index_select(1, rows) for one in (self.keys, self.values)]
        if len(rows) != self.keys.shape[1]:
            super().__init__(self._model, len(rows), self._longest, self._model.embedding.weight)
        self.position = position
        for own, one in zip((self.keys, self.values), written, strict=True):
            own[..., :position, :] = one
        if sentences_change:
            self._allowed = self._allowed.index_select(0, rows)
            self._sources = [
                (key.index_select(0, rows), value.index_select(0, rows))
                for key, value in self._sources
            ]
            self._changes = self._changes.select_rows(rows)
            self._fused = self._fuse() if self.fused else None


def _find_greatest(values: Tensor) -> Tensor:
    """Return the place of the greatest of each row; on a CPU by NumPy, whose argmax is
    vectorised."""
    return (
        torch.from_numpy(values.detach().numpy().argmax(-1))
        if values.device.type == "cpu"
        else values.argmax(-1)
    )


class Greedy:
    """Greedy search, one step at a time: at every position the most probable piece."""

    def __init__(self, model: Transformer, source: Source) -> None:
        self._source = source
        count = len(source.limits)
        self._cache = SearchCache(
            model, source.read(model), source.allowed, max(source.limits, default=0), source.changes
        )
        self._last = source.tokens.new_full((count,), START)
        self._rows = list(range(count))  # which sentence stands in each row of the cache
        self.done = not count  # whether every sentence has stopped
        self.tokens: list[list[int]] = [[] for _ in range(count)]
        self.log_probabilities: list[list[float]] = [[] for _ in range(count)]

    def add_piece(self) -> list[int]:
        """Add one piece to every sentence that has not stopped; return those sentences."""
        log_p = self._cache.step(self._last)
        length = self._cache.position
        allow_only_stop(
            log_p,
            [
                row
                for row, sentence in enumerate(self._rows)
                if length >= self._source.limits[sentence]
            ],
        )
        piece = _find_greatest(log_p)
        best = log_p.gather(1, piece[:, None])[:, 0]
        moved = [sentence for sentence in self._rows if not self.is_finished(sentence)]
        for sentence, token, value in zip(self._rows, piece.tolist(), best.tolist(), strict=True):
            if not self.is_finished(sentence):
                self.tokens[sentence].append(token)
                self.log_probabilities[sentence].append(value)
        going = [row for row, sentence in enumerate(self._rows) if not self.is_finished(sentence)]
        self._last, self.done = piece, not going
        if going and len(going) <= KEPT * len(self._rows):
            index = torch.tensor(going, device=piece.device)
            self._cache.choose(index)
            self._last, self._rows = (
                piece.index_select(0, index),
                [self._rows[row] for row in going],
            )
        return moved

    def is_finished(self, sentence: int) -> bool:
        """Return whether the translation of this sentence is finished."""
        return bool(self.tokens[sentence]) and self.tokens[sentence][-1] == STOP

    def result(self, sentence: int) -> Hypothesis:
        """Return the translation so far of a sentence."""
        return Hypothesis(tuple(self.tokens[sentence]), tuple(self.log_probabilities[sentence]))


def greedy_search(model: Transformer, source: Source) -> list[Hypothesis]:
    """Return the greedy translation of every sentence of the batch."""
    search = Greedy(model, source)
    while not search.done:
        search.add_piece()
    return [search.result(i) for i in range(len(source.limits))]


def search_in_steps(
    model: Transformer,
    source: Source,
    beam: int | Sequence[int],
    alphas: Sequence[float],
    watch: Watch | None = None,
    may_stop: bool = True,
) -> Searching:
    """Run the search of `models.decoding.beam` with this model."""

    def begin(wide: int) -> SearchCache:
        rows = torch.arange(len(source.limits), device=source.tokens.device).repeat_interleave(wide)
        return SearchCache(
            model,
            source.read(model)[rows],
            source.allowed[rows],
            max(source.limits, default=0),
            source.changes.select_rows(rows),
        )

    return searched(begin, source.limits, beam, alphas, source.tokens.device, watch, may_stop)


def beam_search(
    model: Transformer, source: Source, *how: Any, **more: Any
) -> list[list[Hypothesis]]:
    """Run `search_in_steps` to its end."""
    return finish_search(search_in_steps(model, source, *how, **more))
