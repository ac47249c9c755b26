"""Transformer-XL: a decoder that reads segment by segment and remembers its layers' states of
earlier segments (Dai et al., 2019).

p(text) = Π_i p(x_i | x_<i). For layer n and segment τ (§3.2): h̃ = [SG(h^{n−1}_{τ−1}) ∘ h^{n−1}_τ],
where SG stops the gradient, then q = h W_q, k = h̃ W_{k,E}, v = h̃ W_v, and attention by content
and by distance (§3.3). Every sublayer is x ← x + Sublayer(LayerNorm(x)), and a last LayerNorm
precedes the readout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from models.data.characters import Spelling
from models.explaining.trace import OFF, Trace
from models.layers import fused
from models.layers.positional import sinusoids
from models.networks import decoder
from models.networks.decoder import Decoder, Past, initialise_quietly
from models.transformer_xl.attention import XLAttention

BIAS = 0.02  # standard deviation of u and v before training


@dataclass(frozen=True)
class Config:
    """The sizes of a network."""

    letters: str  # the known characters, numbered from 1; 0 is any other
    segment: int = 128  # characters read at once, within which gradients flow
    memory: int = 512  # states of earlier characters that each layer remembers
    # The number of distances with sinusoids, 0 included; farther ones count as the last.
    distances: int = 640
    d_model: int = 128  # width of a position
    d_ff: int = 512  # width inside the feed-forward sublayer
    n_heads: int = 4  # attention heads of each layer
    n_layers: int = 4  # layers


class Layer(decoder.Layer):
    """A layer with attention to the memory and to earlier positions of the segment."""

    def __init__(self, config: Config) -> None:
        super().__init__(
            config.d_model,
            config.d_ff,
            config.n_heads,
            attention=XLAttention(config.d_model, config.n_heads),
        )

    def key_value(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the key and value of each position for the memory, (batch, head, position,
        d_head).

        x: (batch, position, d_model).
        """
        found: tuple[Tensor, Tensor] = self.attention.project_key_value(self.norm(x))
        return found

    def attend(  # type: ignore[override]
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        number: int,
        gain: Tensor | None,
        trace: Trace,
        *,
        tables: Sequence[Tensor],
        window: int | None = None,
    ) -> Tensor:
        """Return the output of attention.

        tables: of every layer. The tables of one layer, window and the taps are those of
        `XLAttention.heads`.
        """
        return self.attention.heads(query, key, value, tables[number], window, gain, trace)  # type: ignore[no-any-return]


class Memory:
    """The keys and values of the last `length` positions of earlier segments, computed from
    detached states.

    The paper remembers states and projects them anew for every segment. Here each state is
    projected once, from h detached. This gives the same keys, and gradients that reach W_{k,E} and
    W_v through the memory but never the remembered states.
    """

    place = 0  # a segment is read at once

    def __init__(self, layers: Sequence[Layer], length: int) -> None:
        self._layers, self._length = layers, length
        self._held: list[tuple[Tensor, Tensor] | None] = [None] * len(layers)

    def extend(self, layer: int, x: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Extend as `Past` does, and add the segment's own keys and values to the memory for the
        next segment."""
        again = (
            self._layers[layer].key_value(x.detach()) if torch.is_grad_enabled() else (key, value)
        )
        held = self._held[layer]
        if not self._length:
            return key, value
        if held is None:
            self._held[layer] = again[0][:, :, -self._length :], again[1][:, :, -self._length :]
            return key, value
        new_key, new_value = (
            torch.cat(pair, 2)[:, :, -self._length :] for pair in zip(held, again, strict=True)
        )
        self._held[layer] = new_key, new_value
        return torch.cat((held[0], key), 2), torch.cat((held[1], value), 2)


class TransformerXL(Spelling, Decoder):
    """A decoder with relative attention and a memory in every layer."""

    config: Config

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.letter = nn.Embedding(len(self.alphabet), config.d_model)
        self.build_layers(
            (Layer(config) for _ in range(config.n_layers)), config.d_model, len(self.alphabet)
        )
        self.distance: Tensor
        self.register_buffer(
            "distance", sinusoids(config.distances, config.d_model), persistent=False
        )
        initialise_quietly([self.letter], self.layers)
        for layer in self._layers:
            nn.init.normal_(layer.attention.u, std=BIAS)
            nn.init.normal_(layer.attention.v, std=BIAS)

    @property
    def _layers(self) -> list[Layer]:
        return [layer for layer in self.layers if isinstance(layer, Layer)]

    @property
    def memory(self) -> int:
        """The number of states that each layer remembers, as trained."""
        return self.config.memory

    def make_memory(self, length: int | None = None) -> Memory:
        """Return an empty memory of a length, by default that of training."""
        return Memory(self._layers, self.config.memory if length is None else length)

    def tables(self, keys: int | None = None) -> list[Tensor]:
        """Return W_{k,R} R of each layer for a number of keys, (head, distance, d_head); it does
        not depend on the text."""
        return [layer.attention.table(self.distance[:keys]) for layer in self._layers]

    def embed_symbols(self, before: Tensor, first: int = 0) -> Tensor:
        """Return the embeddings of characters, (batch, position, d_model), which do not depend on
        positions.

        before: (batch, position).
        """
        return self.letter(before)  # type: ignore[no-any-return]

    def step(self, cache: Any, tables: Sequence[Tensor]) -> fused.Step:
        """Return the step that reads one character.

        cache: a `models.decoding.sampling.SamplingCache`. tables: as returned by `tables`.
        """
        content, positional = (
            [getattr(layer.attention, name).detach().flatten() for layer in self._layers]
            for name in "uv"
        )
        told = [fused.lay_out_by_distance(table, cache.capacity) for table in tables]
        return fused.fuse_decoder(
            self, cache.as_fused(table=told, content=content, positional=positional)
        )

    def forward(
        self,
        before: Tensor,
        past: Past | None = None,
        tables: Sequence[Tensor] | None = None,
        window: int | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Return the logits of the character after each position, (batch, position, letter).

        before: characters, (batch, position). past: the characters read earlier. tables: as
        returned by `tables`, if computed already. window: the most keys of a query, its own
        included; None for the whole memory and the segment so far. The taps are
        `<layer>/self/queries`, `<layer>/self/keys` and, for the heads and queries that the trace
        keeps, `<layer>/self/weights`.
        """
        tables = self.tables() if tables is None else tables
        x = self.run_layers(
            self.embed_symbols(before), past, None, trace, tables=tables, window=window
        )
        return self.readout(x)  # type: ignore[no-any-return]

    def stretch(self, before: Tensor) -> Tensor:
        """Return the logits for a stretch of text, read segment by segment from an empty memory, so
        that all lengths of memory occur."""
        memory, tables = self.make_memory(), self.tables(self.config.memory + self.config.segment)
        return torch.cat(
            [self(part, memory, tables) for part in torch.split(before, self.config.segment, 1)], 1
        )
