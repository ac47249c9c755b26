"""Generator and discriminator of a self-attention GAN (Zhang et al., 2019).

Pictures are grey, 32 × 32, from −1 (black) to 1. The generator doubles 4 × 4 cells three times, the
discriminator halves the picture three times; at 8 × 8 cells both pass a block

    y = γ · o(x) + x,    γ = 0 at first,

in which every cell looks at every other. All weights are spectrally normalised. The discriminator
ends in a sum over its 4 × 4 cells (Miyato and Koyama, 2018), so its logit is a sum of verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.explaining.trace import OFF, Trace
from models.layers.spectral import SpectralNorm

SIDE = 32  # pixels of a picture's side
SLOPE = 0.1  # of the discriminator's leaky ReLU


@dataclass(frozen=True)
class Config:
    """The sizes of both networks."""

    classes: int = 10
    noise: int = 64  # entries of z
    generator: tuple[int, ...] = (96, 64, 32, 16)  # channels at 4, 8, 16 and 32 pixels
    discriminator: tuple[int, ...] = (24, 64, 128)  # channels at 16, 8 and 4 pixels
    generator_block: str = "attention"  # or "residual", "pointwise", "none"
    discriminator_block: str = "attention"


def conv(inputs: int, outputs: int, kernel: int, stride: int = 1) -> SpectralNorm:
    """Return a normalised convolution that keeps the size, or divides it by the stride."""
    return SpectralNorm(nn.Conv2d(inputs, outputs, kernel, stride, (kernel - 1) // 2))


class CellAttention(nn.Module):
    """Self-attention over the cells of a map, x ∈ R^{C × N} (eqs. 1–3).

    f = W_f x, g = W_g x (C/8 rows), h = W_h x (C/2 rows), all by 1 × 1 convolutions;
    β_ji = softmax over i of f(x_i)ᵀ g(x_j), without a division by √d;
    o_j = W_v Σ_i β_ji h(x_i). Taps `weights`, (batch, query, key).
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.key = conv(channels, channels // 8, 1)
        self.query = conv(channels, channels // 8, 1)
        self.value = conv(channels, channels // 2, 1)
        self.output = conv(channels // 2, channels, 1)

    def forward(self, x: Tensor, trace: Trace = OFF) -> Tensor:
        """Return o of x, (batch, C, row, column)."""
        key, query, value = (part(x).flatten(2) for part in (self.key, self.query, self.value))
        weights = (query.transpose(1, 2) @ key).softmax(-1)
        trace.tap("weights", "batch query key", weights)
        mixed = (value @ weights.transpose(1, 2)).unflatten(2, x.shape[2:])
        return self.output(mixed)  # type: ignore[no-any-return]


class LocalBlock(nn.Module):
    """A control of about as many parameters: 1 × 1, then 3 × 3 or nothing, then 1 × 1, with ReLU
    between. It sees the neighbouring cells at most.
    """

    def __init__(self, channels: int, reach: int) -> None:
        super().__init__()
        inner = channels * 9 // 32 if reach > 1 else channels * 5 // 8
        self.first = conv(channels, inner, 1)
        self.middle = conv(inner, inner, reach) if reach > 1 else nn.Identity()
        self.output = conv(inner, channels, 1)

    def forward(self, x: Tensor, _trace: Trace = OFF) -> Tensor:
        """Return o of x, (batch, C, row, column)."""
        hidden = F.relu(self.middle(F.relu(self.first(x))))
        return self.output(hidden)  # type: ignore[no-any-return]


class ScaledBlock(nn.Module):
    """y = γ · o(x) + x, with a learned scalar γ that begins at 0."""

    def __init__(self, kind: str, channels: int) -> None:
        super().__init__()
        self.inner: nn.Module | None = None
        if kind == "attention":
            self.inner = CellAttention(channels)
        elif kind in ("residual", "pointwise"):
            self.inner = LocalBlock(channels, 3 if kind == "residual" else 1)
        self.gamma = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor, gamma: Tensor | None = None, trace: Trace = OFF) -> Tensor:
        """Return y. gamma: (batch,), in place of the learned γ."""
        if self.inner is None:
            return x
        scale = self.gamma if gamma is None else gamma[:, None, None, None]
        return cast(Tensor, x + scale * self.inner(x, trace))


class ConditionalNorm(nn.Module):
    """Batch normalisation whose gain and bias depend on the class (Dumoulin et al., 2017).

    mean, variance: those of training, by which single pictures are normalised. They are shipped
    with the weights, so they are parameters, which no gradient moves.
    """

    def __init__(self, channels: int, classes: int) -> None:
        super().__init__()
        self.momentum = 0.1  # share of a batch in mean and variance
        self.mean = nn.Parameter(torch.zeros(channels), requires_grad=False)
        self.variance = nn.Parameter(torch.ones(channels), requires_grad=False)
        self.gain = nn.Embedding(classes, channels)
        self.bias = nn.Embedding(classes, channels)
        nn.init.ones_(self.gain.weight)
        nn.init.zeros_(self.bias.weight)

    def forward(self, x: Tensor, kind: Tensor) -> Tensor:
        """Return the normalised map. kind: the class of each picture, (batch,)."""
        gain, bias = self.gain(kind)[..., None, None], self.bias(kind)[..., None, None]
        learns, momentum = self.training, self.momentum
        x = F.batch_norm(x, self.mean, self.variance, training=learns, momentum=momentum)
        return gain * x + bias  # type: ignore[no-any-return]


class Generator(nn.Module):
    """A picture from noise and a class."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        widths = config.generator
        self.first = SpectralNorm(nn.Linear(config.noise, widths[0] * 16))
        self.up = nn.ModuleList(
            SpectralNorm(nn.ConvTranspose2d(a, b, 4, 2, 1)) for a, b in pairwise(widths)
        )
        self.norms = nn.ModuleList(ConditionalNorm(width, config.classes) for width in widths)
        self.block = ScaledBlock(config.generator_block, widths[1])
        self.last = conv(widths[-1], 1, 3)

    def forward(
        self, noise: Tensor, kind: Tensor, gamma: Tensor | None = None, trace: Trace = OFF
    ) -> Tensor:
        """Return pictures, (batch, row, column), in [−1, 1].

        noise: (batch, noise). kind: classes, (batch,). gamma: (batch,), in place of the learned γ.
        """
        x = self.first(noise).view(len(noise), -1, 4, 4)
        x = F.relu(self.norms[0](x, kind))
        for i, (up, norm) in enumerate(zip(self.up, self.norms[1:], strict=True)):
            x = F.relu(norm(up(x), kind))
            if i == 0:
                x = self.block(x, gamma, trace.within("generator"))
        return torch.tanh(self.last(x)).squeeze(1)


class Discriminator(nn.Module):
    """A verdict on a picture of a class: above 0 for real, below 0 for generated."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        widths = config.discriminator
        self.down = nn.ModuleList(
            conv(a, b, 4, 2) for a, b in zip((1, *widths), widths, strict=False)
        )
        self.block = ScaledBlock(config.discriminator_block, widths[1])
        self.readout = SpectralNorm(nn.Linear(widths[-1], 1, bias=False))
        self.classes = SpectralNorm(nn.Embedding(config.classes, widths[-1]))
        self.bias = nn.Parameter(torch.zeros(()))

    def verdicts(
        self, picture: Tensor, kind: Tensor, gamma: Tensor | None = None, trace: Trace = OFF
    ) -> Tensor:
        """Return what each cell adds to the logit, (l + e_c)ᵀ φ_xy, (batch, 4, 4)."""
        x = picture.unsqueeze(1)
        for i, down in enumerate(self.down):
            x = F.leaky_relu(down(x), SLOPE)
            if i == 1:
                x = self.block(x, gamma, trace.within("discriminator"))
        class_part = (x * self.classes(kind)[..., None, None]).sum(1)
        return self.readout(x.movedim(1, -1)).squeeze(-1) + class_part  # type: ignore[no-any-return]

    def forward(
        self, picture: Tensor, kind: Tensor, gamma: Tensor | None = None, trace: Trace = OFF
    ) -> Tensor:
        """Return logits, (batch,): the sum of the verdicts and one bias."""
        return self.verdicts(picture, kind, gamma, trace).sum((1, 2)) + self.bias


class AdversarialPair(nn.Module):
    """A generator and the discriminator that taught it."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.generator = Generator(config)
        self.discriminator = Discriminator(config)
