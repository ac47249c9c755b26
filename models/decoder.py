"""One decoder for all labs: layers with a norm before each sublayer, whatever their attention.

x ← x + Attention(LayerNorm(x)), x ← x + FeedForward(LayerNorm(x)) in every layer, and a last LayerNorm before the readout. A lab says how
its layers attend (`Layer.attend`, or another attention module) and what is embedded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from torch import Tensor, nn

from models.layers.attention import MultiHeadAttention
from models.layers.dropout import Dropout
from models.layers.feedforward import FeedForward
from models.layers.relative import relative_attention
from models.trace import OFF, Trace

BRANCH = 0.3  # size of what leads out of a sublayer at the start of training, against Xavier's
EMBEDDING = 0.5  # spread of embeddings at the start of training


class Past(Protocol):
    """Keys and values of the positions that were read before (`models.sampling.Cache`)."""

    def extend(self, layer: int, x: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add new positions' own, (batch, head, position, d_head), made of x, (batch, position, d_model); those of all come back."""


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
        """attention: by default as in Vaswani et al. (2017). dropout: of what each sublayer adds. own: what else it learns, by its name."""
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.attention: Any = attention or MultiHeadAttention(d_model, n_heads)
        for name, one in own.items():
            setattr(self, name, one)
        self.feedforward_norm = nn.LayerNorm(d_model)
        self.feedforward = FeedForward(d_model, d_ff)
        self.dropout = Dropout(dropout)

    def attend(self, query: Tensor, key: Tensor, value: Tensor, number: int, gain: Tensor | None, trace: Trace, **how: Any) -> Tensor:
        """What each head makes of queries, keys and values, (batch, head, position, d_head): here attention to everything before.

        number: of the layer. gain: (batch, head), what a head's output is multiplied by. how: what a lab changes in a pass.
        """
        return relative_attention(query, key, value, None, gain, trace, **how)

    def heads(self, x: Tensor, number: int, past: Past | None, gain: Tensor | None, trace: Trace, **how: Any) -> Tensor:
        """`attend` of x, (batch, position, d_model), normalised, and of what was read before it."""
        query, key, value = self.attention.self_projections(self.norm(x))
        if past is not None:
            key, value = past.extend(number, x, key, value)
        return self.attend(query, key, value, number, gain, trace, **how)

    def forward(
        self, x: Tensor, number: int = 0, past: Past | None = None, gain: Tensor | None = None, trace: Trace = OFF, **how: Any
    ) -> Tensor:
        """x: (batch, position, d_model), the same comes back. The rest as in `attend`; taps within `self`."""
        drop = self.dropout if self.training else _kept  # in decoding, calling a module that does nothing would count
        x = x + drop(self.attention.join(self.heads(x, number, past, gain, trace.within("self"), **how)))
        return x + drop(self.feedforward(self.feedforward_norm(x)))


def _kept(x: Tensor) -> Tensor:
    return x


class Decoder(nn.Module):
    """Layers between an embedding, which is a lab's own, and a readout."""

    layers: Any

    @property
    def decoder(self) -> Iterable[Any]:
        """The layers that `through` goes through."""
        return self.layers  # type: ignore[no-any-return]

    def stack(self, layers: Iterable[Layer], d_model: int, kinds: int) -> None:
        """Build layers, last norm and a readout of so many kinds, behind the embeddings."""
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(d_model)
        self.readout = nn.Linear(d_model, kinds)

    def through(self, x: Tensor, past: Past | None = None, gains: Any = None, trace: Trace = OFF, **how: Any) -> Tensor:
        """x: (batch, position, d_model) through all layers, normalised, ready for the readout. gains: (layer, batch, head).

        past, how: as in `Layer`. Taps `<layer>/self/…`.
        """
        for i, layer in enumerate(self.decoder):
            x = layer(x, i, past, None if gains is None else gains[i], trace.within(i), **how)
        return self.norm(x)  # type: ignore[no-any-return]


def quiet_start(tables: Iterable[nn.Embedding], *groups: Iterable[Any]) -> None:
    """Xavier's sizes, with quiet branches: the residual stream begins as the embedding, and each sublayer earns its voice.

    groups: of layers; of each group first what goes into its attentions is drawn, then what leads out of its sublayers.
    """

    def attentions(layer: Any) -> list[Any]:
        return [one for one in (layer.attention, getattr(layer, "cross", None)) if one is not None]

    for table in tables:
        nn.init.normal_(table.weight, std=EMBEDDING)
    for group in map(list, groups):
        for attention in (one for layer in group for one in attentions(layer)):
            for block in attention.matrices:
                nn.init.xavier_uniform_(block)
            if attention.project_in.bias is not None:
                nn.init.zeros_(attention.project_in.bias)
        for linear in (one for layer in group for one in (*(each.project_out for each in attentions(layer)), layer.feedforward.outer)):
            nn.init.xavier_uniform_(linear.weight, BRANCH)
            nn.init.zeros_(linear.bias)
