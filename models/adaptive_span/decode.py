"""Reading on and writing character by character: of each head only as much is remembered as its span and the ramp reach."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from models.adaptive_span.model import Said, SpanTransformer
from models.characters import UNKNOWN
from models.layers.span import Group, grouped, soft_mask, span_attention
from models.sampling import Reader as Base

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


class Reader(Base):
    """Given characters are read some at a time. forced, trimmed: as in `Cache`; spans: z of each layer, of what was read last."""

    never = (UNKNOWN,)
    apart = True

    def __init__(self, model: SpanTransformer, rows: int, forced: Tensor | None = None, trimmed: bool = True) -> None:
        self.model, self._room, self.forced = model, CHUNK, forced
        self.cache = Cache(model, rows, forced, trimmed)
        self.spans: tuple[Tensor, ...] = ()

    @torch.no_grad()
    def read(self, before: Tensor) -> Tensor:
        """before: (batch, position) characters after those that were read; (batch, position, kind) logits."""
        said: Said = self.model(before, self.cache, self.forced)
        self.spans = said.spans
        return said.logits
