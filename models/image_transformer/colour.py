"""Super-resolution in colour: an encoder reads a small picture whole, a decoder makes the large one locally (Parmar et al., 2018, §5.3).

p(large | small) = Π_i p(x_i | x_<i, small). A pixel is three positions, red, green, blue, and each of them has 256 levels (§3.1).
Beside attending to the small picture, a position is told what the encoder says of the value below it: the paper leaves that to attention,
which takes longer to find it than these few steps of training last.

A small pixel is the mean of the large ones that it covers. So once some of them are made, what remains for the others is known: the small
value times their number, less the sum so far. The network is told the mean of what remains, how many values share it and by how much the
values just made, to the left and above missed theirs; and its readout says how far a level lies from that mean, not which of the 256 it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import decoder
from models.decoder import Decoder, Past, quiet_start
from models.image_transformer.model import LEVELS, WAVELENGTHS, Layer, Layout, raster
from models.layers.attention import MultiHeadAttention, attend
from models.layers.positional import sinusoids
from models.trace import OFF, Trace

CHANNELS = 3  # red, green, blue, in the order in which they are made
NEAR = 32.0  # levels: misses are told in this unit


@dataclass(frozen=True)
class Config:
    """What the network is."""

    side: int = 16  # rows and columns of the large picture, pixels
    small: int = 8  # rows and columns of the small one, pixels; a divisor of side
    query: int = 2  # rows of pixels in a block of queries
    memory: int = 4  # rows of pixels before it that it may see
    d_model: int = 128  # width of a position
    d_ff: int = 512  # width inside the feed-forward sublayers
    n_heads: int = 4  # attention heads of each layer
    n_encoder: int = 1  # layers that read the small picture
    n_decoder: int = 4  # layers that make the large one

    @property
    def n_layers(self) -> int:
        """As in every decoder: the layers whose heads a visitor sees."""
        return self.n_decoder

    def layout(self, memory: int | None = None) -> Layout:
        """Every level of the large picture in raster order, (side, side · 3), with the memory it is trained with or another, in rows."""
        width = self.side * CHANNELS
        return raster(self.side, width, self.query * width, (self.memory if memory is None else memory) * width)


class EncoderLayer(decoder.Layer):
    """Attention of every level of the small picture to all of it."""

    def attend(self, query: Tensor, key: Tensor, value: Tensor, number: int, gain: Tensor | None, trace: Trace, **how: Any) -> Tensor:
        """As `models.layers.attention.attend`."""
        return attend(query, key, value, None, gain, trace)


class DecoderLayer(Layer):
    """Local attention to what is made, attention to the small picture, and the feed-forward network, each in its residual branch."""

    cross: MultiHeadAttention
    cross_norm: nn.LayerNorm

    def __init__(self, config: Config) -> None:
        attention, cross = (MultiHeadAttention(config.d_model, config.n_heads) for _ in range(2))
        super().__init__(config.d_model, config.d_ff, config.n_heads, 0.0, attention, cross_norm=nn.LayerNorm(config.d_model), cross=cross)

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
        """As `models.decoder.Layer`. source: (batch, small position, d_model), or keys and values made of it, for each layer.

        Taps `self/queries`, `self/keys` and `cross/weights`.
        """
        x = x + self.attention.join(self.heads(x, number, past, gain, trace.within("self"), **how))
        x = x + self.cross(self.cross_norm(x), source if isinstance(source, Tensor) else source[number], trace=trace.within("cross"))
        return x + self.feedforward(self.feedforward_norm(x))  # type: ignore[no-any-return]


class Embedding(nn.Module):
    """A level with its channel, the place of a value, and the small picture there: E_channel[x] + P[row, column] + K[channel] + S[below].

    A small pixel stands in the middle of the large ones that it covers: its place is the mean of theirs, so that what lies at the same
    spot of both pictures begins alike.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.level = nn.Embedding(CHANNELS * LEVELS + 1, config.d_model)  # the last one stands before the first value
        self.channel = nn.Embedding(CHANNELS, config.d_model)
        fine = sinusoids(config.side, config.d_model // 2, WAVELENGTHS)
        coarse = fine.view(config.small, config.side // config.small, -1).mean(1)
        self.large: Tensor
        self.small: Tensor
        self.register_buffer("large", _square(fine), persistent=False)
        self.register_buffer("small", _square(coarse), persistent=False)
        line = torch.arange(config.side) // (config.side // config.small)
        below = (line[:, None] * config.small + line).flatten()  # of each large pixel
        self.share = (config.side // config.small) ** 2  # large pixels that a small one covers
        spot = torch.arange(config.side) % (config.side // config.small)
        turn = (spot[:, None] * (config.side // config.small) + spot).flatten()  # which of them each large pixel is, from 0
        self.below: Tensor  # (position,) the small picture's value, of the same channel, that each value of the large one lies in
        self.register_buffer("below", (below[:, None] * CHANNELS + torch.arange(CHANNELS)).flatten(), persistent=False)
        self.turn: Tensor  # (position,) how many values of its small one are made before each
        self.register_buffer("turn", turn.repeat_interleave(CHANNELS), persistent=False)
        self.earlier = (1, 2, CHANNELS, config.side * CHANNELS)  # whose misses a position is told: the last two, the one to the left, above
        self.remaining = nn.Embedding(LEVELS, config.d_model)
        self.sharing = nn.Embedding(self.share, config.d_model)
        self.missed = nn.Linear(len(self.earlier), config.d_model, bias=False)
        nn.init.normal_(self.channel.weight, std=0.5)
        with torch.no_grad():
            self.level.weight.normal_(std=0.5)
            self.level.weight[:-1] += 0.7 * sinusoids(LEVELS, config.d_model, WAVELENGTHS).repeat(CHANNELS, 1)
            self.remaining.weight.normal_(std=0.3)
            self.remaining.weight += 0.7 * sinusoids(LEVELS, config.d_model, WAVELENGTHS)
            self.sharing.weight.normal_(std=0.3)
            self.missed.weight.normal_(std=0.3)

    def symbols(self, values: Tensor) -> Tensor:
        """Levels (batch, position), channels inside pixels -> which row of E each is."""
        channel = torch.arange(values.shape[1], device=values.device) % CHANNELS
        return values + LEVELS * channel

    def source(self, small: Tensor) -> Tensor:
        """small: (batch, row, column, channel) levels -> (batch, small position, d_model)."""
        values = small.flatten(1)
        return self.level(self.symbols(values)) + self.told(self.small)  # type: ignore[no-any-return]

    def mean(self, below: Tensor, so_far: Tensor, turn: Tensor) -> Tensor:
        """What remains for a value and those that share it, on average: (small value · their number − sum so far) / how many are left.

        All three of one shape. A real number within the levels, for a sum may miss by as much as the small value was rounded.
        """
        return ((self.share * below - so_far) / (self.share - turn)).clamp(0, LEVELS - 1)

    def means(self, values: Tensor, small: Tensor) -> Tensor:
        """`mean` of every value: values (batch, position) of the large picture, small (batch, small position) -> (batch, position)."""
        sums = values.new_zeros(small.shape)
        so_far = torch.empty_like(values)
        for turn in range(self.share):
            here = self.turn == turn
            of = self.below[here]
            so_far[:, here] = sums[:, of]
            sums.index_add_(1, of, values[:, here])
        return self.mean(small[:, self.below], so_far, self.turn)

    def forward(self, values: Tensor, source: Tensor, means: Tensor) -> Tensor:
        """values: (batch, position) levels of the large picture; source: (batch, small position, d_model), the small one as encoded.

        means: (batch, position) as `means` gives them. What is known before each value, (batch, position, d_model).
        """
        symbols = self.symbols(values)
        before = torch.cat((symbols.new_full((len(symbols), 1), CHANNELS * LEVELS), symbols[:, :-1]), dim=1)
        misses = (values - means) / NEAR
        missed = torch.stack([F.pad(misses, (by, 0))[:, : misses.shape[1]] for by in self.earlier], dim=2)
        known = self.remaining(means.round().long()) + self.sharing(self.turn) + self.missed(missed)
        return self.level(before) + self.told(self.large) + source[:, self.below] + known  # type: ignore[no-any-return]

    def told(self, place: Tensor) -> Tensor:
        """place: (pixel, d_model) -> place and channel of every value, (position, d_model)."""
        return (place[:, None] + self.channel.weight).flatten(0, 1)


def _square(line: Tensor) -> Tensor:
    """(n, d / 2) -> (n · n, d): half of each place tells the row, half the column."""
    n = len(line)
    return torch.cat((line[:, None].expand(-1, n, -1), line[None].expand(n, -1, -1)), dim=2).reshape(n * n, -1)


class ColourTransformer(Decoder):
    """Encoder and decoder; all of the picture's levels are one sequence, channels inside pixels."""

    start = CHANNELS * LEVELS  # what stands before the first level

    def __init__(self, config: Config) -> None:
        super().__init__()
        if config.side % config.small:
            raise ValueError(f"{config.side} pixels cannot be raised from {config.small}")
        self.config = config
        self.layout = config.layout()
        self.embedding = Embedding(config)
        encoder = nn.ModuleList(EncoderLayer(config.d_model, config.d_ff, config.n_heads) for _ in range(config.n_encoder))
        decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.n_decoder))
        self.layers = nn.ModuleDict({"encoder": encoder, "decoder": decoder})
        self.source_norm = nn.LayerNorm(config.d_model)
        self.norm = nn.LayerNorm(config.d_model)
        self.readout = nn.Linear(config.d_model, 2 * LEVELS - 1)  # how far a level lies above what remains on average: −255 … 255
        self._start()

    @property
    def encoder(self) -> list[EncoderLayer]:
        """The layers that read the small picture."""
        return [layer for layer in self.layers["encoder"].children() if isinstance(layer, EncoderLayer)]

    @property
    def decoder(self) -> list[DecoderLayer]:
        """The layers that make the large one."""
        return [layer for layer in self.layers["decoder"].children() if isinstance(layer, DecoderLayer)]

    def _start(self) -> None:
        """Xavier's sizes, with quiet branches; and queries to the small picture begin as its keys are made, so that like finds like."""
        quiet_start((), [*self.encoder, *self.decoder])
        with torch.no_grad():
            for decoder in self.decoder:
                query, key, _ = decoder.cross.project_in.weight.chunk(3)
                key.copy_(query)

    def encode(self, small: Tensor) -> Tensor:
        """small: (batch, row, column, channel) levels -> what the decoder looks at, (batch, small position, d_model)."""
        x = self.embedding.source(small)
        for layer in self.encoder:
            x = layer(x)
        return self.source_norm(x)  # type: ignore[no-any-return]

    def hidden(
        self, values: Tensor, means: Tensor, source: Tensor, layout: Layout, gains: Tensor | None = None, trace: Trace = OFF
    ) -> Tensor:
        """values: (batch, position) levels of the large picture, means as the embedding's `means` gives them.

        (batch, position, d_model), normalised, ready for the readout.
        """
        return self.through(self.embedding(values, source, means), None, gains, trace, source=source, blocks=layout.blocks)

    def forward(
        self,
        picture: Tensor,
        small: Tensor,
        layout: Layout | None = None,
        gains: Tensor | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Logits (batch, row, column, channel, level) of a large picture (batch, row, column, channel), from earlier levels and `small`.

        small: (batch, row, column, channel) levels. layout: another memory than the trained one. gains: (decoder layer, batch, head).
        Taps `<layer>/self/queries`, `<layer>/self/keys`, `<layer>/cross/weights` of the decoder.
        """
        values = picture.flatten(1)
        means = self.embedding.means(values, small.flatten(1))
        x = self.hidden(values, means, self.encode(small), layout or self.layout, gains, trace)
        return levels_from(self.readout(x), means).view(*picture.shape, LEVELS)

    def predictions(self, picture: Tensor, small: Tensor) -> tuple[Tensor, Tensor]:
        """For training: logits (batch, row, column, channel, level) and the levels that came (batch, row, column, channel)."""
        return self(picture, small), picture


def levels_from(distances: Tensor, means: Tensor) -> Tensor:
    """Logits of distances −255 … 255 from the rounded mean (…, 511) -> logits of the levels 0 … 255, (…, 256); means: (…)."""
    first = LEVELS - 1 - means.round().long()  # where level 0 stands
    return distances.gather(-1, first[..., None] + torch.arange(LEVELS, device=means.device))
