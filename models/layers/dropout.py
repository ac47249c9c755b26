"""Dropout that is not the slowest part of training on a CPU."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Dropout(nn.Module):
    """Dropout: during training, each element is 0 with probability p, and the others are divided by
    1 − p (Srivastava et al., 2014).

    On a CPU one random 64-bit word decides eight elements, so p is rounded to a multiple of 1/256
    there: drawing one float per element costs more than the layers around it.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise ValueError(f"dropout {p}: expected a probability below 1")
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Drop elements of x, of any shape; return the same shape."""
        if not self.training or self.p == 0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.p)
        threshold = round(self.p * 256)
        if threshold == 0:
            return x
        words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(
            torch.iinfo(torch.int64).min, None
        )
        keep = words.view(torch.uint8)[: x.numel()].view(x.shape) >= threshold
        return x * (keep * torch.tensor(256 / (256 - threshold), dtype=x.dtype))
