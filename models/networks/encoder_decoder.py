"""The Transformer: an encoder-decoder of attention alone (Vaswani et al., 2017).

x ← LayerNorm(x + Dropout(Sublayer(x))) around every sublayer; embeddings times √d_model plus
sinusoids, then dropout; one embedding matrix serves source, target and output.
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

from models.explaining.trace import OFF, Trace
from models.layers import fused
from models.layers.attention import MultiHeadAttention
from models.layers.dropout import Dropout
from models.layers.feedforward import FeedForward
from models.layers.masks import broadcast_key_mask
from models.layers.positional import sinusoids
from models.networks.encoder import Config, EncoderLayer

BRANCH = 0.2  # size of a sublayer's output matrices at the start of training, against Xavier's


@dataclass(frozen=True)
class Paths:
    """The residual path beside each sublayer f, x ← LN(g x + Drop f(x)), g = 1 in the paper; and
    where positions are added.

    encoder, decoder: g of every sublayer of every layer, () where all are 1.
    timing: whether sinusoids are added before every layer, not only the first.
    """

    encoder: tuple[tuple[float, ...], ...] = ()
    decoder: tuple[tuple[float, ...], ...] = ()
    timing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Changes:
    """The changes of a pass against the paper, to show what a part is for. The default changes
    nothing.

    scale: the factor on attention scores, in place of 1/√d_head.
    positional: whether embeddings get their sinusoids.
    reads: (batch, target) bool in place of the causal mask: the decoder's inputs that every
        position sees, later ones included.
    paths: in place of the network's own.
    first: the position of the first piece, in both languages.
    gains: factors on the output of each head of attention in the "encoder", the "decoder" and
        "cross" between them, (layer, batch, head): 1 leaves it, 0 silences it.
    """

    scale: float | None = None
    positional: bool = True
    reads: Tensor | None = None
    paths: Paths | None = None
    first: int = 0
    gains: Mapping[str, Tensor] = field(default_factory=dict)

    def find_gain(self, kind: str, layer: int) -> Tensor | None:
        """Return the gain of a layer, (batch, head), or None."""
        return self.gains[kind][layer] if kind in self.gains else None

    def select_rows(self, index: Tensor) -> Changes:
        """Return the changes of the sentences of the batch that index (n,) names."""
        return replace(
            self, gains={kind: each.index_select(1, index) for kind, each in self.gains.items()}
        )


AS_PUBLISHED = Changes()


@dataclass(frozen=True, slots=True)
class LayerChanges:
    """The part of `Changes` that falls to one layer of the decoder.

    gain, cross_gain: factors on the heads of self-attention and cross-attention, (batch, head).
    scale: as in `attend`.
    reads: the keys that may be attended to in place of the causal mask, (batch, 1, 1, target).
    paths: g of each sublayer, as in `Paths`.
    """

    gain: Tensor | None = None
    cross_gain: Tensor | None = None
    scale: float | None = None
    reads: Tensor | None = None
    paths: Sequence[float] = (1, 1, 1)


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
        changes: LayerChanges = LayerChanges(),
        trace: Trace = OFF,
        past: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] | None = None,
    ) -> Tensor:
        """Apply the layer to x, (batch, target, d_model).

        source: (batch, source, d_model), or its keys and values.
        mask: (batch, 1, 1, source).
        past: a function from keys and values of x to those of all positions so far, which x then
            sees.

        Taps `self/weights` and `cross/weights`.
        """
        scale, paths = changes.scale, changes.paths
        attended = self.self_attention(
            x,
            None if past is None else past(*self.self_attention.project_key_value(x)),
            mask=changes.reads,
            gain=changes.gain,
            trace=trace.within("self"),
            causal=changes.reads is None and past is None,
            scale=scale,
        )
        x = self.norms[0](torch.add(self.dropout(attended), x, alpha=paths[0]))
        attended = self.cross_attention(
            x, source, mask=mask, gain=changes.cross_gain, trace=trace.within("cross"), scale=scale
        )
        x = self.norms[1](torch.add(self.dropout(attended), x, alpha=paths[1]))
        return self.norms[2](torch.add(self.dropout(self.feed_forward(x)), x, alpha=paths[2]))  # type: ignore[no-any-return]


def list_parts(layer: Any) -> fused.Parts:
    """Return the modules of a layer of the encoder or of the decoder."""
    crossing = (layer.cross_attention, layer.norms[1]) if isinstance(layer, DecoderLayer) else ()
    return fused.Parts(
        layer.self_attention, layer.norms[0], layer.feed_forward, layer.norms[-1], *crossing
    )


class Transformer(nn.Module):
    """The network p(target | source) = Π_t softmax(E · decoder(target_<t, encoder(source))_t), E
    the shared embedding."""

    positions: Tensor

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config, self.paths = config, Paths()
        self.embedding = nn.Embedding(config.vocabulary, config.d_model)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.n_layers))
        self.dropout = Dropout(config.dropout)
        self.register_buffer(
            "positions", sinusoids(config.max_positions, config.d_model), persistent=False
        )
        self.initialise()

    def initialise(self) -> None:
        """Initialise matrices by Xavier, as in the authors' code, and embeddings with deviation
        1/√d_model, so that √d_model makes them unit sized.

        The output of a sublayer starts small (values, output projections and second feed-forward
        matrices times `branch_scale`), so that behind each norm the residual path dominates at
        first: with norms behind the sublayers the gradient otherwise fades on its way down, and
        cross-attention finds its words thousands of updates later (the idea of DeepNorm, Wang et
        al., 2022).
        """
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.embedding.weight, std=self.config.d_model**-0.5)
        with torch.no_grad():
            for branch, module in (
                (self.branch_scale(side), one)
                for side in ("encoder", "decoder")
                for one in getattr(self, side).modules()
            ):
                # three square matrices in one: each with its own bounds
                if isinstance(module, MultiHeadAttention):
                    for block, gain in zip(
                        module.project_in.weight.chunk(3), (1.0, 1.0, branch), strict=True
                    ):
                        nn.init.xavier_uniform_(block, gain)
                    module.project_in.bias.zero_()
                    module.project_out.bias.zero_()
                    module.project_out.weight.mul_(branch)
                elif isinstance(module, FeedForward):
                    module.outer.weight.mul_(branch)

    def branch_scale(self, _side: str) -> float:
        """Return the factor by which the sublayers of the encoder, or the decoder, start
        smaller."""
        return BRANCH

    @property
    def layers(self) -> nn.ModuleList:
        """The layers of the encoder, then those of the decoder."""
        return nn.ModuleList([*self.encoder, *self.decoder])

    def embed(self, tokens: Tensor, first: int = 0, positional: bool = True) -> Tensor:
        """Return Dropout(√d_model · E[token] + PE[position]): (batch, position) -> (batch,
        position, d_model); positions count from `first`.

        positional: whether sinusoids are added; without them no position differs from another.
        """
        words = self.embedding(tokens) * math.sqrt(self.config.d_model)
        return self.dropout(  # type: ignore[no-any-return]
            words + self.positions[first : first + tokens.shape[1]] if positional else words
        )

    def encode(
        self, source: Tensor, allowed: Tensor, trace: Trace = OFF, changes: Changes = AS_PUBLISHED
    ) -> Tensor:
        """Encode the source: (batch, source, d_model).

        source: tokens, (batch, source).
        allowed: (batch, source), False at padding and at hidden words.

        Taps `encoder/<layer>/self/weights` and `encoder/<layer>/output`.
        """
        mask, x, paths = (
            broadcast_key_mask(allowed),
            self.embed(source, changes.first, changes.positional),
            changes.paths or self.paths,
        )
        plain = len(x) == 1 and trace is OFF and changes is AS_PUBLISHED
        if plain and (whole := self.fuse_side(self.encoder)) is not None and bool(allowed.all()):
            return whole(x[0])[None]
        for i, layer in enumerate(self.encoder):
            x = self.add_positions(x, i, "encoder" in paths.timing, changes.first)
            beside = paths.encoder[i] if paths.encoder else (1, 1)
            x = layer(
                x,
                mask,
                changes.find_gain("encoder", i),
                trace.within("encoder", i),
                changes.scale,
                beside,
            )
        return x

    def fuse_side(self, side: nn.ModuleList, never: Sequence[int] = ()) -> fused.Whole | None:
        """Return the fused pass of all positions of a sentence through the encoder, or the decoder,
        in one call; None where it cannot be fused.

        never: pieces whose logits are −∞ in the decoder's readout.
        """
        if self.training or self.paths != Paths():
            return None
        readout = self.embedding.weight if side is self.decoder else None
        return fused.Whole.of(
            side, [list_parts(one) for one in side], self.config.n_heads, readout, never
        )

    def add_positions(self, x: Tensor, layer: int, timing: bool, first: int) -> Tensor:
        """Add the positions to x, (…, position, d_model), before a layer, where they are added
        before every one."""
        return x + self.positions[first : first + x.shape[-2]] if timing and layer else x

    def decode(
        self,
        target: Tensor,
        memory: Tensor | Sequence[tuple[Tensor, Tensor]],
        allowed: Tensor,
        trace: Trace = OFF,
        changes: Changes = AS_PUBLISHED,
        past: Any = None,
    ) -> Tensor:
        """Decode the target, teacher-forced or position by position: (batch, target, d_model).

        target: tokens read so far, the start token first, (batch, target).
        memory: the result of `encode`, or of `project_memory`.
        past: keys and values of the earlier positions (`models.decoding.sampling.SamplingCache`),
            which then alone decides what may be seen.

        Taps `decoder/<layer>/self/weights` and `decoder/<layer>/cross/weights`.
        """
        mask, paths, first = (
            broadcast_key_mask(allowed),
            changes.paths or self.paths,
            changes.first + (past.position if past else 0),
        )
        x, reads = (
            self.embed(target, first, changes.positional),
            None if changes.reads is None or past else broadcast_key_mask(changes.reads),
        )
        for i, layer in enumerate(self.decoder):
            extend = None if past is None else partial(past.extend, i, x)
            source = memory if isinstance(memory, Tensor) else memory[i]
            x = self.add_positions(x, i, "decoder" in paths.timing, first)
            in_layer = LayerChanges(
                changes.find_gain("decoder", i),
                changes.find_gain("cross", i),
                changes.scale,
                reads,
                paths.decoder[i] if paths.decoder else (1, 1, 1),
            )
            x = layer(x, source, mask, in_layer, trace.within("decoder", i), extend)
        return x

    def project_memory(self, memory: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Return the keys and values of the source in every layer of the decoder, for callers that
        read it more than once."""
        return [
            layer.cross_attention.project_key_value(memory)
            for layer in self.decoder
            if isinstance(layer, DecoderLayer)
        ]

    def readout(self, x: Tensor) -> Tensor:
        """Return unnormalised log-probabilities by the embedding itself (§3.4): (..., d_model) ->
        (..., vocabulary)."""
        return F.linear(x, self.embedding.weight)

    def forward(
        self,
        source: Tensor,
        target: Tensor,
        allowed: Tensor,
        trace: Trace = OFF,
        changes: Changes = AS_PUBLISHED,
    ) -> Tensor:
        """Return the decoder's vector at each target position, teacher-forced, (batch, target,
        d_model); `readout` makes it logits."""
        return self.decode(
            target, self.encode(source, allowed, trace, changes), allowed, trace, changes
        )
