"""Finding a translation: greedy and beam search over preallocated key/value caches, whole batches at a time."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor, nn

from models import fused
from models.beam import NEVER, Hypothesis, Watch, finished, only_stop
from models.beam import beam_steps as searched
from models.encoder_decoder import AS_PUBLISHED, Changes, DecoderLayer, Gains, Transformer
from models.multi30k import START, STOP


@dataclass(frozen=True)
class Source:
    """A batch of sentences to translate: tokens and allowed are (batch, source); limits, the most pieces of each translation."""

    tokens: Tensor
    allowed: Tensor  # False at padding and at hidden pieces
    limits: tuple[int, ...]  # the stop token counts
    gains: Gains | None = None
    changes: Changes = AS_PUBLISHED  # a search never sees the future, which is not written yet: `reads` says nothing here


def piece_log_probabilities(model: Transformer, hidden: Tensor) -> Tensor:
    """log p over pieces, (…, vocabulary) in float32 nats, for decoder outputs (…, d_model); what no translation contains has p = 0."""
    logits = model.readout(hidden).float()
    logits[..., list(NEVER)] = -torch.inf
    return logits.log_softmax(-1)


def laid_out(model: Transformer) -> Transformer:
    """The same model with its embedding stored column by column, which makes the readout of a single row twice as fast."""
    weight = model.embedding.weight
    weight.data = weight.data.t().contiguous().t()
    return model


class Views(NamedTuple):
    """A decoder layer's parameters as one step multiplies by them: matrices (in, out), views of the model's own."""

    query: tuple[Tensor, Tensor]
    key: tuple[Tensor, Tensor]
    value: tuple[Tensor, Tensor]
    out_of_self: tuple[Tensor, Tensor]
    norm_self: tuple[Tensor, Tensor]
    cross_query: tuple[Tensor, Tensor]  # queries alone: keys and values of the source are made once
    out_of_cross: tuple[Tensor, Tensor]
    norm_cross: tuple[Tensor, Tensor]
    inner: tuple[Tensor, Tensor]
    outer: tuple[Tensor, Tensor]
    norm: tuple[Tensor, Tensor]

    @classmethod
    def of(cls, layer: DecoderLayer) -> Views:
        """Views of a layer's parameters."""
        own, cross, feed_forward = layer.self_attention, layer.cross_attention, layer.feed_forward
        d = own.d_model
        query, key, value = ((own.project_in.weight[i : i + d].t(), own.project_in.bias[i : i + d]) for i in (0, d, 2 * d))
        norms = [(norm.weight, norm.bias) for norm in layer.norms if isinstance(norm, nn.LayerNorm)]
        return cls(
            query,
            key,
            value,
            _matrix(own.project_out),
            norms[0],
            (cross.project_in.weight[:d].t(), cross.project_in.bias[:d]),
            _matrix(cross.project_out),
            norms[1],
            _matrix(feed_forward.inner),
            _matrix(feed_forward.outer),
            norms[2],
        )


def _matrix(linear: nn.Linear) -> tuple[Tensor, Tensor]:
    return linear.weight.t(), linear.bias


class Cache:
    """Keys and values of everything read so far, for a batch of rows that all stand at the same position.

    Memory for the longest translation is taken once; `step` fills one position of it. A step has one query per row, so its matrices
    are small and most of its time goes into calling the library: `step` therefore spells the decoder's equations out in as few calls
    as they take, on views made beforehand. The tests hold it equal to the decoder itself.
    """

    def __init__(
        self,
        model: Transformer,
        memory: Tensor,
        allowed: Tensor,
        longest: int,
        gains: Gains | None,
        changes: Changes = AS_PUBLISHED,
    ) -> None:
        """memory: (row, source, d_model) from the encoder; allowed: (row, source); longest: positions to make room for."""
        config = model.config
        rows = memory.shape[0]
        d_head = config.d_model // config.n_heads
        self.position = 0
        self._model, self._longest = model, longest
        self._heads = (config.n_heads, d_head)
        self._width = (config.d_model,)
        self._scale = d_head**-0.5 if changes.scale is None else changes.scale
        self._embedding = model.embedding.weight
        self._places = (model.positions if changes.positional else torch.zeros_like(model.positions))[changes.first :]
        self._root = math.sqrt(config.d_model)
        self._never = self._embedding.new_zeros(config.vocabulary)
        self._never[list(NEVER)] = -torch.inf
        self._nothing = memory.new_zeros(1)
        paths = changes.paths or model.paths
        self._timing, self._paths = paths.timing, paths.decoder or ((1, 1, 1),) * config.n_layers
        self._own = self._room(rows)
        self._sources = model.key_values(memory)
        self._allowed = allowed
        self._gains = gains
        self._flatten()

    @cached_property
    def _layers(self) -> list[Views]:
        return [Views.of(layer) for layer in self._model.decoder if isinstance(layer, DecoderLayer)]

    def _room(self, rows: int) -> Tensor:
        """(layer, key or value, position, row, d_model); where steps are fused, a channel's positions stand side by side."""
        shape = self._model.config.n_layers, 2, self._longest, rows, *self._width
        if not fused.serves(self._embedding, rows, self._heads[1]):
            return self._nothing.new_empty(shape)
        return fused.room_for(self._nothing, *shape[:2], *shape[3:], self._longest).permute(0, 1, 4, 2, 3)

    def _fuse(self) -> fused.Step:
        """Steps in one call, anew whenever rows change."""
        layers = [layer for layer in self._model.decoder if isinstance(layer, DecoderLayer)]
        parts = [
            fused.Parts(one.self_attention, norm, one.feed_forward, last, one.cross_attention, cross_norm)  # type: ignore[arg-type]
            for one in layers
            for norm, cross_norm, last in [one.norms]
        ]
        weights = fused.Weights.of(self._model, parts, self._heads[0], None, self._embedding, never=NEVER, nats=True)
        own = []
        for i, (room, (key, value), keep) in enumerate(zip(self._own, self._sources, self._paths, strict=True)):
            keys, values = (one.permute(1, 2, 0).unflatten(1, self._heads).unbind(1) for one in room)
            own.append(
                fused.Own(
                    keys,
                    values,
                    gain=None if self._gains is None else self._gains.decoder[i].contiguous(),
                    cross_gain=None if self._gains is None else self._gains.cross[i].contiguous(),
                    cross_keys=fused.by_slot(key),
                    cross_values=fused.by_slot(value),
                    places=self._places if self._timing and i else None,
                    keep=tuple(keep),
                )
            )
        mask = torch.zeros_like(self._allowed, dtype=torch.float32).masked_fill_(~self._allowed, -torch.inf)
        return fused.Step(weights, own, self._scale, mask, self._allowed.shape[1])

    def _flatten(self) -> None:
        """Views with rows and heads in one axis, as a batched product takes them; anew whenever rows change."""
        rows, heads = self._own.shape[3], self._heads[0]
        self._fused = self._fuse() if fused.serves(self._embedding, rows, self._heads[1]) else None
        if self._fused is not None:
            return
        self._own_heads = self._own.view(*self._own.shape[:3], -1, self._heads[1])
        self._cross = [(key.flatten(0, 1).transpose(1, 2), value.flatten(0, 1)) for key, value in self._sources]
        self._mask: Tensor | None = None
        if not bool(self._allowed.all()):
            sees = self._allowed.any(1)  # a row that may see nothing gets nothing
            mask = torch.zeros_like(self._allowed, dtype=self._own.dtype).masked_fill_(~self._allowed & sees[:, None], -torch.inf)
            self._mask = mask.repeat_interleave(heads, 0)[:, None]  # (row · head, 1, source)
            if not bool(sees.all()):
                blind = sees.repeat_interleave(heads)[:, None, None]
                self._cross = [(key, value * blind) for key, value in self._cross]
        nobody = [None] * len(self._layers)
        self._own_gain: Sequence[Tensor | None] = nobody
        self._cross_gain: Sequence[Tensor | None] = nobody
        if self._gains is not None:
            self._own_gain = self._gains.decoder.reshape(-1, rows * heads, 1, 1).unbind(0)
            self._cross_gain = self._gains.cross.reshape(-1, rows * heads, 1, 1).unbind(0)

    @torch.no_grad()
    def step(self, tokens: Tensor) -> Tensor:
        """Read one token per row (row,) and return log p of what follows, (row, vocabulary)."""
        t, width = self.position, self._width
        x = torch.add(self._places[t], self._embedding.index_select(0, tokens), alpha=self._root)  # (row, d_model)
        if self._fused is not None:
            self.position += 1
            return self._fused(x, t, place=t)
        slots = self._own.select(2, t).flatten(0, 1).unbind(0)  # where this position's keys and values of each layer go
        past = self._own_heads.narrow(2, 0, t + 1)
        own_keys, own_values = past.select(1, 0).permute(0, 2, 3, 1).unbind(0), past.select(1, 1).transpose(1, 2).unbind(0)
        for i, (layer, beside) in enumerate(zip(self._layers, self._paths, strict=True)):
            x = x + self._places[t] if self._timing and i else x
            torch.addmm(layer.key[1], x, layer.key[0], out=slots[2 * i])
            torch.addmm(layer.value[1], x, layer.value[0], out=slots[2 * i + 1])
            query = torch.addmm(layer.query[1], x, layer.query[0])
            seen = self._attend(query, own_keys[i], own_values[i], None, self._own_gain[i])
            x = torch.addmm(layer.out_of_self[1], seen, layer.out_of_self[0]).add_(x, alpha=beside[0])
            x = torch.layer_norm(x, width, *layer.norm_self)
            query = torch.addmm(layer.cross_query[1], x, layer.cross_query[0])
            seen = self._attend(query, *self._cross[i], self._mask, self._cross_gain[i])
            x = torch.addmm(layer.out_of_cross[1], seen, layer.out_of_cross[0]).add_(x, alpha=beside[1])
            x = torch.layer_norm(x, width, *layer.norm_cross)
            inner = torch.addmm(layer.inner[1], x, layer.inner[0]).relu_()
            x = torch.addmm(layer.outer[1], inner, layer.outer[0]).add_(x, alpha=beside[2])
            x = torch.layer_norm(x, width, *layer.norm)
        self.position += 1
        return torch.addmm(self._never, x, self._embedding.t()).float().log_softmax(-1)

    def _attend(self, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, gain: Tensor | None) -> Tensor:
        """softmax(q Kᵀ / √d_head) V for one query per row and head.

        query: (row, d_model); keys: (row · head, d_head, key); values: (row · head, key, d_head);
        mask: (row · head, 1, key), 0 or −∞. Result (row, d_model).
        """
        query = query.view(keys.shape[0], 1, -1)
        scores = torch.baddbmm(self._nothing if mask is None else mask, query, keys, beta=0 if mask is None else 1, alpha=self._scale)
        seen = torch.bmm(torch.softmax(scores, -1), values)
        if gain is not None:
            seen = seen * gain
        return seen.view(-1, *self._width)

    def choose(self, rows: Tensor, sentences_change: bool = True) -> None:
        """Go on with these rows (n,) of the batch, in this order; one may come twice. Where each row stays with its sentence,
        only what was written after `<s>` moves."""
        written = self._own.narrow(2, 0, self.position).index_select(3, rows)
        if len(rows) != self._own.shape[3]:
            self._own = self._room(len(rows))
        self._own.narrow(2, 0, self.position).copy_(written)
        if sentences_change:
            self._allowed = self._allowed.index_select(0, rows)
            self._sources = [(key.index_select(0, rows), value.index_select(0, rows)) for key, value in self._sources]
            self._gains = None if self._gains is None else self._gains.rows(rows)
            self._flatten()


def _argmax(values: Tensor) -> Tensor:
    """The place of the greatest of each row; on a CPU by NumPy, whose argmax is vectorised."""
    return torch.from_numpy(values.detach().numpy().argmax(-1)) if values.device.type == "cpu" else values.argmax(-1)


class Greedy:
    """Greedy search, one step at a time: at every position the most probable piece."""

    def __init__(self, model: Transformer, source: Source) -> None:
        self._source = source
        count = len(source.limits)
        memory = model.encode(source.tokens, source.allowed, source.gains, changes=source.changes)
        self._cache = Cache(model, memory, source.allowed, max(source.limits, default=0), source.gains, source.changes)
        self._last = source.tokens.new_full((count,), START)
        self._rows = list(range(count))  # which sentence stands in each row of the cache
        self.tokens: list[list[int]] = [[] for _ in range(count)]
        self.log_probabilities: list[list[float]] = [[] for _ in range(count)]

    @property
    def done(self) -> bool:
        """Has every sentence stopped?"""
        return not self._rows

    def step(self) -> list[int]:
        """One piece more for every sentence that has not stopped; returns those sentences."""
        log_p = self._cache.step(self._last)
        length = self._cache.position
        only_stop(log_p, [row for row, sentence in enumerate(self._rows) if length >= self._source.limits[sentence]])
        piece = _argmax(log_p)
        best = log_p.gather(1, piece[:, None])[:, 0]
        moved = list(self._rows)
        going = []
        for row, (sentence, token, value) in enumerate(zip(moved, piece.tolist(), best.tolist(), strict=True)):
            self.tokens[sentence].append(token)
            self.log_probabilities[sentence].append(value)
            if token != STOP:
                going.append(row)
        self._last = piece
        if len(going) < len(moved):
            self._rows = [moved[row] for row in going]
            if going:
                index = torch.tensor(going, device=piece.device)
                self._cache.choose(index)
                self._last = piece.index_select(0, index)
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
) -> Generator[None, None, list[list[Hypothesis]]]:
    """The search of `models.beam` with this model."""

    def begin(wide: int) -> Cache:
        gains = None if source.gains is None else source.gains.repeat(wide)
        memory = model.encode(source.tokens, source.allowed, source.gains, changes=source.changes).repeat_interleave(wide, 0)
        allowed = source.allowed.repeat_interleave(wide, 0)
        return Cache(model, memory, allowed, max(source.limits, default=0), gains, source.changes)

    return searched(begin, source.limits, beam, alphas, source.tokens.device, watch, may_stop)


def beam_search(
    model: Transformer,
    source: Source,
    beam: int | Sequence[int],
    alphas: Sequence[float],
    watch: Watch | None = None,
    may_stop: bool = True,
) -> list[list[Hypothesis]]:
    """What `beam_steps` finds, without a pause."""
    return finished(beam_steps(model, source, beam, alphas, watch, may_stop))
