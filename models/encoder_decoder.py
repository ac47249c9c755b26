"""The Transformer: an encoder-decoder of attention alone (Vaswani et al., 2017).

x ← LayerNorm(x + Dropout(Sublayer(x))) around every sublayer; embeddings times √d_model plus sinusoids, then dropout; one
embedding matrix serves source, target and output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import fused
from models.encoder import Config, EncoderLayer
from models.layers.attention import MultiHeadAttention
from models.layers.dropout import Dropout
from models.layers.feedforward import FeedForward
from models.layers.masks import keys_allowed
from models.layers.positional import sinusoids
from models.trace import OFF, Trace

BRANCH = 0.2  # size of what leads out of a sublayer at the start of training, against Xavier's


@dataclass(frozen=True)
class Paths:
    """What stands beside each sublayer f: x ← LN(g x + Drop f(x)), g = 1 in the paper, the residual path; and where positions are told.

    encoder, decoder: g of every sublayer of every layer, () where all are 1. timing: sinusoids are added before every layer, not only the
    first.
    """

    encoder: tuple[tuple[float, ...], ...] = ()
    decoder: tuple[tuple[float, ...], ...] = ()
    timing: bool = False


@dataclass(frozen=True)
class Changes:
    """What a pass does unlike the paper, to see what it is for. The default changes nothing.

    scale: what attention scores are multiplied by, in place of 1/√d_head. positional: embeddings get their sinusoids.
    reads: (batch, target) bool in place of the causal mask: the decoder's inputs that every position sees, later ones included.
    paths: in place of the network's own. first: the position that the first piece stands at, in both languages.
    gains: of attention in the "encoder", the "decoder" and "cross" between them, (layer, batch, head), what the output of each head is
    multiplied by: 1 leaves it, 0 silences it.
    """

    scale: float | None = None
    positional: bool = True
    reads: Tensor | None = None
    paths: Paths | None = None
    first: int = 0
    gains: Mapping[str, Tensor] = field(default_factory=dict)

    def gain(self, kind: str, layer: int) -> Tensor | None:
        """That of a layer, (batch, head), or None."""
        return self.gains[kind][layer] if kind in self.gains else None

    def rows(self, index: Tensor) -> Changes:
        """What changes in the sentences of the batch that index (n,) names."""
        return replace(self, gains={kind: each.index_select(1, index) for kind, each in self.gains.items()})


AS_PUBLISHED = Changes()


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the source, then feed-forward (§3.1)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.cross_attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.norms = nn.ModuleList(nn.LayerNorm(config.d_model) for _ in range(3))
        self.dropout = Dropout(config.dropout)

    def forward(
        self,
        x: Tensor,
        source: Tensor | tuple[Tensor, Tensor],
        mask: Tensor | None,
        gain: Tensor | None = None,
        cross_gain: Tensor | None = None,
        trace: Trace = OFF,
        scale: float | None = None,
        reads: Tensor | None = None,
        paths: Sequence[float] = (1, 1, 1),
        past: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] | None = None,
    ) -> Tensor:
        """x: (batch, target, d_model); source: (batch, source, d_model), or its keys and values; mask: (batch, 1, 1, source).

        scale as in `attend`. reads: (batch, 1, 1, target), who may be attended to in place of the causal mask. paths as in `Paths`.
        past: keys and values of x -> those of all positions so far, which x then sees. Taps `self/weights` and `cross/weights`.
        """
        seen, causal = None if past is None else past(*self.self_attention.key_value(x)), reads is None and past is None
        own = self.self_attention(x, seen, mask=reads, gain=gain, trace=trace.within("self"), causal=causal, scale=scale)
        x = self.norms[0](torch.add(self.dropout(own), x, alpha=paths[0]))
        attended = self.cross_attention(x, source, mask=mask, gain=cross_gain, trace=trace.within("cross"), scale=scale)
        x = self.norms[1](torch.add(self.dropout(attended), x, alpha=paths[1]))
        return self.norms[2](torch.add(self.dropout(self.feed_forward(x)), x, alpha=paths[2]))  # type: ignore[no-any-return]


def parts(layer: Any) -> fused.Parts:
    """The modules of a layer of the encoder or of the decoder."""
    crossing = (layer.cross_attention, layer.norms[1]) if isinstance(layer, DecoderLayer) else ()
    return fused.Parts(layer.self_attention, layer.norms[0], layer.feed_forward, layer.norms[-1], *crossing)


class Transformer(nn.Module):
    """p(target | source) = Π_t softmax(E · decoder(target_<t, encoder(source))_t), E the shared embedding."""

    positions: Tensor

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config, self.paths = config, Paths()
        self.embedding = nn.Embedding(config.vocabulary, config.d_model)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.n_layers))
        self.dropout = Dropout(config.dropout)
        self.register_buffer("positions", sinusoids(config.max_positions, config.d_model), persistent=False)
        self.reset()

    def reset(self) -> None:
        """Xavier for matrices, as in the authors' code; embeddings of deviation 1/√d_model, so that √d_model makes them unit sized.

        What a sublayer adds starts small (values, output projections and second feed-forward matrices times `branch`), so that behind each
        norm the residual path dominates at first: with norms behind the sublayers the gradient fades on its way down otherwise, and
        cross-attention finds its words thousands of updates later (the thought of DeepNorm, Wang et al., 2022).
        """
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.embedding.weight, std=self.config.d_model**-0.5)
        with torch.no_grad():
            for branch, module in ((self.branch(side), one) for side in ("encoder", "decoder") for one in getattr(self, side).modules()):
                if isinstance(module, MultiHeadAttention):  # three square matrices in one: each with its own bounds
                    for block, gain in zip(module.project_in.weight.chunk(3), (1.0, 1.0, branch), strict=True):
                        nn.init.xavier_uniform_(block, gain)
                    module.project_in.bias.zero_()
                    module.project_out.bias.zero_()
                    module.project_out.weight.mul_(branch)
                elif isinstance(module, FeedForward):
                    module.outer.weight.mul_(branch)

    def branch(self, _side: str) -> float:
        """How small what the sublayers of the encoder, or the decoder, add begins."""
        return BRANCH

    @property
    def layers(self) -> nn.ModuleList:
        """Those of the encoder, then those of the decoder."""
        return nn.ModuleList([*self.encoder, *self.decoder])

    def embed(self, tokens: Tensor, first: int = 0, positional: bool = True) -> Tensor:
        """Dropout(√d_model · E[token] + PE[position]): (batch, position) -> (batch, position, d_model); positions count from `first`.

        positional: without it nothing tells one position from another.
        """
        words = self.embedding(tokens) * math.sqrt(self.config.d_model)
        return self.dropout(words + self.positions[first : first + tokens.shape[1]] if positional else words)  # type: ignore[no-any-return]

    def encode(self, source: Tensor, allowed: Tensor, trace: Trace = OFF, changes: Changes = AS_PUBLISHED) -> Tensor:
        """source: (batch, source) tokens; allowed: (batch, source), False at padding and at hidden words. (batch, source, d_model).

        Taps `encoder/<layer>/self/weights` and `encoder/<layer>/output`.
        """
        mask, x, paths = keys_allowed(allowed), self.embed(source, changes.first, changes.positional), changes.paths or self.paths
        plain = len(x) == 1 and trace is OFF and changes is AS_PUBLISHED
        if plain and (whole := self.whole(self.encoder)) is not None and bool(allowed.all()):
            return whole(x[0])[None]
        for i, layer in enumerate(self.encoder):
            x = self.placed(x, i, paths, changes.first)
            beside = paths.encoder[i] if paths.encoder else (1, 1)
            x = layer(x, mask, changes.gain("encoder", i), trace.within("encoder", i), changes.scale, beside)
        return x

    def whole(self, side: nn.ModuleList, never: Sequence[int] = ()) -> fused.Whole | None:
        """What takes all positions of a sentence through the encoder, or the decoder, in one call; None where that is not fused.

        never: pieces whose logits are −∞ in the decoder's readout.
        """
        if self.training or self.paths != Paths():
            return None
        readout = self.embedding.weight if side is self.decoder else None
        return fused.Whole.of(side, [parts(one) for one in side], self.config.n_heads, readout, never)

    def placed(self, x: Tensor, layer: int, paths: Paths, first: int) -> Tensor:
        """x: (…, position, d_model) before a layer, once more with its positions where these are told before every one."""
        return x + self.positions[first : first + x.shape[-2]] if paths.timing and layer else x

    def decode(
        self,
        target: Tensor,
        memory: Tensor | Sequence[tuple[Tensor, Tensor]],
        allowed: Tensor,
        trace: Trace = OFF,
        changes: Changes = AS_PUBLISHED,
        past: Any = None,
    ) -> Tensor:
        """target: (batch, target) tokens read so far, the start token first; memory: what `encode` gave, or what `key_values` made of it.

        past: keys and values of what stands before (`models.sampling.Cache`), which alone says what may be seen. Result (batch, target,
        d_model).

        Taps `decoder/<layer>/self/weights` and `decoder/<layer>/cross/weights`.
        """
        mask, paths, first = keys_allowed(allowed), changes.paths or self.paths, changes.first + (past.position if past else 0)
        x, reads = self.embed(target, first, changes.positional), None if changes.reads is None or past else keys_allowed(changes.reads)
        for i, layer in enumerate(self.decoder):
            extend = None if past is None else partial(past.extend, i, x)
            gain, cross = changes.gain("decoder", i), changes.gain("cross", i)
            source = memory if isinstance(memory, Tensor) else memory[i]
            x, beside = self.placed(x, i, paths, first), paths.decoder[i] if paths.decoder else (1, 1, 1)
            x = layer(x, source, mask, gain, cross, trace.within("decoder", i), changes.scale, reads, beside, extend)
        return x

    def key_values(self, memory: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Keys and values of the source in every layer of the decoder, for those that read it more than once."""
        return [layer.cross_attention.key_value(memory) for layer in self.decoder if isinstance(layer, DecoderLayer)]

    def readout(self, x: Tensor) -> Tensor:
        """(..., d_model) -> (..., vocabulary), unnormalised log-probabilities, by the embedding itself (§3.4)."""
        return F.linear(x, self.embedding.weight)

    def forward(self, source: Tensor, target: Tensor, allowed: Tensor, trace: Trace = OFF, changes: Changes = AS_PUBLISHED) -> Tensor:
        """Teacher-forced: what the decoder says at each target position, (batch, target, d_model); `readout` makes it logits."""
        return self.decode(target, self.encode(source, allowed, trace, changes), allowed, trace, changes)
