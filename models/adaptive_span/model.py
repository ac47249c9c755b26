"""A decoder over characters with a learned span for each head (Sukhbaatar et al., 2019).

p(text) = Π_t p(c_t | c_<t). Every sublayer is x ← x + Sublayer(LayerNorm(x)), and a last LayerNorm
precedes the readout. The three variants differ in the source of a head's span: `LearnedSpan`,
`FullSpan` and `SpanOfToken`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from models.data.characters import Spelling
from models.explaining.trace import OFF, Trace
from models.layers.attention import MultiHeadAttention
from models.layers.dropout import Dropout
from models.layers.span import measure_reach, span_attention
from models.networks import decoder
from models.networks.decoder import Decoder, initialise_quietly

# b at the start of training, for a span that follows the token: σ(−4) S is 2 % of S
CAUTIOUS = -4.0


@dataclass(frozen=True)
class Config:
    """The sizes of a network."""

    letters: str  # the alphabet, see `characters.Alphabet`
    span: int = 512  # S: positions to which a head may attend, its own included
    ramp: int = 32  # R: positions over which the soft mask falls from 1 to 0
    d_model: int = 128  # width of a position
    d_ff: int = 512  # width inside the feed-forward sublayer
    n_heads: int = 4  # attention heads of each layer
    n_layers: int = 4  # layers
    dropout: float = 0.0  # of the input and of what each sublayer adds


class Span(Protocol):
    """The source of the spans of a layer's heads."""

    def __call__(self, x: Tensor) -> Tensor:
        """Return the spans z in positions, 0 … S, (1 or batch, head, 1 or query).

        x: the input of attention, (batch, query, d_model).
        """

    def longest(self) -> list[float]:
        """Return the longest possible span of each head, in positions."""

    def keep(self) -> None:
        """Clip the spans to 0 … S after a step of the optimizer."""


class LearnedSpan(nn.Module):
    """One learned z per head (§2.2).

    The parameter is z / S, so that a step of the optimizer has the same relative size for every S.
    It starts at 1.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.share = nn.Parameter(torch.ones(config.n_heads))
        self.span = config.span

    def forward(self, x: Tensor) -> Tensor:
        """Return the spans, (1, head, 1); they do not depend on x."""
        return (self.share * self.span)[None, :, None]

    def longest(self) -> list[float]:
        """Return the learned spans."""
        found: list[float] = (self.share.detach() * self.span).tolist()
        return found

    @torch.no_grad()
    def keep(self) -> None:
        """Clip the spans to 0 ≤ z ≤ S."""
        self.share.clamp_(0, 1)


class FullSpan(nn.Module):
    """The span z = S for every head: plain attention over the last S positions."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads, self.span = config.n_heads, config.span

    def forward(self, x: Tensor) -> Tensor:
        """Return the spans, (1, head, 1); they do not depend on x."""
        return torch.full((1, self.heads, 1), float(self.span), device=x.device)

    def longest(self) -> list[float]:
        """Return S for each head."""
        return [float(self.span)] * self.heads

    def keep(self) -> None:
        """Change nothing, because no span is learned."""


class SpanOfToken(nn.Module):
    """A span that follows the token: z_t = S σ(vᵀ x_t + b), with v and b for each head (§2.3)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.v = nn.Parameter(torch.zeros(config.n_heads, config.d_model, 1))
        self.b = nn.Parameter(torch.full((config.n_heads, 1), CAUTIOUS))
        self.span = config.span

    def forward(self, x: Tensor) -> Tensor:
        """Return the spans, (batch, head, query).

        x: (batch, query, d_model).
        """
        return self.span * ((x[:, None] @ self.v)[..., 0].float() + self.b).sigmoid()

    def longest(self) -> list[float]:
        """Return S for each head, because any token may need all of it."""
        return [float(self.span)] * len(self.b)

    def keep(self) -> None:
        """Change nothing, because σ stays between 0 and 1."""


class Past(Protocol):
    """The keys and values of earlier positions."""

    def attend(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, table: Tensor, z: Tensor
    ) -> Tensor:
        """Store new positions and return their `span_attention` to all that a span reaches."""


class Layer(decoder.Layer):
    """A layer whose attention stays within each head's span."""

    table: nn.Parameter
    span: Any

    def __init__(self, config: Config, kind: Callable[[Config], Span]) -> None:
        attention = MultiHeadAttention(config.d_model, config.n_heads)
        d_head = config.d_model // config.n_heads
        # p, shared by the heads of the layer.
        table = nn.Parameter(torch.randn(1, config.span, d_head) * d_head**-0.5)
        span: Any = kind(config)
        super().__init__(
            config.d_model,
            config.d_ff,
            config.n_heads,
            config.dropout,
            attention,
            table=table,
            span=span,
        )
        self.config = config

    def attend_heads(  # type: ignore[override]
        self,
        x: Tensor,
        number: int,
        past: Any,
        gain: Tensor | None,
        trace: Trace,
        *,
        forced: Tensor | None = None,
        spans: list[Tensor],
    ) -> Tensor:
        """Return the outputs of the heads.

        past: a `Past`. forced: spans that replace the network's own, (layer, head), NaN where they
        do not. spans: a list to which z is appended. The taps are those of `span_attention`.
        """
        read = self.norm(x)
        query, key, value = self.attention.project_self(read)
        z: Tensor = self.span(read)
        if forced is not None:
            z = torch.where(forced[number].isnan()[:, None], z, forced[number][:, None])
        spans.append(z)
        if past is None:
            return span_attention(
                query, key, value, self.table, z, self.config.span, self.config.ramp, trace
            )
        return past.attend(number, query, key, value, self.table, z)  # type: ignore[no-any-return]


class Said(NamedTuple):
    """The result of a pass.

    logits: scores of the next character, (batch, position, kind). spans: z of each layer, (1 or
    batch, head, 1 or position).
    """

    logits: Tensor
    spans: tuple[Tensor, ...]


class SpanTransformer(Spelling, Decoder):
    """A decoder over characters; `kind` builds the spans of a layer."""

    def __init__(self, config: Config, kind: Callable[[Config], Span]) -> None:
        super().__init__()
        self.config = config
        kinds = len(self.alphabet)
        self.letter = nn.Embedding(kinds, config.d_model)
        self.build_layers(
            (Layer(config, kind) for _ in range(config.n_layers)), config.d_model, kinds
        )
        self.dropout = Dropout(config.dropout)
        initialise_quietly([self.letter], *([layer] for layer in self.layers))

    @property
    def spans(self) -> list[Span]:
        """The spans of each layer."""
        return [layer.span for layer in self.layers]

    def keep_spans(self) -> None:
        """Clip all spans to 0 … S."""
        for span in self.spans:
            span.keep()

    def longest(self, forced: Tensor | None = None) -> list[list[float]]:
        """Return the longest possible span of each head of each layer, in positions.

        forced: as in `forward`.
        """
        own = torch.tensor([span.longest() for span in self.spans], dtype=torch.float64)
        found: list[list[float]] = (
            own if forced is None else torch.where(forced.cpu().isnan(), own, forced.cpu().double())
        ).tolist()
        return found

    def reaches(self, forced: Tensor | None = None) -> list[list[int]]:
        """Return the number of positions that each head of each layer must remember: its span and
        the ramp, at most S."""
        return [
            [measure_reach(z, self.config.ramp, self.config.span) for z in row]
            for row in self.longest(forced)
        ]

    def forward(
        self,
        before: Tensor,
        past: Past | None = None,
        forced: Tensor | None = None,
        trace: Trace = OFF,
    ) -> Said:
        """Return the logits of the next characters and the spans.

        before: the characters, `start` at the beginning of a text, (batch, position). past: the
        positions read earlier. forced: spans that replace the network's own, (layer, head), NaN
        where they do not. The taps `<layer>/self/…` are those of `span_attention`.
        """
        spans: list[Tensor] = []
        x = self.run_layers(
            self.dropout(self.letter(before)),
            past,  # type: ignore[arg-type]
            None,
            trace,
            forced=forced,
            spans=spans,
        )
        return Said(self.readout(x), tuple(spans))


KINDS: dict[str, Callable[[Config], Span]] = {
    "adaptive": LearnedSpan,
    "fixed": FullSpan,
    "dynamic": SpanOfToken,
}


def network(variant: str, config: Config) -> SpanTransformer:
    """Return the untrained network of a variant.

    Raise KeyError for an unknown variant.
    """
    return SpanTransformer(config, KINDS[variant])
