"""The same Transformer with absolute positions and no memory: every segment is read as if nothing came before it (Al-Rfou et al., 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.characters import Alphabet
from models.layers.attention import MultiHeadAttention
from models.layers.feedforward import FeedForward
from models.layers.positional import sinusoids
from models.layers.relative import relative_attention
from models.trace import OFF, Trace
from models.transformer_xl.model import Past
from models.transformer_xl.start import quiet_start


@dataclass(frozen=True)
class Config:
    """What the network is."""

    letters: str  # the characters that it knows, by number from 1; 0 is any other
    segment: int = 128  # characters that are read at once; positions are counted from each segment's beginning
    d_model: int = 128  # width of a position
    d_ff: int = 576  # width inside the feed-forward sublayer: as many parameters more as W_{k,R} takes
    n_heads: int = 4  # attention heads of each layer
    n_layers: int = 4  # layers


class Layer(nn.Module):
    """Self-attention to everything before in the segment, then the feed-forward network, each in its residual branch."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model)
        self.attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.feedforward_norm = nn.LayerNorm(config.d_model)
        self.feedforward = FeedForward(config.d_model, config.d_ff)

    def forward(self, x: Tensor, number: int = 0, past: Past | None = None, window: int | None = None, trace: Trace = OFF) -> Tensor:
        """As `model.Layer`, without a table of distances."""
        query, key, value = self.attention.self_projections(self.norm(x))
        if past is not None:
            key, value = past.extend(number, x, key, value)
        heads = relative_attention(query, key, value, None, None, trace.within("self"), window=window)
        x = x + self.attention.join(heads)
        return x + self.feedforward(self.feedforward_norm(x))  # type: ignore[no-any-return]


class AbsoluteTransformer(nn.Module):
    """Sinusoids in the input say where in the segment a character stands."""

    memory = 0  # states that it remembers

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        letters = len(config.letters) + 1
        self.letter = nn.Embedding(letters, config.d_model)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(config.d_model)
        self.readout = nn.Linear(config.d_model, letters)
        self.place: Tensor
        self.register_buffer("place", sinusoids(config.segment, config.d_model), persistent=False)
        layers = [layer for layer in self.layers if isinstance(layer, Layer)]
        quiet_start(
            self.letter,
            [block for layer in layers for block in layer.attention.project_in.weight.chunk(3)],
            [linear for layer in layers for linear in (layer.attention.project_out, layer.feedforward.outer)],
        )
        for layer in layers:
            nn.init.zeros_(layer.attention.project_in.bias)

    @property
    def start(self) -> int:
        """What stands before a text: a new line."""
        return int(Alphabet(self.config.letters).encode("\n")[0])

    def forward(
        self,
        before: Tensor,
        past: Past | None = None,
        tables: Sequence[Tensor] | None = None,
        window: int | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """As `TransformerXL.forward`; there are no tables, and `past` holds this segment alone.

        ValueError past the end of a segment: no position there was ever trained.
        """
        first = 0 if past is None else past.place
        end = first + before.shape[1]
        if end > self.config.segment:
            raise ValueError(f"position {end}: there are {self.config.segment} in a segment")
        x = self.letter(before) + self.place[first:end]
        for i, layer in enumerate(self.layers):
            x = layer(x, i, past, window, trace.within(i))
        return self.readout(self.norm(x))  # type: ignore[no-any-return]

    def stretch(self, before: Tensor) -> Tensor:
        """The same for a stretch of text, its segments side by side, for none knows of another."""
        segment = self.config.segment
        if before.shape[1] % segment:
            return torch.cat([self(part) for part in torch.split(before, segment, 1)], 1)
        logits: Tensor = self(before.reshape(-1, segment))
        return logits.view(*before.shape, -1)
