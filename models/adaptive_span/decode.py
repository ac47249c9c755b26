"""Reading on and writing character by character: of each head only as much is remembered as its span and the ramp reach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from models.adaptive_span.model import SpanTransformer
from models.characters import UNKNOWN
from models.layers.span import Group, grouped, soft_mask, span_attention

FREE = -1  # in place of a character: this one is to be drawn
CHUNK = 256  # given characters that are read at once
FINE = 16  # heads whose reaches differ by less share a ring


class _Ring:
    """Keys and values of some heads of the last `room` positions, (batch, head, slot, d_head); the newest replaces the oldest."""

    def __init__(self, group: Group, rows: int, d_head: int, like: Tensor) -> None:
        self.heads, self.room = list(group.heads), max(group.reaches)
        self.keys, self.values = (like.new_zeros(rows, len(self.heads), self.room, d_head) for _ in range(2))
        self.filled, self.newest = 0, -1

    def add(self, key: Tensor, value: Tensor) -> None:
        """One position more."""
        self.newest = (self.newest + 1) % self.room
        self.filled = min(self.filled + 1, self.room)
        self.keys[:, :, self.newest], self.values[:, :, self.newest] = key[:, :, 0], value[:, :, 0]

    def extended(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add several positions; keys and values of all that stood here and of these come back, in order."""
        order = torch.arange(self.newest + 1, self.newest + 1 + self.filled, device=key.device) % max(1, self.filled)
        keys, values = torch.cat((self.keys[:, :, order], key), 2), torch.cat((self.values[:, :, order], value), 2)
        self.filled = min(self.room, keys.shape[2])
        self.newest = self.filled - 1
        self.keys[:, :, : self.filled], self.values[:, :, : self.filled] = keys[:, :, -self.filled :], values[:, :, -self.filled :]
        return keys, values

    def one(self, query: Tensor, table: Tensor, z: Tensor, ramp: int) -> Tensor:
        """Attention of the newest position alone: no blocks and nothing to skew, each slot has a distance of its own."""
        slots = torch.arange(self.filled, device=query.device)
        product = query @ table[:, : self.filled].transpose(1, 2) / math.sqrt(query.shape[-1])  # (batch, head, 1, distance)
        bias = (product + soft_mask(slots, z[..., None], ramp).log())[..., (self.newest - slots) % self.filled]
        return F.scaled_dot_product_attention(query, self.keys[:, :, : self.filled], self.values[:, :, : self.filled], attn_mask=bias)


class Cache:
    """What the layers remember of the positions read so far: of each head its span and the ramp, or with `trimmed` False always S.

    forced: (layer, head) as in `SpanTransformer.forward`.
    """

    def __init__(self, model: SpanTransformer, rows: int, forced: Tensor | None = None, trimmed: bool = True) -> None:
        config = model.config
        reaches = model.reaches(forced) if trimmed else [[config.span] * config.n_heads] * config.n_layers
        like, d_head = model.readout.weight.detach(), config.d_model // config.n_heads
        self._config = config
        self._layers = [[_Ring(group, rows, d_head, like) for group in grouped(row, FINE)] for row in reaches]

    @property
    def bytes(self) -> int:
        """Of all keys and values."""
        return sum(2 * ring.keys.numel() * ring.keys.element_size() for rings in self._layers for ring in rings)

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, table: Tensor, z: Tensor) -> Tensor:
        """Attention of new positions to themselves and to what is remembered (`span_attention`); they are remembered in turn."""
        output = torch.empty_like(query)
        for ring in self._layers[layer]:
            some = ring.heads
            if query.shape[2] == 1:
                ring.add(key[:, some], value[:, some])
                output[:, some] = ring.one(query[:, some], table, z[:, some], self._config.ramp)
            else:
                keys, values = ring.extended(key[:, some], value[:, some])
                output[:, some] = span_attention(query[:, some], keys, values, table, z[:, some], self._config.span, self._config.ramp)
        return output


class Reader:
    """A network that reads characters one after another, or some at a time, and says what comes next."""

    def __init__(self, model: SpanTransformer, rows: int, forced: Tensor | None = None, trimmed: bool = True) -> None:
        self.model, self.forced = model, forced
        self.cache = Cache(model, rows, forced, trimmed)

    @torch.no_grad()
    def read(self, before: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """before: (batch, position) characters after those that were read: logits (batch, position, kind), and z of each layer."""
        said = self.model(before, self.cache, self.forced)
        return said.logits, said.spans


def uniforms(seed: int, count: int) -> Tensor:
    """(position,) in [0, 1): the numbers that a request draws with, the same first ones however many are asked for."""
    return torch.from_numpy(np.random.default_rng((seed, 0)).random(count, dtype=np.float64))


def draw(logits: Tensor, uniform: Tensor, temperature: Tensor) -> Tensor:
    """One character for each row, by the inverse of the cumulative distribution of softmax(logits / temperature), never UNKNOWN.

    logits: (batch, kind); uniform: (batch,) in [0, 1); temperature: (batch,), 0 takes the likeliest.
    """
    logits = logits.double()
    logits[:, UNKNOWN] = -math.inf
    hot = temperature.to(logits).clamp(min=1e-6)[:, None]
    total = (logits / hot).softmax(-1).cumsum(-1)
    chosen = (total <= (uniform.to(logits) * total[:, -1])[:, None]).sum(-1).clamp_(max=logits.shape[1] - 1)
    return torch.where(temperature.to(logits.device) == 0, logits.argmax(-1), chosen)


@dataclass(frozen=True)
class Wanted:
    """What a batch of requests asks for, a row each.

    known: (batch, position) characters, FREE where one is to be drawn: first what is given, then what is free. uniforms: (batch, position).
    temperatures: one per row. forced: (layer, head), as in `Reader`.
    """

    known: Tensor
    uniforms: Tensor
    temperatures: Sequence[float]
    forced: Tensor | None = None


class Writer:
    """Reads what is given and writes on, position by position; between two calls of `step` others may use the machine."""

    def __init__(self, model: SpanTransformer, wanted: Wanted) -> None:
        device = model.readout.weight.device
        self._known, self._uniforms = wanted.known.to(device), wanted.uniforms.to(device)
        self._temperatures = torch.tensor([float(t) for t in wanted.temperatures], device=device, dtype=torch.float64)
        rows, self.length = self._known.shape
        self.letters = self._known.clone()
        self.nats = torch.zeros(rows, self.length, dtype=torch.float64, device=device)  # −log p of every character, temperature 1
        self.position = 0  # what comes next
        self._reader = Reader(model, rows, wanted.forced)
        self._start = model.start
        free = (self._known == FREE).any(0).nonzero()
        self._given = int(free[0]) if len(free) else self.length  # so many positions every row knows

    @property
    def done(self) -> bool:
        """Is everything read and written?"""
        return self.position == self.length

    @torch.no_grad()
    def step(self) -> int:
        """Read some more of what every row knows, or write one character of each row; returns how many positions that was."""
        if self.done:
            return 0
        begin, end = self.position, min(self.position + CHUNK, self._given)
        if begin >= self._given:
            end = begin + 1
        first = self.letters.new_full((len(self.letters), 1), self._start) if begin == 0 else self.letters[:, begin - 1 : begin]
        logits, _ = self._reader.read(torch.cat((first, self.letters[:, begin : end - 1]), 1))
        if begin >= self._given:
            drawn = draw(logits[:, -1], self._uniforms[:, begin], self._temperatures)
            self.letters[:, begin] = torch.where(self._known[:, begin] == FREE, drawn, self._known[:, begin])
        chosen = self.letters[:, begin:end, None]
        self.nats[:, begin:end] = -logits.double().log_softmax(-1).gather(2, chosen)[..., 0]
        self.position = end
        return end - begin


def written(model: SpanTransformer, wanted: Wanted) -> tuple[Tensor, Tensor]:
    """Everything at once: (batch, position) characters, and −log p in nats of each."""
    writer = Writer(model, wanted)
    while not writer.done:
        writer.step()
    return writer.letters, writer.nats
