"""One decoder for all labs: layers with a norm before each sublayer, whatever their attention.

x ← x + Attention(LayerNorm(x)), x ← x + FeedForward(LayerNorm(x)) in every layer, and a last
LayerNorm before the readout. A lab provides the attention of its layers (`Layer.attend`, or another
attention module) and the embedding.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from torch import Tensor, nn

from models.explaining.trace import OFF, Trace
from models.layers.attention import MultiHeadAttention
from models.layers.dropout import Dropout
from models.layers.feedforward import FeedForward
from models.layers.relative import relative_attention

BRANCH = 0.3  # size of a sublayer's output matrices at the start of training, against Xavier's
EMBEDDING = 0.5  # spread of embeddings at the start of training


class Past(Protocol):
    """Keys and values of the positions that were read before
    (`models.decoding.sampling.SamplingCache`)."""

    def extend(self, layer: int, x: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values of new positions, (batch, head, position, d_head), made of x,
        (batch, position, d_model); return those of all positions."""


class Layer(nn.Module):
    """Self-attention, then the feed-forward network, each in its residual branch."""

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        n_heads: int,
        dropout: float = 0.0,
        attention: MultiHeadAttention | None = None,
        **own: nn.Module | nn.Parameter | None,
    ) -> None:
        """Build the layer.

        attention: by default that of Vaswani et al. (2017).
        dropout: probability, on the output of each sublayer.
        own: further learned modules and parameters, by name.
        """
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.attention: Any = attention or MultiHeadAttention(d_model, n_heads)
        for name, one in own.items():
            setattr(self, name, one)
        self.feedforward_norm = nn.LayerNorm(d_model)
        self.feedforward = FeedForward(d_model, d_ff)
        self.dropout = Dropout(dropout)

    def attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        number: int,
        gain: Tensor | None,
        trace: Trace,
        **how: Any,
    ) -> Tensor:
        """Return the output of each head for queries, keys and values, (batch, head, position,
        d_head): here attention to all earlier positions.

        number: of the layer.
        gain: the factor on a head's output, (batch, head).
        how: the changes that a lab makes in a pass.
        """
        return relative_attention(query, key, value, None, gain, trace, **how)

    def attend_heads(
        self,
        x: Tensor,
        number: int,
        past: Past | None,
        gain: Tensor | None,
        trace: Trace,
        **how: Any,
    ) -> Tensor:
        """Return `attend` of x, (batch, position, d_model), normalised, and of the positions that
        were read before it."""
        query, key, value = self.attention.project_self(self.norm(x))
        if past is not None:
            key, value = past.extend(number, x, key, value)
        return self.attend(query, key, value, number, gain, trace, **how)

    def forward(
        self,
        x: Tensor,
        number: int = 0,
        past: Past | None = None,
        gain: Tensor | None = None,
        trace: Trace = OFF,
        **how: Any,
    ) -> Tensor:
        """Apply the layer to x, (batch, position, d_model); return the same shape. The other
        arguments are those of `attend`; taps within `self`."""
        # In decoding, even a call of a module that does nothing takes noticeable time.
        drop = self.dropout if self.training else _detach
        x = x + drop(
            self.attention.join_heads(
                self.attend_heads(x, number, past, gain, trace.within("self"), **how)
            )
        )
        return x + drop(self.feedforward(self.feedforward_norm(x)))


def _detach(x: Tensor) -> Tensor:
    return x


class Decoder(nn.Module):
    """Layers between an embedding, which is a lab's own, and a readout."""

    layers: Any

    @property
    def decoder(self) -> Iterable[Any]:
        """The layers that `run_layers` goes through."""
        return self.layers  # type: ignore[no-any-return]

    def build_layers(self, layers: Iterable[Layer], d_model: int, kinds: int) -> None:
        """Build layers, last norm and a readout of so many kinds, behind the embeddings."""
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(d_model)
        self.readout = nn.Linear(d_model, kinds)

    def run_layers(
        self, x: Tensor, past: Past | None = None, gains: Any = None, trace: Trace = OFF, **how: Any
    ) -> Tensor:
        """Run x, (batch, position, d_model), through all layers and the last norm, ready for the
        readout. gains: (layer, batch, head).

        past, how: as in `Layer`. Taps `<layer>/self/…`.
        """
        for i, layer in enumerate(self.decoder):
            x = layer(x, i, past, None if gains is None else gains[i], trace.within(i), **how)
        return self.norm(x)  # type: ignore[no-any-return]


def initialise_quietly(tables: Iterable[nn.Embedding], *groups: Iterable[Any]) -> None:
    """Initialise with Xavier's sizes and small output matrices: the residual stream begins as the
    embedding, and the sublayers grow from there.

    groups: of layers; in each group the matrices into its attentions are drawn first, then those
        that lead out of its sublayers.
    """

    def attentions(layer: Any) -> list[Any]:
        return [one for one in (layer.attention, getattr(layer, "cross", None)) if one is not None]

    for table in tables:
        nn.init.normal_(table.weight, std=EMBEDDING)
    for group in map(list, groups):
        for attention in (one for layer in group for one in attentions(layer)):
            for block in attention.weight_matrices:
                nn.init.xavier_uniform_(block)
            if attention.project_in.bias is not None:
                nn.init.zeros_(attention.project_in.bias)
        for linear in (
            one
            for layer in group
            for one in (*(each.project_out for each in attentions(layer)), layer.feedforward.outer)
        ):
            nn.init.xavier_uniform_(linear.weight, BRANCH)
            nn.init.zeros_(linear.bias)
