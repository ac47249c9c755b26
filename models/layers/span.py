"""Attention with a learned reach for each head (Sukhbaatar et al., 2019, §2.2 and §2.3).

A soft mask m_z(x) = clamp((R + z − x) / R, 0, 1) of the distance x = t − r is 1 up to the span z
and falls to 0 over a ramp of R positions; the attention of position t to position r is (eq. 4)

    a_tr = m_z(t − r) exp(s_tr) / Σ_q m_z(t − q) exp(s_tq),
    s_tr = x_tᵀ W_qᵀ (W_k x_r + p_{t − r})  (eq. 2, here over √d_head)

over the last S positions: here those of the distances 0 … S − 1, so that a position may always
attend to itself and no row is ever empty. It is softmax(s_tr + log m_z(t − r)): one softmax, and
keys behind the ramp are never computed. Queries go in blocks, and each block meets only the keys
that its longest reach, z + R, needs.

Read `attend_by_definition` first, the formula as it is printed. The labs run `span_attention`, with
gradients of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from models.explaining.trace import OFF, Trace
from models.layers.relative import BLOCK, Room, view_relative_gradient, view_relative_scores

GRAIN = 64  # heads whose reaches differ by less are computed together
# scores that stand in memory at a time in training, unless one head has more of them
TOGETHER = 1 << 20
# without gradients: so few that they stay in the processor's own memory until they are used
CACHED = 1 << 17


def attend_by_definition(
    query: Tensor, key: Tensor, value: Tensor, table: Tensor, z: Tensor, span: int, ramp: int
) -> Tensor:
    """Compute the formula as it is printed, with the dense matrix of query × key that blocks avoid:
    softmax, mask, renormalise. Shapes as in `span_attention`."""
    queries, keys = query.shape[2], key.shape[2]
    distance = torch.arange(keys - queries, keys, device=query.device)[:, None] - torch.arange(
        keys, device=query.device
    )
    allowed = (distance >= 0) & (distance < span)
    relative = torch.einsum("bhid,ijd->bhij", query, table[0, distance.clamp(0, span - 1)])
    scores = (query @ key.transpose(-2, -1) + relative) / math.sqrt(query.shape[-1])
    before = scores.masked_fill(~allowed, -math.inf).softmax(-1)
    masked = before * soft_mask(distance, z[..., None], ramp)
    return masked / masked.sum(-1, keepdim=True) @ value


def soft_mask(distance: Tensor, z: Tensor, ramp: int) -> Tensor:
    """Return m_z(x) = clamp((R + z − x) / R, 0, 1) (eq. 3); distance, in positions, and z
    broadcast."""
    return ((ramp + z - distance) / ramp).clamp(0, 1)


def measure_reach(z: float, ramp: int, span: int) -> int:
    """Return how many positions a head attends to: the distances 0 … reach − 1 are those where m_z
    is above 0, at most S of them."""
    return min(span, max(1, math.ceil(z + ramp)))


@dataclass(frozen=True)
class HeadGroup:
    """Heads that are computed together. reaches: for each block of queries, the farthest reach of
    these heads."""

    heads: tuple[int, ...]
    reaches: tuple[int, ...]


def group_by_reach(reaches: Sequence[int], grain: int = GRAIN) -> tuple[HeadGroup, ...]:
    """Group heads of similar reach, the shortest first; differences below `grain` positions are
    ignored. reaches: one per head; a group takes its longest."""
    found: dict[int, list[int]] = {}
    for head, one in enumerate(reaches):
        found.setdefault(-(-one // grain), []).append(head)
    return tuple(
        HeadGroup(tuple(heads), (max(reaches[head] for head in heads),))
        for _, heads in sorted(found.items())
    )


def plan_groups(z: Tensor, queries: int, span: int, ramp: int) -> tuple[HeadGroup, ...]:
    """Return the groups that are computed together for z, (1 or batch, head, 1 or query); a span
    that follows the token is looked at block by block."""
    highest = z.detach().float().amax(0)
    if z.shape[2] == 1:
        blocks = -(-queries // BLOCK)
        static = group_by_reach([measure_reach(one, ramp, span) for one in highest[:, 0].tolist()])
        return tuple(HeadGroup(group.heads, group.reaches * blocks) for group in static)
    by_block = F.pad(highest, (0, -queries % BLOCK)).view(len(highest), -1, BLOCK).amax(2).tolist()
    needs = [[measure_reach(one, ramp, span) for one in row] for row in by_block]
    groups = group_by_reach([max(row) for row in needs])
    return tuple(
        HeadGroup(
            group.heads, tuple(map(max, zip(*(needs[head] for head in group.heads), strict=True)))
        )
        for group in groups
    )


def _split_group(group: HeadGroup, batch: int, scores: int) -> Iterator[HeadGroup]:
    """Yield a group in parts, so that a block has at most so many scores, or one head's."""
    together = max(1, scores // (batch * BLOCK * (max(group.reaches) + BLOCK)))
    for begin in range(0, len(group.heads), together):
        yield HeadGroup(group.heads[begin : begin + together], group.reaches)


def _fold_heads(x: Tensor, heads: Sequence[int]) -> Tensor:
    """Reshape some heads of (batch, head, position, d_head) to (head · batch, position, d_head),
    heads outside."""
    return x[:, list(heads)].transpose(0, 1).reshape(-1, *x.shape[2:])


def _cut_blocks(queries: int, keys: int, reaches: Sequence[int]) -> Iterator[tuple[slice, slice]]:
    """Yield some queries at a time, and the keys that they can reach; the last query stands at the
    last key."""
    for begin, far in zip(range(0, queries, BLOCK), reaches, strict=True):
        end = min(begin + BLOCK, queries)
        last = keys - queries + end
        yield slice(begin, end), slice(max(0, last - (end - begin) - far + 1), last)


class _Bias:
    """The bias log m_z(x) of a group's blocks, −∞ where a key comes after the query or lies S
    positions or more before it.

    Heads of one span share it among all blocks: seen from the last query and the last key, all
    blocks look the same.
    """

    def __init__(self, z: Tensor, group: HeadGroup, queries: int, span: int, ramp: int) -> None:
        # (head, 1 or batch, 1 or query)
        self._z, self._span, self._ramp = z[:, list(group.heads)].transpose(0, 1), span, ramp
        self._static = z.shape[2] == 1
        if self._static:
            count = min(BLOCK, queries)
            self._all = self._mask(self._z, count, count + max(group.reaches))

    def _mask(self, z: Tensor, count: int, seen: int) -> Tensor:
        distance = (
            torch.arange(seen - 1, -1, -1, device=z.device)
            - torch.arange(count - 1, -1, -1, device=z.device)[:, None]
        )
        infinite = distance.to(z.dtype).masked_fill_(
            (distance < 0) | (distance >= self._span), math.inf
        )
        return soft_mask(infinite, z[..., None], self._ramp)  # (head, 1 or batch, query, key)

    def mask(self, here: slice, seen: int) -> Tensor:
        """Return m_z of a block's queries and the keys that it sees: (head, 1 or batch, query,
        key)."""
        count = here.stop - here.start
        return (
            self._all[:, :, -count:, -seen:]
            if self._static
            else self._mask(self._z[..., here], count, seen)
        )

    def ramp_gradient(self, here: slice, seen: int) -> tuple[int, Tensor]:
        """Return ∂ log m / ∂z = 1 / (R m) on the ramp and 0 elsewhere, both its ends too: how many
        of a block's first keys may be on it, and for these (head, 1 or batch, query, key)."""
        near = max(0, int(self._z[..., here].min() if not self._static else self._z.min()))
        first = max(1, min(seen, seen - near))
        mask = self.mask(here, seen)[..., :first]
        inside = (mask > 0) & (mask < 1)
        return first, torch.where(inside, 1 / (self._ramp * mask), 0.0)


def _compute_block_weights(
    query: Tensor, keys: Tensor, reverse: Tensor, mask: Tensor, room: Room
) -> Tensor:
    """Return a_tr of one block, (row, query, key): query (row, query, d_head) already divided by
    √d_head, keys (row, key, d_head)."""
    count, seen = query.shape[1], keys.shape[1]
    scores = room.take_scores(len(query), count, seen)
    torch.baddbmm(
        view_relative_scores(query, reverse, seen, room), query, keys.transpose(1, 2), out=scores
    )
    exact = scores.to(torch.promote_types(scores.dtype, torch.float32))
    exact.view(len(mask), -1, count, seen).add_(mask.log())
    return torch.softmax(exact, -1, out=exact)


class _SpanAttention(torch.autograd.Function):
    """All groups and blocks with their own gradients: weights are computed again on the way back,
    so that nothing of size L × S is kept."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        table: Tensor,
        z: Tensor,
        span: int,
        ramp: int,
    ) -> Tensor:
        groups = plan_groups(z, query.shape[2], span, ramp)
        parts = [
            part
            for group in groups
            for part in _split_group(
                group, len(query), TOGETHER if any(ctx.needs_input_grad) else CACHED
            )
        ]
        reverse = _reverse_distances(table, max(max(group.reaches) for group in groups))
        output, scale = torch.empty_like(query), 1 / math.sqrt(query.shape[-1])
        for part in parts:
            q, k, v = (
                _fold_heads(query, part.heads) * scale,
                _fold_heads(key, part.heads),
                _fold_heads(value, part.heads),
            )
            made, bias, room = (
                torch.empty_like(q),
                _Bias(z, part, q.shape[1], span, ramp),
                _reserve_scores(q, k, part),
            )
            for here, seen in _cut_blocks(q.shape[1], k.shape[1], part.reaches):
                mask = bias.mask(here, seen.stop - seen.start)
                weights = _compute_block_weights(
                    q[:, here].contiguous(),
                    k[:, seen],
                    _take_nearest(reverse, mask.shape[3]),
                    mask,
                    room,
                )
                made[:, here] = torch.bmm(weights.to(v.dtype), v[:, seen])
            output[:, list(part.heads)] = made.view(
                len(part.heads), len(query), *q.shape[1:]
            ).transpose(0, 1)
        ctx.save_for_backward(query, key, value, table, z, output)
        ctx.parts, ctx.span, ctx.ramp = parts, span, ramp
        return output

    @staticmethod
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, table, z, output = ctx.saved_tensors
        batch, scale = len(query), 1 / math.sqrt(query.shape[-1])
        reverse = _reverse_distances(table, max(max(part.reaches) for part in ctx.parts))
        gradients = [torch.empty_like(query), torch.empty_like(key), torch.empty_like(value)]
        d_reverse, d_z = (
            torch.zeros_like(reverse),
            torch.zeros_like(z, dtype=torch.float32 if z.dtype != torch.float64 else z.dtype),
        )
        for part in ctx.parts:
            heads = list(part.heads)
            q, k, v = (
                _fold_heads(query, heads) * scale,
                _fold_heads(key, heads),
                _fold_heads(value, heads),
            )
            d_output = _fold_heads(outside[0], heads)
            shared = (d_output * _fold_heads(output, heads)).sum(
                -1, keepdim=True
            )  # Σ_r a_tr da_tr, which a row of the softmax's gradient shares
            d_q, d_k, d_v = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
            bias, room = _Bias(z, part, q.shape[1], ctx.span, ctx.ramp), _reserve_scores(q, k, part)
            for here, seen in _cut_blocks(q.shape[1], k.shape[1], part.reaches):
                block, d_block, count = (
                    q[:, here].contiguous(),
                    d_output[:, here],
                    seen.stop - seen.start,
                )
                chosen = _take_nearest(reverse, count)
                weights = _compute_block_weights(
                    block, k[:, seen], chosen, bias.mask(here, count), room
                )
                d_v[:, seen].baddbmm_(weights.to(v.dtype).transpose(1, 2), d_block)
                d_scores = torch.bmm(d_block, v[:, seen].transpose(1, 2)).sub_(shared[:, here])
                d_scores = weights.mul_(d_scores)
                if ctx.needs_input_grad[4]:
                    first, slope = bias.ramp_gradient(here, count)
                    on_ramp = d_scores[..., :first].view(len(heads), batch, -1, first) * slope
                    d_here = on_ramp.sum(-1).transpose(0, 1)  # (batch, head, query)
                    if z.shape[2] == 1:
                        d_z[:, heads] += d_here.sum(2, keepdim=True).sum_to_size(
                            z.shape[0], len(heads), 1
                        )
                    else:
                        d_z[:, heads, here] += d_here.sum_to_size(
                            z.shape[0], len(heads), d_here.shape[2]
                        )
                d_scores = d_scores.to(q.dtype)
                d_k[:, seen].baddbmm_(d_scores.transpose(1, 2), block)
                d_product = view_relative_gradient(d_scores, count).view(1, -1, count)
                d_q[:, here] = torch.bmm(d_scores, k[:, seen]) + torch.bmm(
                    d_product, chosen
                ).view_as(block)
                _take_nearest(d_reverse, count).baddbmm_(
                    d_product.transpose(1, 2), block.view(1, -1, block.shape[2])
                )
            for whole, found in zip(gradients, (d_q * scale, d_k, d_v), strict=True):
                whole[:, heads] = found.view(len(heads), batch, *found.shape[1:]).transpose(0, 1)
        d_table = torch.zeros_like(table)
        near = min(table.shape[1], d_reverse.shape[1])
        d_table[:, :near] = d_reverse.flip(1)[:, :near]
        return (
            *gradients,
            d_table,
            d_z.to(z.dtype) if ctx.needs_input_grad[4] else None,
            None,
            None,
        )


def _reverse_distances(table: Tensor, far: int) -> Tensor:
    """Return p of all distances that a block can meet, (1, distance, d_head), the nearest last; 0
    beyond the last one, where m_z is 0 too."""
    near = min(far, table.shape[1])
    return F.pad(table[:, :near].flip(1), (0, 0, far + BLOCK - near, 0))


def _take_nearest(reverse: Tensor, seen: int) -> Tensor:
    """Return the part of `reverse` for a block that sees so many keys."""
    return reverse[:, reverse.shape[1] - seen :]


def _reserve_scores(query: Tensor, key: Tensor, part: HeadGroup) -> Room:
    """Return memory for the scores of a part's widest block."""
    return Room(len(query), query[:, :BLOCK], key[:, : max(part.reaches) + BLOCK])


def span_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    table: Tensor,
    z: Tensor,
    span: int,
    ramp: int,
    trace: Trace = OFF,
) -> Tensor:
    """Return attention over the last S positions under the soft mask of each head's span (eqs.
    2–4), (batch, head, query, d_head).

    query: (batch, head, query, d_head).
    key, value: (batch, head, key, d_head); the last query stands at the last key, so that queries
        may be fewer than keys, as with a cache.
    table: the embeddings p of the distances 0 … S − 1, shared by the heads, (1, S, d_head).
    z: spans in positions, 0 … S, (1 or batch, head, 1 or query).
    span: S; ramp: R.

    Taps `queries`, `keys` and `spans`. Raise ValueError where there are more queries than keys or
    other distances than S.
    """
    if query.shape[2] > key.shape[2]:
        raise ValueError(
            f"{query.shape[2]} queries for {key.shape[2]} keys; expected no more queries than keys"
        )
    if table.shape[1] != span:
        raise ValueError(f"embeddings of {table.shape[1]} distances for a span of {span}")
    table = table if table.dtype == query.dtype else table.to(query.dtype)
    output: Tensor = _SpanAttention.apply(query, key, value, table, z, span, ramp)  # type: ignore[no-untyped-call]
    if trace is not OFF:
        trace.tap("queries", "batch head query d_head", query)
        trace.tap("keys", "batch head key d_head", key)
        trace.tap("spans", "batch head query", z)
    return output
