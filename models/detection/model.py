"""DETR, the detection Transformer (Carion et al., 2020): a picture becomes a set of boxes in one
pass, without anchors and without suppressing neighbours.

A convolutional backbone turns the picture into tokens. An encoder lets the tokens attend to each
other. A decoder lets a few learned object queries attend to each other and to the tokens, and each
query answers with a class, or ∅ for none, and a box. Fixed sines of the place are added to queries
and keys of every attention, never to values (§3.2 and figure 10).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.explaining.trace import OFF, Trace
from models.layers.attention import MultiHeadAttention, attend
from models.layers.feedforward import FeedForward
from models.layers.positional import sinusoids


@dataclass(frozen=True)
class Config:
    """The sizes of the network."""

    kinds: int = 10  # classes of object, without ∅
    queries: int = 12  # object queries: the most objects that can be found
    side: int = 96  # rows and columns of the picture, pixels
    stride: int = 8  # pixels between two tokens
    d_model: int = 128  # width of a token
    d_ff: int = 256  # width inside the feed-forward sublayer
    n_heads: int = 4  # heads of each attention
    n_layers: int = 3  # layers of the encoder, and as many of the decoder


class Gains(NamedTuple):
    """The factors on the outputs of heads, (layer, batch, head) each; 0 silences a head. None
    leaves all heads as trained."""

    encoder: Tensor | None = None
    queries: Tensor | None = None
    cross: Tensor | None = None


AS_TRAINED = Gains()


class Detections(NamedTuple):
    """The answers after every decoder layer.

    logits: scores of the classes, ∅ last, (layer, batch, query, class). boxes: center x, center y,
    width and height as fractions of the picture, (layer, batch, query, 4).
    """

    logits: Tensor
    boxes: Tensor


class PlacedAttention(MultiHeadAttention):
    """Multi-head attention whose queries and keys know their places and whose values do not:
    q = (x + p_x) W_Q, k = (s + p_s) W_K, v = s W_V."""

    def forward(  # type: ignore[override]
        self,
        x: Tensor,
        place: Tensor,
        source: Tensor | None = None,
        source_place: Tensor | None = None,
        gain: Tensor | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Let x attend to `source`, or to itself; return (batch, query, d_model).

        x, place: (batch, query, d_model). source, source_place: (batch, key, d_model). gain and
        the taps: as in `attend`.
        """
        source = x if source is None else source
        source_place = place if source_place is None else source_place
        parts = zip(self.weight_matrices, self.project_in.bias.chunk(3), strict=True)
        query, key, value = (
            self.split_heads(F.linear(part, weight, bias))
            for part, (weight, bias) in zip(
                (x + place, source + source_place, source), parts, strict=True
            )
        )
        return self.join_heads(attend(query, key, value, gain=gain, trace=trace))


class TokenLayer(nn.Module):
    """A layer of the encoder: self-attention, then feed-forward, each with a residual and layer
    normalisation behind it."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.self_attention = PlacedAttention(config.d_model, config.n_heads)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.norms = nn.ModuleList(nn.LayerNorm(config.d_model) for _ in range(2))

    def forward(
        self, x: Tensor, place: Tensor, gain: Tensor | None = None, trace: Trace = OFF
    ) -> Tensor:
        """Apply the layer to tokens, (batch, token, d_model). Taps `self/weights`."""
        x = self.norms[0](x + self.self_attention(x, place, gain=gain, trace=trace.within("self")))
        return self.norms[1](x + self.feed_forward(x))  # type: ignore[no-any-return]


class QueryLayer(nn.Module):
    """A layer of the decoder: the object queries attend to each other, then to the tokens."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.self_attention = PlacedAttention(config.d_model, config.n_heads)
        self.cross_attention = PlacedAttention(config.d_model, config.n_heads)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.norms = nn.ModuleList(nn.LayerNorm(config.d_model) for _ in range(3))

    def forward(
        self,
        x: Tensor,
        query_place: Tensor,
        memory: Tensor,
        place: Tensor,
        gains: tuple[Tensor | None, Tensor | None] = (None, None),
        trace: Trace = OFF,
    ) -> Tensor:
        """Apply the layer to the state of the queries, (batch, query, d_model).

        memory, place: (batch, token, d_model). gains: of the two attentions, (batch, head) each.
        Taps `self/weights` and `cross/weights`.
        """
        among = self.self_attention(x, query_place, gain=gains[0], trace=trace.within("self"))
        x = self.norms[0](x + among)
        context = self.cross_attention(
            x, query_place, memory, place, gain=gains[1], trace=trace.within("cross")
        )
        x = self.norms[1](x + context)
        return self.norms[2](x + self.feed_forward(x))  # type: ignore[no-any-return]


def convolve(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    """Return a 3 × 3 convolution with batch normalisation behind it."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)
    )


class Residual(nn.Module):
    """Two convolutions with a residual around them (He et al., 2016)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first, self.second = convolve(channels, channels), convolve(channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the block: (batch, channel, row, column) -> the same shape."""
        return (x + self.second(self.first(x).relu())).relu()  # type: ignore[no-any-return]


class Backbone(nn.Module):
    """Convolutions that turn each square of 8 × 8 pixels into a vector."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.blocks = nn.Sequential(
            convolve(1, 32, 2),
            nn.ReLU(),
            convolve(32, 64, 2),
            nn.ReLU(),
            Residual(64),
            convolve(64, 128, 2),
            nn.ReLU(),
            Residual(128),
        )
        self.project = nn.Conv2d(128, d_model, 1)

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the tokens, in raster order: (batch, row, column) of levels 0 … 255 -> (batch,
        token, d_model)."""
        x = self.project(self.blocks((pictures[:, None] - 128) / 64))
        return x.flatten(2).transpose(1, 2)  # type: ignore[no-any-return]


def place_tokens(side: int, d_model: int) -> Tensor:
    """Return the fixed encoding of places on a square grid, (side², d_model): sines of the row in
    the first half, sines of the column in the second."""
    # Wavelengths from 6 to 600 tokens: those up to the paper's 60,000 would all be constant here.
    half = sinusoids(side, d_model // 2, 100.0)
    rows, columns = half[:, None].expand(-1, side, -1), half[None].expand(side, -1, -1)
    return torch.cat((rows, columns), 2).reshape(side * side, d_model)


class Detector(nn.Module):
    """DETR with auxiliary answers after every layer of the decoder."""

    place: Tensor

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.backbone = Backbone(config.d_model)
        self.cells = nn.Linear(config.d_model, config.kinds + 1)  # of the first stage of training
        self.encoder = nn.ModuleList(TokenLayer(config) for _ in range(config.n_layers))
        self.decoder = nn.ModuleList(QueryLayer(config) for _ in range(config.n_layers))
        self.queries = nn.Embedding(config.queries, config.d_model)
        self.norm = nn.LayerNorm(config.d_model)
        self.classify = nn.Linear(config.d_model, config.kinds + 1)
        self.locate = nn.Sequential(
            *(nn.Linear(config.d_model, config.d_model), nn.ReLU()),
            *(nn.Linear(config.d_model, config.d_model), nn.ReLU()),
            nn.Linear(config.d_model, 4),
        )
        place = place_tokens(config.side // config.stride, config.d_model)
        self.register_buffer("place", place, persistent=False)
        for layer in (*self.encoder, *self.decoder):
            for name, weight in layer.named_parameters():
                if weight.dim() > 1 and "norm" not in name:
                    nn.init.xavier_uniform_(weight)

    def classify_cells(self, pictures: Tensor) -> Tensor:
        """Return the classes that the backbone alone gives each token, (batch, token, class)."""
        return self.cells(self.backbone(pictures))  # type: ignore[no-any-return]

    def forward(
        self,
        pictures: Tensor,
        gains: Gains = AS_TRAINED,
        queries: int | None = None,
        trace: Trace = OFF,
    ) -> Detections:
        """Find the objects of pictures, (batch, row, column), levels 0 … 255.

        queries: how many of the object queries take part; None for all.

        Taps `encoder/<layer>/self/weights`, `decoder/<layer>/self/weights` and
        `decoder/<layer>/cross/weights`, (batch, head, query, key).
        """
        memory = self.backbone(pictures)
        place = self.place[None]
        for i, layer in enumerate(self.encoder):
            gain = None if gains.encoder is None else gains.encoder[i]
            memory = layer(memory, place, gain, trace.within("encoder", i))
        query_place = self.queries.weight[None, :queries].expand(len(pictures), -1, -1)
        x, states = torch.zeros_like(query_place), []
        for i, layer in enumerate(self.decoder):
            factors = (
                None if gains.queries is None else gains.queries[i],
                None if gains.cross is None else gains.cross[i],
            )
            x = layer(x, query_place, memory, place, factors, trace.within("decoder", i))
            states.append(self.norm(x))
        context = torch.stack(states)
        return Detections(self.classify(context), self.locate(context).sigmoid())
