"""Positional encodings for a network that has no other notion of order."""

from __future__ import annotations

import torch
from torch import Tensor


def sinusoids(length: int, d_model: int, longest: float = 10_000.0) -> Tensor:
    """Return PE(p, 2k) = sin(p / 10000^(2k/d)), PE(p, 2k+1) = cos of the same (Vaswani et al.,
    2017, §3.5), (length, d_model) in float32.

    longest: another number in place of 10,000, for sequences that are no sentences.

    Raise ValueError where d_model is odd.
    """
    if d_model % 2:
        raise ValueError(f"sinusoids come in pairs: d_model {d_model} is odd")
    position = torch.arange(length, dtype=torch.float64)[:, None]
    frequency = torch.exp(
        -torch.log(torch.tensor(longest, dtype=torch.float64))
        * torch.arange(0, d_model, 2)
        / d_model
    )
    angle = position * frequency  # (length, d_model / 2)
    return torch.stack((angle.sin(), angle.cos()), dim=2).reshape(length, d_model).to(torch.float32)
