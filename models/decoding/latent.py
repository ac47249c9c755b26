"""Noise from which a generator decodes a picture: from a seed, cut off at a bound, and between two
seeds."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

UNCUT = 4.0  # the bound on |z| that stands for none


def draw_noise(seed: int, bound: float, size: int) -> Tensor:
    """Return noise from a seed, (size,): a normal distribution cut off at ± bound, drawn by the
    inverse of its cumulative function, so that the bound moves every entry smoothly."""
    uniform = torch.from_numpy(np.random.default_rng(seed).random(size))
    edge = float(torch.special.ndtr(torch.tensor(-bound, dtype=torch.float64)))
    edge = 0.0 if bound >= UNCUT else edge
    noise: Tensor = torch.special.ndtri(edge + uniform * (1 - 2 * edge))
    return noise.float()


def walk_between(first: Tensor, second: Tensor, share: float) -> Tensor:
    """Return the noise at a share of the way on the arc between two (Shoemake, 1985), on which
    lengths stay those of noise; on a line the middle would be too short."""
    angle = torch.acos(torch.cosine_similarity(first, second, 0).clamp(-1, 1))
    if angle < 1e-4:
        return first.clone()
    a, b = torch.sin((1 - share) * angle), torch.sin(share * angle)
    return (a * first + b * second) / torch.sin(angle)
