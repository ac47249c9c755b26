"""Making music event by event: keys and values of what was read are kept, and draws come from the inverse cumulative distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from models.music import lstm
from models.music.lstm import PerformanceRNN
from models.music.model import MusicTransformer
from models.music.pretrained import Network

FREE = -1  # in place of an event: this one is to be drawn


class Cache:
    """Keys and values of every layer for up to `room` positions of some rows, (layer, batch, head, position, d_head)."""

    def __init__(self, model: MusicTransformer, rows: int, room: int) -> None:
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


class Reader:
    """A network that reads events one after another, or some at a time, and says what comes next; it keeps what it has read.

    gains: (layer, batch, head), and farthest, as in `MusicTransformer.forward`; a recurrent network takes neither.
    """

    def __init__(self, model: Network, rows: int, room: int, gains: Tensor | None = None, farthest: int | None = None) -> None:
        self.model = model
        self.gains = gains
        self.farthest = farthest
        self.cache = Cache(model, rows, room) if isinstance(model, MusicTransformer) else None
        self._state: lstm.State | None = None

    @torch.no_grad()
    def read(self, before: Tensor) -> Tensor:
        """before: (batch, position) events after those that were read; (batch, event) logits of the one after the last of them."""
        model = self.model
        if isinstance(model, PerformanceRNN):
            logits, self._state = model.go_on(before, self._state)
            return logits[:, -1]
        assert self.cache is not None
        logits = model(before, self.cache.position, self.cache, self.gains, self.farthest)
        self.cache.position += before.shape[1]
        return logits[:, -1]  # type: ignore[no-any-return]


def uniforms(seed: int, count: int) -> Tensor:
    """(position,) in [0, 1): the numbers that a request draws with, the same first ones however many are asked for."""
    return torch.from_numpy(np.random.default_rng((seed, 0)).random(count, dtype=np.float64))


def draw(logits: Tensor, uniform: Tensor, temperature: Tensor) -> tuple[Tensor, Tensor]:
    """One event for each row, by the inverse of the cumulative distribution of softmax(logits / temperature).

    logits: (batch, event); uniform: (batch,) in [0, 1); temperature: (batch,), 0 takes the likeliest. Gives the events, (batch,), and
    −log p of each in nats under the model itself, temperature 1.
    """
    logits = logits.double()
    hot = temperature.to(logits).clamp(min=1e-6)[:, None]
    total = (logits / hot).softmax(-1).cumsum(-1)
    chosen = (total <= (uniform.to(logits) * total[:, -1])[:, None]).sum(-1).clamp_(max=logits.shape[1] - 1)
    chosen = torch.where(temperature.to(logits.device) == 0, logits.argmax(-1), chosen)
    return chosen, -logits.log_softmax(-1).gather(1, chosen[:, None])[:, 0]


@dataclass(frozen=True)
class Wanted:
    """What a batch of requests asks for, a row each.

    known: (batch, position) events, FREE where one is to be drawn; the whole length of what is made. uniforms: (batch, position).
    temperatures: one per row. gains, farthest: as in `Reader`.
    """

    known: Tensor
    uniforms: Tensor
    temperatures: Sequence[float]
    gains: Tensor | None = None
    farthest: int | None = None


class Composer:
    """Makes what is wanted position by position; between two calls of `step` others may use the machine."""

    def __init__(self, model: Network, wanted: Wanted) -> None:
        device = model.readout.weight.device
        self.wanted = wanted
        self.known, self._uniforms = wanted.known.to(device), wanted.uniforms.to(device)
        self._temperatures = torch.tensor([float(t) for t in wanted.temperatures], device=device, dtype=torch.float64)
        rows, self.length = self.known.shape
        self.events = self.known.clone()
        self.nats = torch.zeros(rows, self.length, dtype=torch.float64, device=device)
        self.position = 0  # what is made next
        self._reader = Reader(model, rows, self.length, wanted.gains, wanted.farthest)
        self._start = model.start
        self._free = (self.known == FREE).any(0)

    @property
    def done(self) -> bool:
        """Is everything made?"""
        return self.position == self.length

    @torch.no_grad()
    def step(self) -> int:
        """Make the next event of every row, after reading at once whatever is given before it; returns how many positions that was."""
        begin = self.position
        if self.done:
            return 0
        rest = self._free[begin:]
        ahead = int(rest.nonzero()[0]) if bool(rest.any()) else len(rest) - 1  # positions that every row knows come first
        end = begin + ahead + 1
        first = self.events.new_full((len(self.events), 1), self._start) if begin == 0 else self.events[:, begin - 1 : begin]
        before = torch.cat((first, self.events[:, begin : end - 1]), 1)
        logits = self._reader.read(before)
        drawn, nats = draw(logits, self._uniforms[:, end - 1], self._temperatures)
        given = self.known[:, end - 1]
        self.events[:, end - 1] = torch.where(given == FREE, drawn, given)
        self.nats[:, end - 1] = torch.where(given == FREE, nats, 0.0)
        self.position = end
        return end - begin


def compose(model: Network, wanted: Wanted) -> tuple[Tensor, Tensor]:
    """Everything at once: (batch, position) events, and −log p in nats of each, 0 for what was given."""
    composer = Composer(model, wanted)
    while not composer.done:
        composer.step()
    return composer.events, composer.nats
