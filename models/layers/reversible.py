"""Reversible layers: the input of a layer is computed again from its output, so none of it is kept
(Kitaev et al., 2020, §3).

y_1 = x_1 + F(x_2), y_2 = x_2 + G(y_1); backwards x_2 = y_2 − G(y_1), x_1 = y_1 − F(x_2) (eq. 8 and
9, after Gomez et al., 2017).

Read `step_forward`, `run_ordinary` and `step_back` first. The labs run `run_reversible`, whose
gradients are computed on the way back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint


class Reversible(Protocol):
    """A layer of two branches. Given the same `memo`, F gives the same for the same x: everything
    random or near a border is frozen in it."""

    def memo(self, x: Tensor) -> Tensor | None:
        """Return what F must remember of its input, as small as possible: the buckets of a hash."""

    def f(self, x: Tensor, memo: Tensor | None) -> Tensor:
        """Apply the first branch, attention, to x, (batch, position, d_model); return the same
        shape."""

    def g(self, x: Tensor) -> Tensor:
        """Apply the second branch, the feed-forward network."""

    def parameters(self) -> Any:
        """Return the parameters, like `nn.Module.parameters`."""


Pair = tuple[Tensor, Tensor]


def step_forward(layer: Reversible, first: Tensor, second: Tensor, memo: Tensor | None) -> Pair:
    """Compute one layer forward: x_1, x_2 -> y_1, y_2."""
    first = first + layer.f(second, memo)
    return first, second + layer.g(first)


def run_ordinary(layers: Sequence[Reversible], first: Tensor, second: Tensor) -> Pair:
    """Run x_1, x_2, (batch, position, d_model) each, through all layers, and keep everything inside
    until the way back."""
    for layer in layers:
        first, second = step_forward(layer, first, second, layer.memo(second))
    return first, second


def step_back(layer: Reversible, first: Tensor, second: Tensor, memo: Tensor | None) -> Pair:
    """Compute one layer backward: y_1, y_2 -> x_1, x_2, up to rounding."""
    second = second - layer.g(first)
    return first - layer.f(second, memo), second


class _Stack(torch.autograd.Function):
    """All layers, with only the last outputs and the memos kept."""

    @staticmethod
    def forward(
        ctx: Any, layers: Sequence[Reversible], first: Tensor, second: Tensor, *parameters: Tensor
    ) -> Pair:
        memos = []
        for layer in layers:
            memos.append(layer.memo(second))
            first, second = step_forward(layer, first, second, memos[-1])
        ctx.save_for_backward(first, second)
        ctx.layers, ctx.memos = layers, memos
        return first, second

    @staticmethod
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:
        first, second = ctx.saved_tensors
        d_first, d_second = outside
        found: list[tuple[Tensor | None, ...]] = []
        for layer, memo in zip(reversed(ctx.layers), reversed(ctx.memos), strict=True):
            parameters = [p for p in layer.parameters() if p.requires_grad]
            moved, from_g = _rerun_branch(layer.g, first, parameters, d_second)
            second = second - moved
            d_first = d_first + from_g[0]
            attend = partial(layer.f, memo=memo)
            moved, from_f = _rerun_branch(attend, second, parameters, d_first)
            first = first - moved
            d_second = d_second + from_f[0]
            found.append(
                tuple(_add_gradients(a, b) for a, b in zip(from_f[1], from_g[1], strict=True))
            )
        return (
            None,
            d_first,
            d_second,
            *(gradient for layer in reversed(found) for gradient in layer),
        )


def _rerun_branch(
    branch: Callable[[Tensor], Tensor], x: Tensor, parameters: list[Tensor], outside: Tensor
) -> tuple[Tensor, tuple[Tensor, tuple[Tensor | None, ...]]]:
    """Return a branch's output, computed again, and its gradients: for its input, and for the
    parameters, None for those of the other branch."""
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        output = branch(x)
    gradient, *rest = torch.autograd.grad(output, (x, *parameters), outside, allow_unused=True)
    return output.detach(), (gradient, tuple(rest))


def _add_gradients(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    return a if b is None else b if a is None else a + b


def run_reversible(layers: Sequence[Reversible], first: Tensor, second: Tensor) -> Pair:
    """Compute the equations of `run_ordinary`, with the same numbers; memory does not grow with the
    number of layers, except for the memos."""
    parameters = [p for layer in layers for p in layer.parameters() if p.requires_grad]
    result: Pair = _Stack.apply(layers, first, second, *parameters)  # type: ignore[no-untyped-call]
    return result


def run_checkpointed(layers: Sequence[Reversible], first: Tensor, second: Tensor) -> Pair:
    """Compute the same again with each layer's inputs kept; the values inside are computed a second
    time on the way back (Chen et al., 2016)."""
    for layer in layers:
        first, second = checkpoint(
            step_forward, layer, first, second, layer.memo(second), use_reentrant=False
        )
    return first, second


class ChunkedFeedForward(nn.Module):
    """The feed-forward network FFN(x) = W_2 · relu(W_1 x + b_1) + b_2 for some positions at a time
    (§3, eq. 10): the wide inner values never stand in memory all at once."""

    def __init__(self, d_model: int, d_ff: int, chunks: int) -> None:
        super().__init__()
        if chunks < 1:
            raise ValueError(f"{chunks} chunks of a feed-forward layer; expected 1 or more")
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)
        self.chunks = chunks

    def run_whole(self, x: Tensor) -> Tensor:
        """Compute all positions of x, (batch, position, d_model), at once."""
        return self.outer(self.inner(x).relu_())  # type: ignore[no-any-return]

    def forward(self, x: Tensor) -> Tensor:
        """Compute x, (batch, position, d_model), and return the same shape; with gradients, inner
        values are computed again on the way back."""
        if self.chunks == 1:
            return self.run_whole(x)
        parts = x.chunk(self.chunks, 1)
        if torch.is_grad_enabled() and (x.requires_grad or self.inner.weight.requires_grad):
            return torch.cat(
                [checkpoint(self.run_whole, part, use_reentrant=False) for part in parts], 1
            )
        output = torch.empty_like(x)
        for part, place in zip(parts, output.chunk(self.chunks, 1), strict=True):
            place.copy_(self.run_whole(part))
        return output
