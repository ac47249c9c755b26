"""The Image Transformer's decoder: a picture as a sequence of grey levels, each position attending locally (Parmar et al., 2018).

p(picture) = Π_i p(x_i | x_<i), with 256 levels as 256 symbols. Raster order with 1D blocks, or tile order with 2D blocks: the order
belongs to the pattern of attention, and the pixels are put into it before positions are added.
x ← x + Sublayer(LayerNorm(x)) around every sublayer, and a last LayerNorm before the readout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import decoder
from models.decoder import Decoder, quiet_start
from models.layers.local import Block, blocks_1d, blocks_2d, local_attention, order_2d
from models.layers.positional import sinusoids
from models.trace import OFF, Trace

LEVELS = 256  # grey levels; symbol 256 is what stands before the first pixel
WAVELENGTHS = 100.0  # of the sinusoids: pictures are some tens of pixels wide, not thousands of words


def bits(logits: Tensor, levels: Tensor) -> Tensor:
    """−log₂ p of each level: logits (…, level), levels (…)."""
    return F.cross_entropy(logits.float().flatten(0, -2), levels.flatten(), reduction="none").view(levels.shape) / math.log(2)


@dataclass(frozen=True)
class Layout:
    """In which order pixels are made, and what each block of them may look at."""

    rows: int
    columns: int
    order: tuple[tuple[int, int], ...]  # (row, column) of each position
    blocks: tuple[Block, ...]

    @cached_property
    def pixels(self) -> Tensor:
        """(position,) the raster index of each position."""
        return torch.tensor([row * self.columns + column for row, column in self.order])

    @cached_property
    def places(self) -> Tensor:
        """(row · column,) the position of each pixel in raster order: the inverse of `pixels`."""
        return torch.argsort(self.pixels)

    def made(self, picture: Tensor) -> Tensor:
        """(batch, row, column) -> (batch, position): the levels in the order of generation."""
        return picture.flatten(1).index_select(1, self.pixels.to(picture.device))


def raster(rows: int, columns: int, query: int, memory: int) -> Layout:
    """1D local attention: rows from the top, blocks of `query` pixels, each with the `memory` pixels before it."""
    order = tuple((i // columns, i % columns) for i in range(rows * columns))
    return Layout(rows, columns, order, blocks_1d(rows * columns, query, memory))


def tiles(rows: int, columns: int, tile: tuple[int, int], flange: tuple[int, int]) -> Layout:
    """2D local attention: tiles in raster order, each with what is made already of the flange above and beside it."""
    return Layout(rows, columns, tuple(order_2d(rows, columns, tile)), blocks_2d(rows, columns, tile, flange))


@dataclass(frozen=True)
class Config:
    """What the network is."""

    pattern: str = "local_1d"  # or local_2d
    rows: int = 28  # of a picture, pixels
    columns: int = 28  # of a picture, pixels
    query: tuple[int, int] = (2, 28)  # block of queries: rows, columns
    memory: tuple[int, int] = (4, 28)  # 1D: so many rows × columns of pixels before the block; 2D: flange above, and left and right
    classes: int = 10  # kinds of picture; one more label says that the kind is not known
    d_model: int = 128  # width of a position
    d_ff: int = 512  # width inside the feed-forward sublayer
    n_heads: int = 4  # attention heads of each layer
    n_layers: int = 6  # layers

    def layout(self, memory: tuple[int, int] | None = None) -> Layout:
        """The layout it is trained with, or the same order with another memory."""
        return layout_of(self.pattern, self.rows, self.columns, self.query, self.memory if memory is None else memory)


def layout_of(pattern: str, rows: int, columns: int, query: tuple[int, int], memory: tuple[int, int]) -> Layout:
    """The layout that a pattern's name stands for; ValueError for an unknown name."""
    if pattern == "local_1d":
        return raster(rows, columns, query[0] * query[1], memory[0] * memory[1])
    if pattern == "local_2d":
        return tiles(rows, columns, query, memory)
    raise ValueError(f"the patterns are local_1d and local_2d, not {pattern}")


class Layer(decoder.Layer):
    """Local self-attention."""

    def attend(self, query: Tensor, key: Tensor, value: Tensor, number: int, gain: Tensor | None, trace: Trace, **how: Any) -> Tensor:
        """As `local_attention`; where no `blocks` are told, keys end with the last query's own and are those of one block."""
        if not how:
            return super().attend(query, key, value, number, gain, trace)
        return local_attention(query, key, value, how["blocks"], gain, trace)


class Embedding(nn.Module):
    """Level of the pixel before, kind of picture, and place of the pixel to come: E[x_(i−1)] + C[kind] + P[row, column].

    Half of P's dimensions tell the row and half the column, both by sinusoids (§3.1). Neighbouring levels begin as neighbours: E starts
    as sinusoids of the level plus noise.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.level = nn.Embedding(LEVELS + 1, config.d_model)
        self.kind = nn.Embedding(config.classes + 1, config.d_model)
        row, column = (sinusoids(n, config.d_model // 2, WAVELENGTHS) for n in (config.rows, config.columns))
        place = torch.cat((row[:, None].expand(-1, config.columns, -1), column[None].expand(config.rows, -1, -1)), dim=2)
        self.place: Tensor
        self.register_buffer("place", place.reshape(config.rows * config.columns, config.d_model), persistent=False)
        nn.init.normal_(self.kind.weight, std=0.5)
        with torch.no_grad():
            self.level.weight.normal_(std=0.5)
            self.level.weight[:LEVELS] += 0.7 * sinusoids(LEVELS, config.d_model, WAVELENGTHS)

    def forward(self, before: Tensor, kind: Tensor, pixels: Tensor) -> Tensor:
        """before: (batch, position) levels; kind: (batch,); pixels: (position,) raster indices. (batch, position, d_model)."""
        return self.level(before) + self.kind(kind)[:, None] + self.place[pixels]  # type: ignore[no-any-return]


class ImageTransformer(Decoder):
    """A decoder over pixels, every layer with the same local pattern."""

    start = LEVELS  # what stands before the first pixel

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.layout = config.layout()
        self.embedding = Embedding(config)
        self.stack((Layer(config.d_model, config.d_ff, config.n_heads) for _ in range(config.n_layers)), config.d_model, LEVELS)
        quiet_start((), *([layer] for layer in self.layers))

    @property
    def unknown(self) -> int:
        """The label of a picture whose kind nobody tells."""
        return self.config.classes

    def forward(
        self,
        picture: Tensor,
        kind: Tensor,
        layout: Layout | None = None,
        gains: Tensor | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Logits (batch, row, column, level) of a picture (batch, row, column), each pixel's from the pixels made before it.

        kind: (batch,), `unknown` for none. layout: another memory than the trained one. gains: (layer, batch, head).
        Taps `<layer>/self/queries` and `<layer>/self/keys`, positions in the order of generation.
        """
        layout = layout or self.layout
        x = self.hidden(layout.made(picture), kind, layout, gains, trace)
        logits = self.readout(x).index_select(1, layout.places.to(picture.device))
        return logits.view(*picture.shape, LEVELS)  # type: ignore[no-any-return]

    def predictions(self, picture: Tensor, kind: Tensor) -> tuple[Tensor, Tensor]:
        """For training: logits (batch, position, level) and the levels that came (batch, position), both in the order of generation."""
        made = self.layout.made(picture)
        return self.readout(self.hidden(made, kind, self.layout)), made

    def hidden(self, made: Tensor, kind: Tensor, layout: Layout, gains: Tensor | None = None, trace: Trace = OFF) -> Tensor:
        """made: (batch, position) levels in the order of generation -> (batch, position, d_model), normalised, ready for the readout."""
        before = torch.cat((made.new_full((len(made), 1), LEVELS), made[:, :-1]), dim=1)
        return self.through(self.embedding(before, kind, layout.pixels.to(made.device)), None, gains, trace, blocks=layout.blocks)
