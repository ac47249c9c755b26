"""Super-resolution in colour: an encoder reads a small picture whole, a decoder makes the large one locally (Parmar et al., 2018, §5.3).

p(large | small) = Π_i p(x_i | x_<i, small). A pixel is three positions, red, green, blue, and each of them has 256 levels (§3.1).
Beside attending to the small picture, a position is told what the encoder says of the value below it: the paper leaves that to attention,
which takes longer to find it than these few steps of training last.

A small pixel is the mean of the large ones that it covers. So once some of them are made, what remains for the others is known: the small
value times their number, less the sum so far. The network is told the mean of what remains, how many values share it and by how much the
values just made, to the left and above missed theirs; and its readout says how far a level lies from that mean, not which of the 256 it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from models import decoder
from models.decoder import BRANCH
from models.image_transformer.model import LEVELS, WAVELENGTHS, Layer, Layout, raster
from models.layers.attention import MultiHeadAttention, attend
from models.layers.local import Block
from models.layers.positional import sinusoids
from models.sampling import draw
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
        self, x: Tensor, source: Tensor, blocks: Sequence[Block], gain: Tensor | None = None, trace: Trace = OFF
    ) -> Tensor:
        """x: (batch, position, d_model), the same comes back; source: (batch, small position, d_model); gain: (batch, head).

        Taps `self/queries`, `self/keys` and `cross/weights`.
        """
        x = x + self.attention.join(self.heads(x, 0, None, gain, trace.within("self"), blocks=blocks))
        x = x + self.cross(self.cross_norm(x), source, trace=trace.within("cross"))
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


class ColourTransformer(nn.Module):
    """Encoder and decoder; all of the picture's levels are one sequence, channels inside pixels."""

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
        attentions = [layer.attention for layer in self.encoder]
        attentions += [attention for layer in self.decoder for attention in (layer.attention, layer.cross)]
        for attention in attentions:
            for block in attention.project_in.weight.chunk(3):
                nn.init.xavier_uniform_(block)
            nn.init.zeros_(attention.project_in.bias)
        feedforwards = [layer.feedforward for layer in self.encoder] + [layer.feedforward for layer in self.decoder]
        for linear in (*(attention.project_out for attention in attentions), *(one.outer for one in feedforwards)):
            nn.init.xavier_uniform_(linear.weight, BRANCH)
            nn.init.zeros_(linear.bias)
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
        x = self.embedding(values, source, means)
        for i, layer in enumerate(self.decoder):
            x = layer(x, source, layout.blocks, None if gains is None else gains[i], trace.within(i))
        return self.norm(x)  # type: ignore[no-any-return]

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


class _Layer(NamedTuple):
    """A decoder layer's parameters as one step multiplies by them: matrices (in, out), views of the model's own."""

    norm: tuple[Tensor, Tensor]
    project_in: tuple[Tensor, Tensor]  # queries, keys and values at once
    project_out: tuple[Tensor, Tensor]
    cross_norm: tuple[Tensor, Tensor]
    cross_query: tuple[Tensor, Tensor]  # queries alone: keys and values of the small picture are made once
    cross_out: tuple[Tensor, Tensor]
    feedforward_norm: tuple[Tensor, Tensor]
    inner: tuple[Tensor, Tensor]
    outer: tuple[Tensor, Tensor]

    @classmethod
    def of(cls, layer: DecoderLayer) -> _Layer:
        """Views of a layer's parameters."""
        d = layer.cross.d_model
        return cls(
            (layer.norm.weight, layer.norm.bias),
            _matrix(layer.attention.project_in),
            _matrix(layer.attention.project_out),
            (layer.cross_norm.weight, layer.cross_norm.bias),
            (layer.cross.project_in.weight[:d].t(), layer.cross.project_in.bias[:d]),
            _matrix(layer.cross.project_out),
            (layer.feedforward_norm.weight, layer.feedforward_norm.bias),
            _matrix(layer.feedforward.inner),
            _matrix(layer.feedforward.outer),
        )


def _matrix(linear: nn.Linear) -> tuple[Tensor, Tensor]:
    return linear.weight.t(), linear.bias


class Cache:
    """Keys and values of a block and its memory, for a batch of rows at the same position; a new block gives away what it cannot see.

    So neither the room it takes nor what a level costs grows with the picture. A step has one query per row: most of its time goes into
    calling the library, and `step` spells the decoder's equations out in few calls, on views made beforehand.
    """

    def __init__(self, model: ColourTransformer, small: Tensor, layout: Layout, gains: Tensor | None) -> None:
        """small: (row, row, column, channel) levels; layout: raster order; gains: (decoder layer, row, head)."""
        config, rows, source = model.config, len(small), model.encode(small)
        self._heads, self._d_head, self._width = rows * config.n_heads, config.d_model // config.n_heads, (config.d_model,)
        self._scale = self._d_head**-0.5
        self._embedding = model.embedding.level.weight
        self._told = model.embedding.told(model.embedding.large)
        self._source = source
        self._below: list[int] = model.embedding.below.tolist()
        self._turn: Tensor = model.embedding.turn
        self._known = model.embedding
        self._small = small.flatten(1)
        self._so_far = torch.zeros_like(self._small)  # of the large values that each small one covers
        self._misses = source.new_zeros(rows, len(layout.order))
        self._norm = (model.norm.weight, model.norm.bias)
        self._readout = _matrix(model.readout)
        self._layers = [_Layer.of(layer) for layer in model.decoder]
        self._cross = []
        for layer in model.decoder:
            key, value = layer.cross.key_value(source)
            self._cross.append((key.flatten(0, 1).transpose(1, 2).contiguous(), value.flatten(0, 1).contiguous()))
        self._blocks = layout.blocks
        room = max(len(block.memory) + block.stop - block.start for block in layout.blocks)
        # (layer, key or value, slot, row, d_model)
        self._own = source.new_zeros(len(self._layers), 2, room, rows, config.d_model)
        by_head = self._own.view(len(self._layers), 2, room, self._heads, self._d_head)
        self._keys = by_head[:, 0].permute(0, 2, 3, 1)  # (layer, row · head, d_head, slot)
        self._values = by_head[:, 1].transpose(1, 2)  # (layer, row · head, slot, d_head)
        self._slots = [
            slots.unbind(1) for slots in self._own.unbind(0)
        ]  # of each layer, where a position's key and value go, (2, row, d_model)
        self._nothing, self._zero = source.new_empty(1), source.new_zeros(rows)
        self._means = self._zero  # of the position that `step` came to last
        self._last = source.new_full((rows,), CHANNELS * LEVELS, dtype=torch.long)
        self._gains: Sequence[Tensor | None] = [None] * len(self._layers)
        if gains is not None:
            self._gains = gains.reshape(-1, self._heads, 1, 1).unbind(0)
        self.position = 0
        self._block = 0
        self._filled = 0  # slots that hold something

    def _enter(self) -> None:
        """At the first position of a block: keep the memory that it may see, in the first slots."""
        block = self._blocks[self._block]
        keep = len(block.memory)
        if keep < self._filled:
            self._own[:, :, :keep] = self._own[:, :, self._filled - keep : self._filled].clone()
        self._filled = keep
        self._block += 1

    @torch.no_grad()
    def step(self) -> Tensor:
        """Logits (row, level) of the next value; tell it with `tell` before the next step."""
        if self._block < len(self._blocks) and self.position == self._blocks[self._block].start:
            self._enter()
        slot, width = self._filled, self._width
        self._filled += 1
        x = self._embedding.index_select(0, self._last).add_(self._told[self.position])  # (row, d_model)
        below = self._below[self.position]
        x.add_(self._source.select(1, below))
        known, turn = self._known, self._turn[self.position]
        means = known.mean(self._small[:, below], self._so_far[:, below], turn)
        earlier = [self.position - by for by in known.earlier]
        missed = torch.stack([self._misses[:, at] if at >= 0 else self._zero for at in earlier], dim=1)
        x.add_(known.remaining(means.round().long()) + known.sharing(turn) + known.missed(missed))
        self._means = means
        keys, values = self._keys.narrow(3, 0, slot + 1).unbind(0), self._values.narrow(2, 0, slot + 1).unbind(0)
        for i, layer in enumerate(self._layers):
            projected = torch.addmm(layer.project_in[1], torch.layer_norm(x, width, *layer.norm), layer.project_in[0])
            by_use = projected.view(-1, 3, *width)
            query, key_value = by_use[:, 0], by_use[:, 1:]
            self._slots[i][slot].copy_(key_value.transpose(0, 1))
            seen = self._attend(query, keys[i], values[i], self._gains[i])
            x.add_(layer.project_out[1]).addmm_(seen, layer.project_out[0])
            query = torch.addmm(layer.cross_query[1], torch.layer_norm(x, width, *layer.cross_norm), layer.cross_query[0])
            x.add_(layer.cross_out[1]).addmm_(self._attend(query, *self._cross[i], None), layer.cross_out[0])
            inner = torch.addmm(layer.inner[1], torch.layer_norm(x, width, *layer.feedforward_norm), layer.inner[0]).relu_()
            x.add_(layer.outer[1]).addmm_(inner, layer.outer[0])
        return levels_from(torch.addmm(self._readout[1], torch.layer_norm(x, width, *self._norm), self._readout[0]), means)

    def tell(self, levels: Tensor) -> None:
        """What came at this position: (row,) levels."""
        self._last = levels + LEVELS * (self.position % CHANNELS)
        self._misses[:, self.position] = (levels - self._means) / NEAR
        self._so_far[:, self._below[self.position]] += levels
        self.position += 1

    def _attend(self, query: Tensor, keys: Tensor, values: Tensor, gain: Tensor | None) -> Tensor:
        """softmax(q Kᵀ / √d_head) V for one query per row and head: query (row, d_model) or (row, 1, d_model) -> (row, d_model)."""
        query = query.reshape(self._heads, 1, self._d_head)
        scores = torch.baddbmm(self._nothing, query, keys, beta=0, alpha=self._scale)
        seen = torch.bmm(torch.softmax(scores, -1), values)
        return (seen if gain is None else seen * gain).view(-1, *self._width)


@torch.no_grad()
def enlarge(
    model: ColourTransformer,
    small: Tensor,
    uniforms: NDArray[np.float64],
    temperature: Sequence[float],
    top_k: Sequence[int],
    *,
    layout: Layout | None = None,
    gains: Tensor | None = None,
    known: Tensor | None = None,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Raise small pictures, one level after the other: yields the levels (row,) of each position and their −log₂ p (row,).

    small: (row, 8, 8, 3) levels, long. uniforms: (row, position) of [0, 1), what each row draws by, so that company changes nothing beyond
    rounding. temperature and top_k: one per row. gains: (decoder layer, row, head). known: (row, position), a level that is given, or −1.
    −log₂ p is the model's own: temperature 1, all levels. Positions are rows, columns, channels in raster order.
    """
    layout = layout or model.layout
    device = small.device
    cache = Cache(model, small, layout, gains)
    draws = torch.from_numpy(uniforms).to(device).unbind(1)
    heat = torch.tensor(temperature, dtype=torch.float64, device=device)
    likeliest = torch.tensor(top_k, device=device) if min(top_k) < LEVELS else None
    for position in range(len(layout.order)):
        logits = cache.step()
        levels = draw(logits, draws[position], heat, likeliest)
        if known is not None:
            levels = torch.where(known[:, position] >= 0, known[:, position], levels)
        cache.tell(levels)
        yield levels, F.cross_entropy(logits, levels, reduction="none") / math.log(2)
