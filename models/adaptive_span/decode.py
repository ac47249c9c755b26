"""Reading and writing character by character, with a memory per head that covers its span and the
ramp."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from models.adaptive_span.model import Said, SpanOfToken, SpanTransformer
from models.data.characters import UNKNOWN
from models.decoding.sampling import Reader as Base
from models.layers import fused
from models.layers.span import HeadGroup, group_by_reach, soft_mask, span_attention

CHUNK = 256  # given characters that are read in one pass
FINE = 16  # heads share a ring if their reaches differ by less


class _Ring:
    """The keys and values of some heads for the last `room` positions, (batch, head, slot, d_head).

    The newest position replaces the oldest.
    """

    def __init__(self, group: HeadGroup, rows: int, d_head: int, like: Tensor) -> None:
        self.heads, self.room = list(group.heads), max(group.reaches)
        shape = rows, len(self.heads), d_head, self.room
        self.keys, self.values = (
            fused.reserve_slots(like, *shape).transpose(2, 3) for _ in range(2)
        )
        self.position = 0  # positions added so far

    @property
    def count_filled(self) -> int:
        """The number of stored positions."""
        return min(self.position, self.room)

    @property
    def newest(self) -> int:
        """The slot of the newest position."""
        return (self.position - 1) % self.room

    def add(self, key: Tensor, value: Tensor) -> None:
        """Add one position."""
        self.position += 1
        self.keys[:, :, self.newest], self.values[:, :, self.newest] = key[:, :, 0], value[:, :, 0]

    def extend_by(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add several positions; return the keys and values of the stored and the new positions, in
        order."""
        order = torch.arange(
            self.newest + 1, self.newest + 1 + self.count_filled, device=key.device
        ) % max(1, self.count_filled)
        keys, values = (
            torch.cat((self.keys[:, :, order], key), 2),
            torch.cat((self.values[:, :, order], value), 2),
        )
        self.position += key.shape[2]
        slots = (
            torch.arange(self.position - self.count_filled, self.position, device=key.device)
            % self.room
        )
        self.keys[:, :, slots], self.values[:, :, slots] = (
            keys[:, :, -self.count_filled :],
            values[:, :, -self.count_filled :],
        )
        return keys, values

    def attend_newest(self, query: Tensor, table: Tensor, z: Tensor, ramp: int) -> Tensor:
        """Return the attention of the newest position alone.

        Each slot has its own distance, so this needs neither blocks nor a skew.
        """
        slots = torch.arange(self.count_filled, device=query.device)
        # (batch, head, 1, distance)
        product = query @ table[:, : self.count_filled].transpose(1, 2) / math.sqrt(query.shape[-1])
        bias = (product + soft_mask(slots, z[..., None], ramp).log())[
            ..., (self.newest - slots) % self.count_filled
        ]
        return F.scaled_dot_product_attention(
            query,
            self.keys[:, :, : self.count_filled],
            self.values[:, :, : self.count_filled],
            attn_mask=bias,
        )


class Cache:
    """The keys and values of the positions read so far: per head its span and the ramp, or S if
    `trimmed` is False.

    forced: the forced spans, (layer, head), as in `SpanTransformer.forward`.
    """

    def __init__(
        self, model: SpanTransformer, rows: int, forced: Tensor | None = None, trimmed: bool = True
    ) -> None:
        config = model.config
        reaches = (
            model.reaches(forced) if trimmed else [[config.span] * config.n_heads] * config.n_layers
        )
        like, d_head = model.readout.weight.detach(), config.d_model // config.n_heads
        self._config, self._z = (
            config,
            torch.tensor(model.longest(forced), device=like.device, dtype=torch.float32),
        )
        self._still = not any(
            isinstance(span, SpanOfToken) for span in model.spans
        ) and fused.can_fuse(like, rows, d_head)
        self._layers = [
            [_Ring(group, rows, d_head, like) for group in group_by_reach(row, FINE)]
            for row in reaches
        ]

    @property
    def bytes(self) -> int:
        """The size of all stored keys and values, in bytes."""
        return sum(
            2 * ring.keys.numel() * ring.keys.element_size()
            for rings in self._layers
            for ring in rings
        )

    @property
    def position(self) -> int:
        """The number of positions read."""
        return self._layers[0][0].position

    def step(self, model: SpanTransformer) -> tuple[fused.Step, tuple[Tensor, ...]] | None:
        """Return the step that reads one position and the spans of each layer, (1, head, 1); None
        if spans follow the token."""
        if not self._still:
            return None
        own, distance = [], torch.arange(self._config.span - 1, -1, -1)
        for rings, layer, z in zip(self._layers, model.layers, self._z, strict=True):
            place = {head: (ring, i) for ring in rings for i, head in enumerate(ring.heads)}
            keys, values = (
                [
                    getattr(ring, name)[:, i].transpose(1, 2)
                    for ring, i in (place[head] for head in sorted(place))
                ]
                for name in ("keys", "values")
            )
            fade = soft_mask(distance, z[:, None], self._config.ramp).log()
            table: Any = layer.table
            own.append(
                fused.AddedArrays(
                    keys,
                    values,
                    table=fused.lay_out_by_distance(table, self._config.span),
                    fade=fade,
                )
            )
        return fused.fuse_decoder(model, own), tuple(z[None, :, None] for z in self._z)

    def advance(self) -> None:
        """Count one position that `step` has read."""
        for rings in self._layers:
            for ring in rings:
                ring.position += 1

    def attend(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, table: Tensor, z: Tensor
    ) -> Tensor:
        """Store new positions and return their attention to themselves and to the stored ones
        (`span_attention`)."""
        output = torch.empty_like(query)
        for ring in self._layers[layer]:
            some = ring.heads
            if query.shape[2] == 1:
                ring.add(key[:, some], value[:, some])
                output[:, some] = ring.attend_newest(
                    query[:, some], table, z[:, some], self._config.ramp
                )
            else:
                keys, values = ring.extend_by(key[:, some], value[:, some])
                output[:, some] = span_attention(
                    query[:, some],
                    keys,
                    values,
                    table,
                    z[:, some],
                    self._config.span,
                    self._config.ramp,
                )
        return output


class Reader(Base):
    """A reader of given characters, some at a time.

    forced, trimmed: as in `SamplingCache`. spans: z of each layer for the last characters.
    """

    never = (UNKNOWN,)
    apart = True

    def __init__(
        self, model: SpanTransformer, rows: int, forced: Tensor | None = None, trimmed: bool = True
    ) -> None:
        self.model, self._room, self.forced = model, CHUNK, forced
        self.cache = Cache(model, rows, forced, trimmed)
        self.spans: tuple[Tensor, ...] = ()

    @cached_property
    def _alone(self) -> tuple[fused.Step, tuple[Tensor, ...]] | None:
        cache: Cache = self.cache
        return cache.step(self.model)

    @torch.no_grad()
    def read(self, before: Tensor) -> Tensor:
        """Read further characters and return the logits, (batch, position, kind).

        before: the characters that follow those read so far, (batch, position).
        """
        if before.shape[1] == 1 and self._alone is not None:
            step, self.spans = self._alone
            logits = step(self.model.letter(before[:, 0]), self.cache.position)
            self.cache.advance()
            return logits[:, None]
        said: Said = self.model(before, self.cache, self.forced)
        self.spans = said.spans
        return said.logits
