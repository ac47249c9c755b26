"""A small network that removes noise, with and without a non-local block.

Wang et al. (2018): z_i = x_i + W_o Σ_j a_ij g(x_j), W_o zero at the start. Here the weights a_ij
are fixed: those of non-local means on the noisy picture. g gives a neighbour's grey level, so the
sum is the picture by non-local means, and W_o is a 3 × 3 convolution of it into the channels.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.explaining.trace import OFF, Trace
from models.self_similarity.nonlocal_means import nonlocal_means
from models.self_similarity.records import SIGMA, SOFTNESS


@dataclass(frozen=True)
class Config:
    """The size of the network."""

    channels: int = 16
    layers: int = 3  # 3 × 3 convolutions, the first and the last among them
    block: bool = True  # whether it has a non-local block
    sigma: float = SIGMA / 255  # of the noise that it learns to remove, 1 being white
    softness: float = SOFTNESS  # h of the block's weights over σ


class Denoiser(nn.Module):
    """Convolutions that say what to add to a noisy picture, after the first of which stands the
    block."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        widths = [1, *[config.channels] * (config.layers - 1), 1]
        self.layers = nn.ModuleList(
            nn.Conv2d(before, after, 3, padding=1) for before, after in itertools.pairwise(widths)
        )
        if config.block:
            self.readout = nn.Conv2d(1, config.channels, 3, padding=1, bias=False)  # W_o
            nn.init.zeros_(self.readout.weight)

    def average(self, noisy: Tensor) -> Tensor:
        """Return Σ_j a_ij y_j, in which nothing is learned. noisy: (batch, row, column)."""
        return nonlocal_means(noisy, self.config.softness * self.config.sigma, self.config.sigma)

    def forward(
        self,
        noisy: Tensor,
        average: Tensor | None = None,
        gain: Tensor | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Return the picture without its noise, (batch, row, column).

        average: that of `average`, where it is known. gain: (batch,), what the block's output is
        multiplied by; 0 silences it. Taps `block`, its output.
        """
        x = self.layers[0](noisy[:, None])
        if self.config.block:
            added = self.readout((self.average(noisy) if average is None else average)[:, None])
            added = added if gain is None else added * gain[:, None, None, None]
            trace.tap("block", "batch channel row column", added)
            x = x + added
        for layer in self.layers[1:]:
            x = layer(torch.relu(x))
        clean: Tensor = noisy + x[:, 0]
        return clean
