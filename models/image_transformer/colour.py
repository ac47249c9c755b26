"""Super-resolution in colour: an encoder reads a whole small picture, and a decoder with local
attention generates the large one (Parmar et al., 2018, §5.3).

p(large | small) = Π_i p(x_i | x_<i, small). A pixel is three positions, red, green and blue, each
with 256 levels (§3.1). A position attends to the small picture, and it also receives the encoder's
output for the value below it. The paper leaves this to attention, which needs more steps of
training to find it than are taken here.

A small pixel is the mean of the large pixels that it covers. Once some of these are known, so is
the sum of the others: the small value times their number, less the sum so far. The network receives
the mean of what remains, the number of values that share it, and the errors of this mean for the
values just generated, to the left and above. Its readout gives the distance of a level from that
mean instead of one of 256 levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.explaining.trace import OFF, Trace
from models.image_transformer.model import LEVELS, WAVELENGTHS, Layer, Layout, raster
from models.layers.attention import MultiHeadAttention, attend
from models.layers.positional import sinusoids
from models.networks import decoder
from models.networks.decoder import Decoder, Past, initialise_quietly

CHANNELS = 3  # red, green, blue, in the order of generation
NEAR = 32.0  # levels: the unit of these errors


@dataclass(frozen=True)
class Config:
    """The sizes of a network."""

    side: int = 16  # rows and columns of the large picture, pixels
    small: int = 8  # rows and columns of the small one, pixels; a divisor of side
    query: int = 2  # rows of pixels in a block of queries
    memory: int = 4  # rows of pixels before the block that it may see
    d_model: int = 128  # width of a position
    d_ff: int = 512  # width inside the feed-forward sublayers
    n_heads: int = 4  # attention heads of each layer
    n_encoder: int = 1  # layers that read the small picture
    n_decoder: int = 4  # layers that generate the large picture

    @property
    def n_layers(self) -> int:
        """The number of layers with displayed heads, which are the decoder's."""
        return self.n_decoder

    def layout(self, memory: int | None = None) -> Layout:
        """Return the layout of all levels of the large picture in raster order, (side, side · 3).

        memory: rows; by default as trained.
        """
        width = self.side * CHANNELS
        return raster(
            self.side,
            width,
            self.query * width,
            (self.memory if memory is None else memory) * width,
        )


class EncoderLayer(decoder.Layer):
    """Attention of every level of the small picture to all levels."""

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
        """Return the output of `models.layers.attention.attend`."""
        return attend(query, key, value, None, gain, trace)


class DecoderLayer(Layer):
    """Local attention to earlier levels, attention to the small picture, and a feed-forward
    network, each in its residual branch."""

    cross: MultiHeadAttention
    cross_norm: nn.LayerNorm

    def __init__(self, config: Config) -> None:
        attention, cross = (MultiHeadAttention(config.d_model, config.n_heads) for _ in range(2))
        super().__init__(
            config.d_model,
            config.d_ff,
            config.n_heads,
            0.0,
            attention,
            cross_norm=nn.LayerNorm(config.d_model),
            cross=cross,
        )

    def forward(  # type: ignore[override]
        self,
        x: Tensor,
        number: int,
        past: Past | None,
        gain: Tensor | None,
        trace: Trace,
        *,
        source: Tensor | Sequence[tuple[Tensor, Tensor]],
        **how: Any,
    ) -> Tensor:
        """Return the output of `models.networks.decoder.Layer`.

        source: (batch, small position, d_model), or its keys and values for each layer. The taps
        are `self/queries`, `self/keys` and `cross/weights`.
        """
        x = x + self.attention.join_heads(
            self.attend_heads(x, number, past, gain, trace.within("self"), **how)
        )
        x = x + self.cross(
            self.cross_norm(x),
            source if isinstance(source, Tensor) else source[number],
            trace=trace.within("cross"),
        )
        return x + self.feedforward(self.feedforward_norm(x))  # type: ignore[no-any-return]


class Embedding(nn.Module):
    """The sum of a level with its channel, the place of a value, and the small picture there:
    E_channel[x] + P[row, column] + K[channel] + S[below].

    A small pixel lies in the middle of the large pixels that it covers: its place is the mean of
    theirs, so that the same spot of both pictures starts with the same place.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        # The last symbol precedes the first value.
        self.level = nn.Embedding(CHANNELS * LEVELS + 1, config.d_model)
        self.channel = nn.Embedding(CHANNELS, config.d_model)
        fine = sinusoids(config.side, config.d_model // 2, WAVELENGTHS)
        coarse = fine.view(config.small, config.side // config.small, -1).mean(1)
        self.large: Tensor
        self.small: Tensor
        self.register_buffer("large", _square(fine), persistent=False)
        self.register_buffer("small", _square(coarse), persistent=False)
        line = torch.arange(config.side) // (config.side // config.small)
        below = (line[:, None] * config.small + line).flatten()  # of each large pixel
        self.share = (config.side // config.small) ** 2  # large pixels that a small pixel covers
        spot = torch.arange(config.side) % (config.side // config.small)
        # The index of each large pixel among these, from 0.
        turn = (spot[:, None] * (config.side // config.small) + spot).flatten()
        # The small picture's value, of the same channel, that covers each value of the large one,
        # (position,).
        self.below: Tensor
        self.register_buffer(
            "below",
            (below[:, None] * CHANNELS + torch.arange(CHANNELS)).flatten(),
            persistent=False,
        )
        self.turn: Tensor  # values of its small pixel before each, (position,)
        self.register_buffer("turn", turn.repeat_interleave(CHANNELS), persistent=False)
        # The values whose errors a position receives: the last two, the one to the left, the one
        # above.
        self.earlier = (1, 2, CHANNELS, config.side * CHANNELS)
        self.remaining = nn.Embedding(LEVELS, config.d_model)
        self.sharing = nn.Embedding(self.share, config.d_model)
        self.missed = nn.Linear(len(self.earlier), config.d_model, bias=False)
        nn.init.normal_(self.channel.weight, std=0.5)
        with torch.no_grad():
            self.level.weight.normal_(std=0.5)
            self.level.weight[:-1] += 0.7 * sinusoids(LEVELS, config.d_model, WAVELENGTHS).repeat(
                CHANNELS, 1
            )
            self.remaining.weight.normal_(std=0.3)
            self.remaining.weight += 0.7 * sinusoids(LEVELS, config.d_model, WAVELENGTHS)
            self.sharing.weight.normal_(std=0.3)
            self.missed.weight.normal_(std=0.3)

    def symbols(self, values: Tensor) -> Tensor:
        """Return the row of E for each level.

        values: levels, channels inside pixels, (batch, position).
        """
        channel = torch.arange(values.shape[1], device=values.device) % CHANNELS
        return values + LEVELS * channel

    def source(self, small: Tensor) -> Tensor:
        """Return the encoder's input, (batch, small position, d_model).

        small: levels, (batch, row, column, channel).
        """
        values = small.flatten(1)
        return self.level(self.symbols(values)) + self.embed_places(self.small)  # type: ignore[no-any-return]

    def mean(self, below: Tensor, so_far: Tensor, turn: Tensor) -> Tensor:
        """Return the mean of a value and those that share the rest with it: (small value · their
        number − sum so far) / number left.

        All three arguments have one shape. The result is clipped to the range of levels, because
        the small value was rounded.
        """
        return ((self.share * below - so_far) / (self.share - turn)).clamp(0, LEVELS - 1)

    def means(self, values: Tensor, small: Tensor) -> Tensor:
        """Return the `mean` for every value, (batch, position).

        values: the large picture, (batch, position). small: (batch, small position).
        """
        sums = values.new_zeros(small.shape)
        so_far = torch.empty_like(values)
        for turn in range(self.share):
            here = self.turn == turn
            of = self.below[here]
            so_far[:, here] = sums[:, of]
            sums.index_add_(1, of, values[:, here])
        return self.mean(small[:, self.below], so_far, self.turn)

    def forward(self, values: Tensor, source: Tensor, means: Tensor) -> Tensor:
        """Return the embedding of what is known before each value, (batch, position, d_model).

        values: levels of the large picture, (batch, position). source: the encoded small picture,
        (batch, small position, d_model). means: as returned by `means`, (batch, position).
        """
        symbols = self.symbols(values)
        before = torch.cat(
            (symbols.new_full((len(symbols), 1), CHANNELS * LEVELS), symbols[:, :-1]), dim=1
        )
        misses = (values - means) / NEAR
        missed = torch.stack(
            [F.pad(misses, (by, 0))[:, : misses.shape[1]] for by in self.earlier], dim=2
        )
        known = self.remaining(means.round().long()) + self.sharing(self.turn) + self.missed(missed)
        return self.level(before) + self.embed_places(self.large) + source[:, self.below] + known  # type: ignore[no-any-return]

    def embed_places(self, place: Tensor) -> Tensor:
        """Return the place and channel of every value, (position, d_model).

        place: (pixel, d_model).
        """
        return (place[:, None] + self.channel.weight).flatten(0, 1)


def _square(line: Tensor) -> Tensor:
    """Combine rows and columns into places, (n · n, d): half of each vector is the row, half the
    column.

    line: (n, d / 2).
    """
    n = len(line)
    return torch.cat(
        (line[:, None].expand(-1, n, -1), line[None].expand(n, -1, -1)), dim=2
    ).reshape(n * n, -1)


class ColourTransformer(Decoder):
    """An encoder and a decoder; all levels of the picture form one sequence, channels inside
    pixels."""

    start = CHANNELS * LEVELS  # the symbol before the first level

    def __init__(self, config: Config) -> None:
        super().__init__()
        if config.side % config.small:
            raise ValueError(f"{config.side} pixels cannot be raised from {config.small}")
        self.config = config
        self.layout = config.layout()
        self.embedding = Embedding(config)
        encoder = nn.ModuleList(
            EncoderLayer(config.d_model, config.d_ff, config.n_heads)
            for _ in range(config.n_encoder)
        )
        decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.n_decoder))
        self.layers = nn.ModuleDict({"encoder": encoder, "decoder": decoder})
        self.source_norm = nn.LayerNorm(config.d_model)
        self.norm = nn.LayerNorm(config.d_model)
        # Distances of a level from the mean of what remains: −255 … 255.
        self.readout = nn.Linear(config.d_model, 2 * LEVELS - 1)
        self._start()

    @property
    def encoder(self) -> list[EncoderLayer]:
        """The layers that read the small picture."""
        return [
            layer for layer in self.layers["encoder"].children() if isinstance(layer, EncoderLayer)
        ]

    @property
    def decoder(self) -> list[DecoderLayer]:
        """The layers that generate the large picture."""
        return [
            layer for layer in self.layers["decoder"].children() if isinstance(layer, DecoderLayer)
        ]

    def _start(self) -> None:
        """Initialise with Xavier's sizes and small branches.

        Queries to the small picture start with the weights of its keys, so that equal content
        matches.
        """
        initialise_quietly((), [*self.encoder, *self.decoder])
        with torch.no_grad():
            for decoder in self.decoder:
                query, key, _ = decoder.cross.project_in.weight.chunk(3)
                key.copy_(query)

    def encode(self, small: Tensor) -> Tensor:
        """Encode the small picture for the decoder, (batch, small position, d_model).

        small: levels, (batch, row, column, channel).
        """
        x = self.embedding.source(small)
        for layer in self.encoder:
            x = layer(x)
        return self.source_norm(x)  # type: ignore[no-any-return]

    def compute_hidden(
        self,
        values: Tensor,
        means: Tensor,
        source: Tensor,
        layout: Layout,
        gains: Tensor | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Return the normalised input of the readout, (batch, position, d_model).

        values: levels of the large picture, (batch, position). means: as returned by the
        embedding's `means`.
        """
        return self.run_layers(
            self.embedding(values, source, means),
            None,
            gains,
            trace,
            source=source,
            blocks=layout.blocks,
        )

    def forward(
        self,
        picture: Tensor,
        small: Tensor,
        layout: Layout | None = None,
        gains: Tensor | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Return the logits of a large picture, each from earlier levels and `small`, (batch, row,
        column, channel, level).

        picture: (batch, row, column, channel). small: levels, (batch, row, column, channel).
        layout: with another memory than the trained one. gains: (decoder layer, batch, head). The
        taps of the decoder are `<layer>/self/queries`, `<layer>/self/keys` and
        `<layer>/cross/weights`.
        """
        values = picture.flatten(1)
        means = self.embedding.means(values, small.flatten(1))
        x = self.compute_hidden(
            values, means, self.encode(small), layout or self.layout, gains, trace
        )
        return levels_from(self.readout(x), means).view(*picture.shape, LEVELS)

    def predictions(self, picture: Tensor, small: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (batch, row, column, channel, level) and true levels (batch, row, column,
        channel) for training."""
        return self(picture, small), picture


def levels_from(distances: Tensor, means: Tensor) -> Tensor:
    """Return logits of the levels 0 … 255, (…, 256), from those of the distances −255 … 255 to the
    rounded mean, (…, 511).

    means: (…).
    """
    first = LEVELS - 1 - means.round().long()  # the index of level 0
    return distances.gather(-1, first[..., None] + torch.arange(LEVELS, device=means.device))
