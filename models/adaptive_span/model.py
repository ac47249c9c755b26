"""A decoder over characters, each head of which reads as far back as its span (Sukhbaatar et al., 2019).

p(text) = Π_t p(c_t | c_<t). x ← x + Sublayer(LayerNorm(x)) around every sublayer, and a last LayerNorm before the readout. Where a head's
span comes from is what the three variants differ in: `LearnedSpan`, `FullSpan` and `SpanOfToken`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from models.characters import Alphabet
from models.layers.attention import MultiHeadAttention
from models.layers.dropout import Dropout
from models.layers.feedforward import FeedForward
from models.layers.span import reach, span_attention
from models.trace import OFF, Trace

BRANCH = 0.3  # size of what leads out of a sublayer at the start of training, against Xavier's
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
    """One z per head, learned (§2.2). The parameter is z / S, so that a step of any size means the same whatever S is; it begins at 0."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.share = nn.Parameter(torch.zeros(config.n_heads))
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


class Layer(nn.Module):
    """Attention within each head's span, then the feed-forward network, each in its residual branch."""

    def __init__(self, config: Config, kind: Callable[[Config], Span]) -> None:
        super().__init__()
        self.config = config
        self.norm = nn.LayerNorm(config.d_model)
        self.attention = MultiHeadAttention(config.d_model, config.n_heads)
        d_head = config.d_model // config.n_heads
        self.table = nn.Parameter(torch.randn(1, config.span, d_head) * d_head**-0.5)  # p, shared by the heads of the layer
        self.span = kind(config)
        self.feedforward_norm = nn.LayerNorm(config.d_model)
        self.feedforward = FeedForward(config.d_model, config.d_ff)
        self.dropout = Dropout(config.dropout)

    def forward(
        self, x: Tensor, number: int = 0, past: Past | None = None, forced: Tensor | None = None, trace: Trace = OFF
    ) -> tuple[Tensor, Tensor]:
        """x: (batch, position, d_model); the same comes back, and z (1 or batch, head, 1 or position).

        number: of the layer, for `past`. forced: (head,) spans in place of the layer's own, NaN where those stay.
        Taps within `self` as in `span_attention`.
        """
        read = self.norm(x)
        query, key, value = self.attention.self_projections(read)
        z = self.span(read)
        if forced is not None:
            z = torch.where(forced.isnan()[:, None], z, forced[:, None])
        if past is None:
            heads = span_attention(query, key, value, self.table, z, self.config.span, self.config.ramp, trace.within("self"))
        else:
            heads = past.attend(number, query, key, value, self.table, z)
        x = x + self.dropout(self.attention.join(heads))
        return x + self.dropout(self.feedforward(self.feedforward_norm(x))), z


class Said(NamedTuple):
    """logits: (batch, position, kind) of the character after each; spans: z of each layer, (1 or batch, head, 1 or position)."""

    logits: Tensor
    spans: tuple[Tensor, ...]


class SpanTransformer(nn.Module):
    """The network; `kind` makes the spans of a layer."""

    def __init__(self, config: Config, kind: Callable[[Config], Span]) -> None:
        super().__init__()
        self.config = config
        kinds = len(self.alphabet)
        self.letter = nn.Embedding(kinds, config.d_model)
        self.layers = nn.ModuleList(Layer(config, kind) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(config.d_model)
        self.readout = nn.Linear(config.d_model, kinds)
        self.dropout = Dropout(config.dropout)
        self._start()

    def _start(self) -> None:
        """Xavier's sizes, with quiet branches: the residual stream begins as the embedding, and each sublayer earns its voice."""
        nn.init.normal_(self.letter.weight, std=0.5)
        for layer in self.layers:
            assert isinstance(layer, Layer)
            for block in layer.attention.project_in.weight.chunk(3):
                nn.init.xavier_uniform_(block)
            nn.init.zeros_(layer.attention.project_in.bias)
            for linear in (layer.attention.project_out, layer.feedforward.outer):
                nn.init.xavier_uniform_(linear.weight, BRANCH)
                nn.init.zeros_(linear.bias)

    @cached_property
    def alphabet(self) -> Alphabet:
        """The characters that the network knows."""
        return Alphabet(self.config.letters)

    @property
    def start(self) -> int:
        """What stands before a text: a new line."""
        return int(self.alphabet.encode("\n")[0])

    @property
    def spans(self) -> list[Span]:
        """Of each layer."""
        return [layer.span for layer in self.layers]  # type: ignore[misc]

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
        x: Tensor = self.dropout(self.letter(before))
        spans = []
        for i, layer in enumerate(self.layers):
            x, z = layer(x, i, past, None if forced is None else forced[i], trace.within(i))
            spans.append(z)
        return Said(self.readout(self.norm(x)), tuple(spans))


KINDS: dict[str, Callable[[Config], Span]] = {"adaptive": LearnedSpan, "fixed": FullSpan, "dynamic": SpanOfToken}


def network(variant: str, config: Config) -> SpanTransformer:
    """A variant's network, nothing learned yet. KeyError for an unknown one."""
    return SpanTransformer(config, KINDS[variant])
