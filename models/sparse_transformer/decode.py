"""Making symbols one by one: each new one reads only the keys of its pattern; draws take the inverse cumulative distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from models.layers.patterns import Pattern
from models.sparse_transformer.model import SparseTransformer

FREE = -1  # in place of a symbol: this one is to be drawn


class Cache:
    """Keys and values of every layer for up to `room` positions of some rows, (layer, batch, head, position, d_head)."""

    def __init__(self, model: SparseTransformer, rows: int, room: int) -> None:
        config = model.config
        like = model.readout.weight.detach()
        shape = (config.n_layers, rows, config.n_heads, room, config.d_model // config.n_heads)
        self.position = 0
        self.keys, self.values = like.new_zeros(shape), like.new_zeros(shape)

    def extend(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values of the positions being read; those of all positions so far come back. ValueError past the room."""
        end = self.position + key.shape[2]
        if end > self.keys.shape[3]:
            raise ValueError(f"{end} positions in a cache for {self.keys.shape[3]}")
        self.keys[layer, :, :, self.position : end] = key
        self.values[layer, :, :, self.position : end] = value
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]


def uniforms(seed: int, count: int) -> Tensor:
    """(position,) in [0, 1): the numbers that a request draws with, the same first ones however many are asked for."""
    return torch.from_numpy(np.random.default_rng((seed, 0)).random(count, dtype=np.float64))


def draw(logits: Tensor, uniform: Tensor, temperature: Tensor) -> Tensor:
    """(batch,) one symbol for each row, by the inverse of the cumulative distribution of softmax(logits / temperature).

    logits: (batch, symbol); uniform: (batch,) in [0, 1); temperature: (batch,), 0 takes the likeliest.
    """
    hot = temperature.clamp(min=1e-6)[:, None]
    total = (logits.double() / hot).softmax(-1).cumsum(-1)
    chosen = (total <= (uniform * total[:, -1])[:, None]).sum(-1).clamp_(max=logits.shape[1] - 1)
    return torch.where(temperature == 0, logits.argmax(-1), chosen)


@dataclass(frozen=True)
class Wanted:
    """What a batch of requests asks for, a row each.

    known: (batch, position) symbols, FREE where one is to be drawn. uniforms: (batch, position). temperatures: one per row.
    gains, pattern: as in `SparseTransformer.forward`.
    """

    known: Tensor
    uniforms: Tensor
    temperatures: Sequence[float]
    gains: Tensor | None = None
    pattern: Pattern | None = None


class Composer:
    """Makes what is wanted; between two calls of `step` others may use the machine.

    symbols: (batch, position); nats: (batch, position), −log p of each, given or made, temperature 1; both as far as `position`.
    """

    def __init__(self, model: SparseTransformer, wanted: Wanted) -> None:
        device = model.readout.weight.device
        self.known = wanted.known.to(device)
        self.symbols = self.known.clone()
        rows, self.length = self.known.shape
        self.nats = torch.zeros(rows, self.length, dtype=torch.float64, device=device)
        self.position = 0  # what is made next
        self._model, self._wanted = model, wanted
        self._uniforms = wanted.uniforms.to(device)
        self._temperatures = torch.tensor([float(t) for t in wanted.temperatures], device=device, dtype=torch.float64)
        self._cache = Cache(model, rows, self.length)
        free = (self.known == FREE).any(0).nonzero()
        self._given = int(free[0]) if len(free) else self.length - 1  # positions that every row knows come first, and are read at once

    @property
    def done(self) -> bool:
        """Is everything made?"""
        return self.position == self.length

    @torch.no_grad()
    def step(self) -> None:
        """Make the next symbol of every row, after reading at once whatever every row has given before the first of them."""
        if self.done:
            return
        begin = self.position
        end = begin + 1 if begin else self._given + 1
        before = self._model.after(self.symbols[:, :end])[:, begin:]
        logits = self._model(before, begin, self._cache, self._wanted.gains, self._wanted.pattern)
        self._cache.position = end
        drawn = draw(logits[:, -1], self._uniforms[:, end - 1], self._temperatures)
        given = self.known[:, end - 1]
        self.symbols[:, end - 1] = torch.where(given == FREE, drawn, given)
        surprise = -logits.double().log_softmax(-1)
        self.nats[:, begin:end] = surprise.gather(2, self.symbols[:, begin:end, None])[..., 0]
        self.position = end


def compose(model: SparseTransformer, wanted: Wanted) -> tuple[Tensor, Tensor]:
    """Everything at once: (batch, position) symbols, and −log p in nats of each."""
    composer = Composer(model, wanted)
    while not composer.done:
        composer.step()
    return composer.symbols, composer.nats
