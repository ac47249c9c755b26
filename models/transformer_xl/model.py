"""Transformer-XL: a decoder that reads segment by segment and remembers what its layers made of the segments before (Dai et al., 2019).

p(text) = Π_i p(x_i | x_<i). For layer n and segment τ (§3.2): h̃ = [SG(h^{n−1}_{τ−1}) ∘ h^{n−1}_τ], where SG stops the gradient, then
q = h W_q, k = h̃ W_{k,E}, v = h̃ W_v, and attention by content and by distance (§3.3).
x ← x + Sublayer(LayerNorm(x)) around every sublayer, and a last LayerNorm before the readout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from models import decoder, fused
from models.characters import Spelling
from models.decoder import Decoder, Past, quiet_start
from models.layers.positional import sinusoids
from models.trace import OFF, Trace
from models.transformer_xl.attention import XLAttention

BIAS = 0.02  # spread of u and v before training


@dataclass(frozen=True)
class Config:
    """What the network is."""

    letters: str  # the characters that it knows, by number from 1; 0 is any other
    segment: int = 128  # characters that are read at once, within which gradients flow
    memory: int = 512  # states of earlier characters that each layer remembers
    distances: int = 640  # sinusoids are there for so many distances, 0 among them; farther ones count as the last
    d_model: int = 128  # width of a position
    d_ff: int = 512  # width inside the feed-forward sublayer
    n_heads: int = 4  # attention heads of each layer
    n_layers: int = 4  # layers


class Layer(decoder.Layer):
    """Attention to the memory and to everything before in the segment."""

    def __init__(self, config: Config) -> None:
        super().__init__(config.d_model, config.d_ff, config.n_heads, attention=XLAttention(config.d_model, config.n_heads))

    def key_value(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """What a position leaves in the memory: x (batch, position, d_model) -> key, value (batch, head, position, d_head)."""
        found: tuple[Tensor, Tensor] = self.attention.key_value(self.norm(x))
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
        """tables: of every layer; these, window and the taps as in `XLAttention.heads`."""
        return self.attention.heads(query, key, value, tables[number], window, gain, trace)  # type: ignore[no-any-return]


class Memory:
    """What the layers remember of the segments before: keys and values of the last `length` positions, made of detached states.

    The paper remembers states and projects them anew for every segment. Here each state is projected once, from h detached, which gives
    the same keys, and gradients that reach W_{k,E} and W_v through the memory but never what was remembered.
    """

    place = 0  # a segment is read at once

    def __init__(self, layers: Sequence[Layer], length: int) -> None:
        self._layers, self._length = layers, length
        self._held: list[tuple[Tensor, Tensor] | None] = [None] * len(layers)

    def extend(self, layer: int, x: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """As in `Past`; the segment's own join the memory, for the segment after it."""
        again = self._layers[layer].key_value(x.detach()) if torch.is_grad_enabled() else (key, value)
        held = self._held[layer]
        if not self._length:
            return key, value
        if held is None:
            self._held[layer] = again[0][:, :, -self._length :], again[1][:, :, -self._length :]
            return key, value
        new_key, new_value = (torch.cat(pair, 2)[:, :, -self._length :] for pair in zip(held, again, strict=True))
        self._held[layer] = new_key, new_value
        return torch.cat((held[0], key), 2), torch.cat((held[1], value), 2)


class TransformerXL(Spelling, Decoder):
    """Every layer with relative attention and a memory."""

    config: Config

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.letter = nn.Embedding(len(self.alphabet), config.d_model)
        self.stack((Layer(config) for _ in range(config.n_layers)), config.d_model, len(self.alphabet))
        self.distance: Tensor
        self.register_buffer("distance", sinusoids(config.distances, config.d_model), persistent=False)
        quiet_start([self.letter], self.layers)
        for layer in self._layers:
            nn.init.normal_(layer.attention.u, std=BIAS)
            nn.init.normal_(layer.attention.v, std=BIAS)

    @property
    def _layers(self) -> list[Layer]:
        return [layer for layer in self.layers if isinstance(layer, Layer)]

    @property
    def memory(self) -> int:
        """How many states each layer remembers, as trained."""
        return self.config.memory

    def remembering(self, length: int | None = None) -> Memory:
        """An empty memory of so many positions, by default as many as in training."""
        return Memory(self._layers, self.config.memory if length is None else length)

    def tables(self, keys: int | None = None) -> list[Tensor]:
        """W_{k,R} R of each layer, (head, distance, d_head), as far as so many keys need it; they depend on nothing that is read."""
        return [layer.attention.table(self.distance[:keys]) for layer in self._layers]

    def embedded(self, before: Tensor, first: int = 0) -> Tensor:
        """(batch, position, d_model) of characters, (batch, position), wherever they stand."""
        return self.letter(before)  # type: ignore[no-any-return]

    def step(self, cache: Any, tables: Sequence[Tensor]) -> fused.Step:
        """What reads one character alone; cache: a `models.sampling.Cache`; tables: of `tables`."""
        content, positional = ([getattr(layer.attention, name).detach().flatten() for layer in self._layers] for name in "uv")
        told = [fused.by_distance(table, cache.room) for table in tables]
        return fused.of_decoder(self, cache.own(table=told, content=content, positional=positional))

    def forward(
        self,
        before: Tensor,
        past: Past | None = None,
        tables: Sequence[Tensor] | None = None,
        window: int | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Logits (batch, position, letter) of what comes after each character of `before`, (batch, position).

        past: what was read before it. tables: what `tables` gave, where it was asked for already. window: how many keys a query sees at
        most, its own among them; None for the whole memory and the segment so far.
        Taps `<layer>/self/queries`, `<layer>/self/keys` and, for the heads and queries that the trace keeps, `<layer>/self/weights`.
        """
        tables = self.tables() if tables is None else tables
        x = self.through(self.embedded(before), past, None, trace, tables=tables, window=window)
        return self.readout(x)  # type: ignore[no-any-return]

    def stretch(self, before: Tensor) -> Tensor:
        """The same for a stretch of text, read segment by segment from an empty memory: memories from none to the longest, all in one."""
        memory, tables = self.remembering(), self.tables(self.config.memory + self.config.segment)
        return torch.cat([self(part, memory, tables) for part in torch.split(before, self.config.segment, 1)], 1)
