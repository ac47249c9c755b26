"""A decoder over characters, each head of which reads as far back as its span (Sukhbaatar et al., 2019).

p(text) = Π_t p(c_t | c_<t). x ← x + Sublayer(LayerNorm(x)) around every sublayer, and a last LayerNorm before the readout. Where a head's
span comes from is what the three variants differ in: `LearnedSpan`, `FullSpan` and `SpanOfToken`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from models import decoder
from models.characters import Spelling
from models.decoder import Decoder, quiet_start
from models.layers.attention import MultiHeadAttention
from models.layers.dropout import Dropout
from models.layers.span import reach, span_attention
from models.trace import OFF, Trace

CAUTIOUS = -4.0  # b of a span that follows the token, at the start of training: σ(−4) S is 2 % of S


@dataclass(frozen=True)
class Config:
    """What the network is."""

    letters: str  # the alphabet, see `characters.Alphabet`
    span: int = 512  # S: positions that any head may attend to, its own among them
    ramp: int = 32  # R: positions over which the soft mask falls from 1 to 0
    d_model: int = 128  # width of a position
    d_ff: int = 512  # width inside the feed-forward sublayer
    n_heads: int = 4  # attention heads of each layer
    n_layers: int = 4  # layers
    dropout: float = 0.0  # of the input and of what each sublayer adds


class Span(Protocol):
    """Where the spans of a layer's heads come from."""

    def __call__(self, x: Tensor) -> Tensor:
        """z in positions, 0 … S, (1 or batch, head, 1 or query), for what attention reads, x (batch, query, d_model)."""

    def longest(self) -> list[float]:
        """The longest span that each head may ever have, in positions."""

    def keep(self) -> None:
        """Bring the spans back into 0 … S, after a step of the optimizer."""


class LearnedSpan(nn.Module):
    """One z per head, learned (§2.2). The parameter is z / S, so that a step of any size means the same whatever S is; it begins at 1."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.share = nn.Parameter(torch.ones(config.n_heads))
        self.span = config.span

    def forward(self, x: Tensor) -> Tensor:
        """(1, head, 1), whatever x is."""
        return (self.share * self.span)[None, :, None]

    def longest(self) -> list[float]:
        """The spans."""
        found: list[float] = (self.share.detach() * self.span).tolist()
        return found

    @torch.no_grad()
    def keep(self) -> None:
        """0 ≤ z ≤ S."""
        self.share.clamp_(0, 1)


class FullSpan(nn.Module):
    """z = S for every head: plain attention over the last S positions."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads, self.span = config.n_heads, config.span

    def forward(self, x: Tensor) -> Tensor:
        """(1, head, 1), whatever x is."""
        return torch.full((1, self.heads, 1), float(self.span), device=x.device)

    def longest(self) -> list[float]:
        """S for each."""
        return [float(self.span)] * self.heads

    def keep(self) -> None:
        """Nothing is learned."""


class SpanOfToken(nn.Module):
    """z_t = S σ(vᵀ x_t + b), v and b for each head (§2.3): a span that follows the token."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.v = nn.Parameter(torch.zeros(config.n_heads, config.d_model, 1))
        self.b = nn.Parameter(torch.full((config.n_heads, 1), CAUTIOUS))
        self.span = config.span

    def forward(self, x: Tensor) -> Tensor:
        """x: (batch, query, d_model) -> (batch, head, query)."""
        return self.span * ((x[:, None] @ self.v)[..., 0].float() + self.b).sigmoid()

    def longest(self) -> list[float]:
        """S for each: the next token may ask for all of it."""
        return [float(self.span)] * len(self.b)

    def keep(self) -> None:
        """σ stays between 0 and 1 by itself."""


class Past(Protocol):
    """Keys and values of the positions that were read before."""

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, table: Tensor, z: Tensor) -> Tensor:
        """What `span_attention` gives for new positions with everything before them that a span reaches; they are remembered."""


class Layer(decoder.Layer):
    """Attention within each head's span."""

    table: nn.Parameter
    span: Any

    def __init__(self, config: Config, kind: Callable[[Config], Span]) -> None:
        attention = MultiHeadAttention(config.d_model, config.n_heads)
        d_head = config.d_model // config.n_heads
        table = nn.Parameter(torch.randn(1, config.span, d_head) * d_head**-0.5)  # p, shared by the heads of the layer
        span: Any = kind(config)
        super().__init__(config.d_model, config.d_ff, config.n_heads, config.dropout, attention, table=table, span=span)
        self.config = config

    def heads(  # type: ignore[override]
        self, x: Tensor, number: int, past: Any, gain: Tensor | None, trace: Trace, *, forced: Tensor | None = None, spans: list[Tensor]
    ) -> Tensor:
        """past: a `Past`. forced: (layer, head) spans in place of the layers' own, NaN where those stay. spans: z is added to them.

        Taps as in `span_attention`.
        """
        read = self.norm(x)
        query, key, value = self.attention.self_projections(read)
        z: Tensor = self.span(read)
        if forced is not None:
            z = torch.where(forced[number].isnan()[:, None], z, forced[number][:, None])
        spans.append(z)
        if past is None:
            return span_attention(query, key, value, self.table, z, self.config.span, self.config.ramp, trace)
        return past.attend(number, query, key, value, self.table, z)  # type: ignore[no-any-return]


class Said(NamedTuple):
    """logits: (batch, position, kind) of the character after each; spans: z of each layer, (1 or batch, head, 1 or position)."""

    logits: Tensor
    spans: tuple[Tensor, ...]


class SpanTransformer(Spelling, Decoder):
    """The network; `kind` makes the spans of a layer."""

    def __init__(self, config: Config, kind: Callable[[Config], Span]) -> None:
        super().__init__()
        self.config = config
        kinds = len(self.alphabet)
        self.letter = nn.Embedding(kinds, config.d_model)
        self.stack((Layer(config, kind) for _ in range(config.n_layers)), config.d_model, kinds)
        self.dropout = Dropout(config.dropout)
        quiet_start([self.letter], *([layer] for layer in self.layers))

    @property
    def spans(self) -> list[Span]:
        """Of each layer."""
        return [layer.span for layer in self.layers]

    def keep_spans(self) -> None:
        """Bring all spans back into 0 … S."""
        for span in self.spans:
            span.keep()

    def longest(self, forced: Tensor | None = None) -> list[list[float]]:
        """The longest span that each head of each layer may ever have, in positions. forced: as in `forward`."""
        own = torch.tensor([span.longest() for span in self.spans], dtype=torch.float64)
        found: list[list[float]] = (own if forced is None else torch.where(forced.cpu().isnan(), own, forced.cpu().double())).tolist()
        return found

    def reaches(self, forced: Tensor | None = None) -> list[list[int]]:
        """How many positions each head of each layer must remember: its span and the ramp, at most S."""
        return [[reach(z, self.config.ramp, self.config.span) for z in row] for row in self.longest(forced)]

    def forward(self, before: Tensor, past: Past | None = None, forced: Tensor | None = None, trace: Trace = OFF) -> Said:
        """before: (batch, position) characters, `start` at the beginning of a text; past: what was read before them.

        forced: (layer, head) spans in place of the network's own, NaN where those stay. Taps `<layer>/self/…` as in `span_attention`.
        """
        spans: list[Tensor] = []
        x = self.through(self.dropout(self.letter(before)), past, None, trace, forced=forced, spans=spans)  # type: ignore[arg-type]
        return Said(self.readout(x), tuple(spans))


KINDS: dict[str, Callable[[Config], Span]] = {"adaptive": LearnedSpan, "fixed": FullSpan, "dynamic": SpanOfToken}


def network(variant: str, config: Config) -> SpanTransformer:
    """A variant's network, nothing learned yet. KeyError for an unknown one."""
    return SpanTransformer(config, KINDS[variant])
