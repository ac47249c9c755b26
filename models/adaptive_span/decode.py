"""Reading on and writing character by character: of each head only as much is remembered as its span and the ramp reach."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from models import fused
from models.adaptive_span.model import Said, SpanOfToken, SpanTransformer
from models.characters import UNKNOWN
from models.layers.span import Group, grouped, soft_mask, span_attention
from models.sampling import Reader as Base

CHUNK = 256  # given characters that are read at once
FINE = 16  # heads whose reaches differ by less share a ring


class _Ring:
    """Keys and values of some heads of the last `room` positions, (batch, head, slot, d_head); the newest replaces the oldest."""

    def __init__(self, group: Group, rows: int, d_head: int, like: Tensor) -> None:
        self.heads, self.room = list(group.heads), max(group.reaches)
        shape = rows, len(self.heads), d_head, self.room
        self.keys, self.values = (fused.room_for(like, *shape).transpose(2, 3) for _ in range(2))
        self.position = 0  # how many were added

    @property
    def filled(self) -> int:
        """How many are remembered."""
        return min(self.position, self.room)

    @property
    def newest(self) -> int:
        """The slot of the last one."""
        return (self.position - 1) % self.room

    def add(self, key: Tensor, value: Tensor) -> None:
        """One position more."""
        self.position += 1
        self.keys[:, :, self.newest], self.values[:, :, self.newest] = key[:, :, 0], value[:, :, 0]

    def extended(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add several positions; keys and values of all that stood here and of these come back, in order."""
        order = torch.arange(self.newest + 1, self.newest + 1 + self.filled, device=key.device) % max(1, self.filled)
        keys, values = torch.cat((self.keys[:, :, order], key), 2), torch.cat((self.values[:, :, order], value), 2)
        self.position += key.shape[2]
        slots = torch.arange(self.position - self.filled, self.position, device=key.device) % self.room
        self.keys[:, :, slots], self.values[:, :, slots] = keys[:, :, -self.filled :], values[:, :, -self.filled :]
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
        self._config, self._z = config, torch.tensor(model.longest(forced), device=like.device, dtype=torch.float32)
        self._still = not any(isinstance(span, SpanOfToken) for span in model.spans) and fused.serves(like, rows, d_head)
        self._layers = [[_Ring(group, rows, d_head, like) for group in grouped(row, FINE)] for row in reaches]

    @property
    def bytes(self) -> int:
        """Of all keys and values."""
        return sum(2 * ring.keys.numel() * ring.keys.element_size() for rings in self._layers for ring in rings)

    @property
    def position(self) -> int:
        """How many positions were read."""
        return self._layers[0][0].position

    def step(self, model: SpanTransformer) -> tuple[fused.Step, tuple[Tensor, ...]] | None:
        """What reads one position alone, and the spans of each layer, (1, head, 1); None where spans follow the token."""
        if not self._still:
            return None
        own, distance = [], torch.arange(self._config.span - 1, -1, -1)
        for rings, layer, z in zip(self._layers, model.layers, self._z, strict=True):
            place = {head: (ring, i) for ring in rings for i, head in enumerate(ring.heads)}
            keys, values = (
                [getattr(ring, name)[:, i].transpose(1, 2) for ring, i in (place[head] for head in sorted(place))]
                for name in ("keys", "values")
            )
            fade = soft_mask(distance, z[:, None], self._config.ramp).log()
            table: Any = layer.table
            own.append(fused.Own(keys, values, table=fused.by_distance(table, self._config.span), fade=fade))
        return fused.of_decoder(model, own), tuple(z[None, :, None] for z in self._z)

    def advance(self) -> None:
        """One position more was read by `step`."""
        for rings in self._layers:
            for ring in rings:
                ring.position += 1

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


class Reader(Base):
    """Given characters are read some at a time. forced, trimmed: as in `Cache`; spans: z of each layer, of what was read last."""

    never = (UNKNOWN,)
    apart = True

    def __init__(self, model: SpanTransformer, rows: int, forced: Tensor | None = None, trimmed: bool = True) -> None:
        self.model, self._room, self.forced = model, CHUNK, forced
        self.cache = Cache(model, rows, forced, trimmed)
        self.spans: tuple[Tensor, ...] = ()

    @cached_property
    def _alone(self) -> tuple[fused.Step, tuple[Tensor, ...]] | None:
        cache: Cache = self.cache
        return cache.step(self.model)

    @torch.no_grad()
    def read(self, before: Tensor) -> Tensor:
        """before: (batch, position) characters after those that were read; (batch, position, kind) logits."""
        if before.shape[1] == 1 and self._alone is not None:
            step, self.spans = self._alone
            logits = step(self.model.letter(before[:, 0]), self.cache.position)
            self.cache.advance()
            return logits[:, None]
        said: Said = self.model(before, self.cache, self.forced)
        self.spans = said.spans
        return said.logits
