"""Cross-entropy with label smoothing, without ever holding the logits of a whole batch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

CHUNK = 512  # rows whose logits stand in memory at a time


class _SmoothedLoss(torch.autograd.Function):
    """Loss and gradients in one sweep over chunks of rows."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, readout: Tensor, wanted: Tensor, smoothing: float, never: tuple[int, ...]) -> Tensor:
        kind = hidden.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
        with torch.autocast(kind, enabled=False):
            low, matrix = hidden.to(dtype), readout.to(dtype)
            others = readout.shape[0] - len(never)
            total = hidden.new_zeros((), dtype=torch.float32)
            d_hidden, d_readout = torch.empty_like(low), torch.zeros_like(readout, dtype=torch.float32)
            for begin in range(0, len(low), CHUNK):
                rows, gold = low[begin : begin + CHUNK], wanted[begin : begin + CHUNK, None]
                logits = (rows @ matrix.T).float()
                largest = logits.amax(1, keepdim=True)
                spread = logits.sum(1, keepdim=True) - logits[:, list(never)].sum(1, keepdim=True)
                chosen = logits.gather(1, gold)
                soft = logits.sub_(largest).exp_()
                size = soft.sum(1, keepdim=True)
                total += (size.log() + largest - (1 - smoothing) * chosen - smoothing / others * spread).sum()
                soft.div_(size).sub_(smoothing / others)
                soft[:, list(never)] += smoothing / others
                soft.scatter_add_(1, gold, torch.full_like(chosen, smoothing - 1))
                gradient = soft.to(dtype)
                d_hidden[begin : begin + CHUNK] = gradient @ matrix
                d_readout += gradient.T @ rows
        ctx.save_for_backward(d_hidden, d_readout)
        ctx.dtypes = hidden.dtype, readout.dtype
        return total

    @staticmethod
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        (scale,) = outside
        d_hidden, d_readout = ctx.saved_tensors
        return (d_hidden * scale).to(ctx.dtypes[0]), (d_readout * scale).to(ctx.dtypes[1]), None, None, None


def smoothed_loss(hidden: Tensor, readout: Tensor, wanted: Tensor, smoothing: float, never: tuple[int, ...] = ()) -> Tensor:
    """Σ_rows −(1 − ε) log p(wanted) − ε · mean over the vocabulary of log p, in nats (Szegedy et al., 2016; ε = `smoothing`).

    hidden: (row, d_model), only rows that count, never padding; readout: (vocabulary, d_model); wanted: (row,).
    never: tokens that nothing may ever be, such as padding: they get no share of ε.
    """
    return _SmoothedLoss.apply(hidden, readout, wanted, smoothing, never)  # type: ignore[no-any-return, no-untyped-call]
