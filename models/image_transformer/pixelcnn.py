"""Gated PixelCNN, the baseline without attention: masked convolutions in a vertical and a
horizontal stack (van den Oord et al., 2016b).

The vertical stack sees all rows above, the horizontal one the rest of the row to the left, so that
every pixel sees all earlier ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.image_transformer.model import LEVELS
from models.layers.positional import sinusoids


@dataclass(frozen=True)
class Config:
    """The sizes of a network."""

    rows: int = 28  # of a picture, pixels
    columns: int = 28  # of a picture, pixels
    classes: int = 10  # kinds of picture; one more label stands for an unknown kind
    features: int = 68  # channels of each stack
    readout: int = 192  # channels before the logits
    kernel: int = 3  # side of the convolutions' windows, before masking
    n_layers: int = 11  # gated layers


def gate(x: Tensor, kind: Tensor) -> Tensor:
    """Return tanh(x₁ + V₁ᵀ k) ⊙ σ(x₂ + V₂ᵀ k) (eqs. 2 and 4).

    x: (batch, 2 · features, row, column). kind: (batch, 2 · features).
    """
    first, second = (x + kind[:, :, None, None]).chunk(2, dim=1)
    return first.tanh() * second.sigmoid()


class Window(nn.Module):
    """A convolution with its weights as one matrix, (channels out, channels in · height · width),
    for an optimiser of matrices."""

    def __init__(self, inside: int, outside: int, height: int = 1, width: int = 1) -> None:
        super().__init__()
        self.shape = (outside, inside, height, width)
        self.weight = nn.Parameter(torch.empty(outside, inside * height * width))
        self.bias = nn.Parameter(torch.zeros(outside))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Return the convolution, (batch, channels out, row − height + 1, column − width + 1).

        x: (batch, channels in, row, column).
        """
        return F.conv2d(x, self.weight.view(self.shape), self.bias)


class Layer(nn.Module):
    """A gated layer of both stacks (van den Oord et al., 2016b, fig. 2).

    Windows are cut instead of masked: a masked k × k window leaves k // 2 + 1 rows for the vertical
    stack and k // 2 + 1 columns for the horizontal one. In the first layer, the window ends before
    the pixel itself.
    """

    def __init__(self, config: Config, first: bool, inside: int) -> None:
        super().__init__()
        wide, reach = 2 * config.features, config.kernel // 2
        self.reach = reach
        self.first = first
        self.vertical = Window(inside, wide, reach + 1, config.kernel)
        self.down = Window(wide, wide)  # from the vertical stack into the horizontal one
        self.horizontal = Window(inside, wide, 1, reach + 1)
        self.out = Window(config.features, config.features)
        self.kind = nn.Embedding(config.classes + 1, 2 * wide)
        nn.init.normal_(self.kind.weight, std=0.1)

    def forward(self, above: Tensor, left: Tensor, kind: Tensor) -> tuple[Tensor, Tensor]:
        """Return the two stacks one layer deeper.

        above, left: the two stacks, (batch, features, row, column).
        """
        reach = self.reach
        vertical = self.vertical(F.pad(above, (reach, reach, reach, 0)))
        side = F.pad(left[..., :-1], (reach + 1, 0)) if self.first else F.pad(left, (reach, 0))
        # The vertical stack at a row includes that row, whose right part is not yet generated, so
        # the row above is used.
        horizontal = self.horizontal(side) + self.down(F.pad(vertical[:, :, :-1], (0, 0, 1, 0)))
        told = self.kind(kind).chunk(2, dim=1)
        made = self.out(gate(horizontal, told[1]))
        return gate(vertical, told[0]), made if self.first else left + made


class PixelCNN(nn.Module):
    """A stack of gated layers between an embedding of the levels and their logits."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.level = nn.Embedding(LEVELS, config.features)
        row, column = (
            sinusoids(n, config.features // 2, 100.0).T for n in (config.rows, config.columns)
        )
        place = torch.cat(
            (
                row[:, :, None].expand(-1, -1, config.columns),
                column[:, None].expand(-1, config.rows, -1),
            ),
            dim=0,
        )
        self.place: Tensor
        self.register_buffer("place", place.contiguous(), persistent=False)
        inside = [2 * config.features] + [config.features] * (config.n_layers - 1)
        self.layers = nn.ModuleList(Layer(config, i == 0, n) for i, n in enumerate(inside))
        self.before_readout = Window(config.features, config.readout)
        self.readout = Window(config.readout, LEVELS)
        with torch.no_grad():
            self.level.weight.normal_(std=0.5).add_(0.7 * sinusoids(LEVELS, config.features, 100.0))

    @property
    def unknown(self) -> int:
        """The label of a picture of unknown kind."""
        return self.config.classes

    def forward(self, picture: Tensor, kind: Tensor) -> Tensor:
        """Return the logits of a picture, each pixel's from the pixels before it in raster order,
        (batch, row, column, level).

        picture: (batch, row, column). kind: (batch,), `unknown` for none.
        """
        x = self.level(picture).permute(0, 3, 1, 2)
        x = torch.cat((x, self.place.expand(len(x), -1, -1, -1)), dim=1)
        above, left = x, x
        for layer in self.layers:
            above, left = layer(above, left, kind)
        logits = self.readout(self.before_readout(left.relu()).relu())
        return logits.permute(0, 2, 3, 1)  # type: ignore[no-any-return]

    def predictions(self, picture: Tensor, kind: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (batch, row, column, level) and true levels (batch, row, column) for
        training."""
        return self(picture, kind), picture
