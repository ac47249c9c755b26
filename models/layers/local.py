"""Local attention: each block of queries looks at its own past and at a block of memory, 1D or 2D
(Parmar et al., 2018, §3.2).

No mask over all positions is ever made: a block's queries meet only the keys of their block and its
memory.

Read `attend_by_mask` first, with a mask over all positions. The labs run `local_attention`, with
gradients of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from models.explaining.trace import OFF, Trace
from models.layers.attention import attention_weights


def attend_by_mask(query: Tensor, key: Tensor, value: Tensor, blocks: Sequence[Block]) -> Tensor:
    """Compute every pair, and drop those that a block may not see. Shapes as in
    `local_attention`."""
    seen = torch.zeros(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device)
    for block in blocks:
        seen[block.start : block.stop, list(block.memory)] = True
        for position in range(block.start, block.stop):
            seen[position, block.start : position + 1] = True
    return attention_weights(query, key, seen) @ value


@dataclass(frozen=True)
class Block:
    """Queries start … stop − 1 of the generation order, and the earlier positions that all of them
    may see."""

    start: int
    stop: int
    memory: tuple[int, ...]  # ascending, all below start

    @cached_property
    def first(self) -> int | None:
        """The first position of the memory, if it ends right before the block without a gap, so
        that a slice holds it; else None."""
        begin = self.start - len(self.memory)
        return begin if not self.memory or self.memory[0] == begin else None

    @cached_property
    def index(self) -> Tensor:
        """The memory as an index, (memory,)."""
        return torch.tensor(self.memory, dtype=torch.long)

    @cached_property
    def mask(self) -> Tensor:
        """The mask (query, memory + query) bool: all of the memory, and the block itself up to the
        query."""
        size = self.stop - self.start
        return torch.ones(size, len(self.memory) + size, dtype=torch.bool).tril(len(self.memory))

    @cached_property
    def bias(self) -> Tensor:
        """The mask as an addend to the scores: 0 where a query may attend, else so low that its
        weight is 0 in any precision."""
        return torch.zeros(self.mask.shape).masked_fill_(~self.mask, -1e4)

    def gather(self, x: Tensor) -> Tensor:
        """Return the keys or values that the block sees, memory first: (…, position, d_head) -> (…,
        memory + query, d_head)."""
        if self.first is not None:
            return x[..., self.first : self.stop, :]
        return torch.cat(
            (x.index_select(-2, self.index.to(x.device)), x[..., self.start : self.stop, :]), dim=-2
        )

    def scatter(self, x: Tensor, what: Tensor) -> None:
        """Add `what`, (…, memory + query, d_head), to the rows of x that `gather` takes."""
        if self.first is not None:
            x[..., self.first : self.stop, :] += what
        else:
            x.index_add_(-2, self.index.to(x.device), what[..., : len(self.memory), :])
            x[..., self.start : self.stop, :] += what[..., len(self.memory) :, :]


def blocks_1d(length: int, query: int, memory: int) -> tuple[Block, ...]:
    """Return blocks of `query` positions in order, each with the `memory` positions before it; the
    last may be shorter (§3.2, 1D local attention).

    Raise ValueError where query is not positive or memory is negative.
    """
    if query < 1 or memory < 0:
        raise ValueError(f"blocks of {query} queries with {memory} positions of memory")
    starts = range(0, length, query)
    return tuple(
        Block(s, min(s + query, length), tuple(range(max(0, s - memory), s))) for s in starts
    )


def order_2d(rows: int, columns: int, tile: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the (row, column) of each position when tiles of (rows, columns) are made in raster
    order, and pixels in raster order inside each."""
    return [
        (row, column)
        for top in range(0, rows, tile[0])
        for left in range(0, columns, tile[1])
        for row in range(top, min(top + tile[0], rows))
        for column in range(left, min(left + tile[1], columns))
    ]


def blocks_2d(
    rows: int, columns: int, tile: tuple[int, int], flange: tuple[int, int]
) -> tuple[Block, ...]:
    """Return one block per tile of `order_2d`; its memory is the part that exists already of the
    flange[0] rows above and flange[1] columns beside it.

    The flange reaches to the right too, where only the tiles above are made yet (§3.2, 2D local
    attention). Raise ValueError where a tile has no pixel or a flange is negative.
    """
    if min(tile) < 1 or min(flange) < 0:
        raise ValueError(f"tiles of {tile} with a flange of {flange}")
    place = {pixel: position for position, pixel in enumerate(order_2d(rows, columns, tile))}
    blocks = []
    start = 0
    for top in range(0, rows, tile[0]):
        for left in range(0, columns, tile[1]):
            bottom, right = min(top + tile[0], rows), min(left + tile[1], columns)
            around = (
                place[row, column]
                for row in range(max(0, top - flange[0]), bottom)
                for column in range(max(0, left - flange[1]), min(columns, right + flange[1]))
            )
            blocks.append(
                Block(
                    start,
                    start + (bottom - top) * (right - left),
                    tuple(sorted(p for p in around if p < start)),
                )
            )
            start = blocks[-1].stop
    return tuple(blocks)


class _LocalAttention(torch.autograd.Function):
    """Attention of all blocks with its own gradients: those of autograd would make a tensor of full
    length for every slice on the way back."""

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, blocks: tuple[Block, ...]
    ) -> Tensor:
        flat = (-1, *query.shape[2:])
        scale = 1 / math.sqrt(query.shape[-1])
        q, k, v = (query * scale).reshape(flat), key.reshape(flat), value.reshape(flat)
        output, kept = torch.empty_like(q), []
        for block in blocks:
            bias = block.bias.to(q.device, q.dtype)
            weights = torch.baddbmm(
                bias, q[:, block.start : block.stop], block.gather(k).transpose(1, 2)
            ).softmax(-1)
            output[:, block.start : block.stop] = weights @ block.gather(v)
            kept.append(weights)
        ctx.save_for_backward(q, k, v, output, *kept)
        ctx.blocks, ctx.scale, ctx.shape = blocks, scale, query.shape
        return output.view(query.shape)

    @staticmethod
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        q, k, v, output, *kept = ctx.saved_tensors
        d_output = outside[0].reshape(q.shape)
        d_query, d_key, d_value = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
        # Σ_j w_j dw_j, the part of the softmax's gradient that a row shares
        shared = (d_output * output).sum(-1, keepdim=True)
        for block, weights in zip(ctx.blocks, kept, strict=True):
            here = slice(block.start, block.stop)
            d_scores = (
                (d_output[:, here] @ block.gather(v).transpose(1, 2))
                .sub_(shared[:, here])
                .mul_(weights)
            )
            block.scatter(d_value, weights.transpose(1, 2) @ d_output[:, here])
            block.scatter(d_key, d_scores.transpose(1, 2) @ q[:, here])
            d_query[:, here] = d_scores @ block.gather(k)
        return (
            (d_query * ctx.scale).view(ctx.shape),
            d_key.view(ctx.shape),
            d_value.view(ctx.shape),
            None,
        )


def local_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    blocks: Sequence[Block],
    gain: Tensor | None = None,
    trace: Trace = OFF,
) -> Tensor:
    """Return softmax(Q Kᵀ / √d_head) V within each block and its memory (Parmar et al., 2018, eq. 1
    and §3.2), (batch, head, position, d_head).

    query, key, value: (batch, head, position, d_head), positions in the order of generation; the
        blocks cover them all, in order.
    gain: the factor on a head's output, (batch, head).

    Taps `queries` and `keys` (batch, head, position, d_head), from which the weights of any block
    can be computed.
    """
    if blocks[-1].stop != query.shape[2]:
        raise ValueError(f"blocks of {blocks[-1].stop} positions for {query.shape[2]} queries")
    if query.requires_grad:
        output: Tensor = _LocalAttention.apply(query, key, value, tuple(blocks))  # type: ignore[no-untyped-call]
    else:
        output = torch.empty_like(value)
        for block in blocks:
            allowed = block.mask.to(query.device)
            output[:, :, block.start : block.stop] = F.scaled_dot_product_attention(
                query[:, :, block.start : block.stop],
                block.gather(key),
                block.gather(value),
                attn_mask=allowed,
            )
    if trace is not OFF:
        trace.tap("queries", "batch head query d_head", query)
        trace.tap("keys", "batch head key d_head", key)
    return output if gain is None else output * gain[..., None, None]
