"""Relative attention: a query's score for a key also depends on their distance (Shaw et al., 2018;
Huang et al., 2018).

RelativeAttention(Q, K, V) = softmax((Q Kᵀ + S_rel) / √d_head) V (Huang et al., 2018, eq. 3),
S_rel[i, j] = q_i · E_r[i − j] for j ≤ i. Gathering E_r[i − j] for every pair would make a tensor of
L × L × d_head. Q E_rᵀ holds the same numbers, each query's in a row of its own, shifted by one from
row to row; read with rows one element shorter, they stand where they belong: that is skewing
(§3.4.1). Here it is done for some queries at a time, so that not even a tensor of L × L is ever
made, and a view takes the place of the copies.

Read `attend_by_definition` first, the formula pair by pair, and `attend_by_skewing`, the paper's
way. The labs run `relative_attention`, with gradients of its own.
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
from models.layers import fused
from models.layers.attention import attention_weights
from models.layers.masks import causal_mask as causal_mask

BLOCK = 64  # queries whose scores stand in memory at a time
# scores that stand in memory at a time in training, unless one head has more of them
TOGETHER = 1 << 20
# without gradients: so few that they stay in the processor's own memory until they are used
CACHED = 1 << 18


def attend_by_definition(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    table: Tensor,
    positional: Tensor | None = None,
    window: int | None = None,
) -> Tensor:
    """Compute the formula pair by pair, with the tensor of query × key × d_head for each head that
    skewing avoids. Shapes as in `relative_attention`."""
    queries, keys = query.shape[2], key.shape[2]
    # i − j
    distance = torch.arange(keys - queries, keys, device=query.device)[:, None] - torch.arange(
        keys, device=query.device
    )
    # (head, query, key, d_head): E_r[i − j]
    pairs = table[:, distance.clamp(0, table.shape[1] - 1)]
    # S_rel
    relative = torch.einsum("bhid,hijd->bhij", query if positional is None else positional, pairs)
    scores = (query @ key.transpose(-2, -1) + relative) / math.sqrt(query.shape[-1])
    hidden = (distance < 0) | (distance >= (keys if window is None else window))
    return scores.masked_fill(hidden, -math.inf).softmax(-1) @ value


def attend_by_skewing(query: Tensor, key: Tensor, value: Tensor, table: Tensor) -> Tensor:
    """Compute the published way: skew the whole of Q E_rᵀ, then softmax over all of L × L. There
    are as many queries as keys; shapes as in `attend_by_definition`."""
    batch, heads, length, d_head = query.shape
    query = query / math.sqrt(d_head)
    padded = F.pad(query @ embeddings_by_distance(table, length).flip(1).transpose(1, 2), (1, 0))
    scores = query @ key.transpose(-2, -1)
    scores += padded.view(batch, heads, length + 1, length)[:, :, 1:]
    del padded
    return (
        scores.masked_fill_(~causal_mask(length, length, query.device), -math.inf).softmax(-1)
        @ value
    )


@dataclass(frozen=True)
class Skew:
    """Skewing step by step for one head (Huang et al., 2018, fig. 1): the input, each tensor on the
    way, and the direct formula beside.

    product: Q E_rᵀ, (L, L), its columns from the largest distance, L − 1, down to 0.
    padded: with a column of zeros before it, (L, L + 1).
    reshaped: the same numbers in the same order, (L + 1, L).
    sliced: without the first row, (L, L): S_rel where `allowed`, else garbage.
    direct: q_i · E_r[i − j] pair by pair, (L, L), 0 where not allowed.
    allowed: j ≤ i, (L, L) bool.
    """

    product: Tensor
    padded: Tensor
    reshaped: Tensor
    sliced: Tensor
    direct: Tensor
    allowed: Tensor


def embeddings_by_distance(table: Tensor, length: int) -> Tensor:
    """Return E_r of the distances 0 … length − 1: (head, distance, d_head) -> (head, length,
    d_head); distances beyond the last repeat its embedding."""
    return table[:, torch.arange(length, device=table.device).clamp_(max=table.shape[1] - 1)]


def list_skewing_steps(query: Tensor, table: Tensor) -> Skew:
    """Return every step of skewing for one head. query: (position, d_head); table: (distance,
    d_head); distances beyond it share its last row."""
    length = len(query)
    # E_r in the paper's order: the farthest first
    embedding = embeddings_by_distance(table[None], length)[0].flip(0)
    product = query @ embedding.T
    padded = F.pad(product, (1, 0))
    reshaped = padded.reshape(length + 1, length)
    allowed = causal_mask(length, length, query.device)
    place = torch.arange(length, device=query.device)
    # (query, key, d_head): the tensor that skewing avoids
    pairs = embedding.flip(0)[(place[:, None] - place).clamp_(min=0)]
    direct = torch.einsum("id,ijd->ij", query, pairs).masked_fill(~allowed, 0.0)
    return Skew(product, padded, reshaped, reshaped[1:], direct, allowed)


def _cut_blocks(queries: int, keys: int, window: int | None) -> Iterator[tuple[slice, slice]]:
    """Yield some queries at a time, and the keys that some of them see; the last query stands at
    the last key."""
    for begin in range(0, queries, BLOCK):
        end = min(begin + BLOCK, queries)
        place = keys - queries + begin  # the place of the first of them
        yield (
            slice(begin, end),
            slice(0 if window is None else max(0, place + 1 - window), keys - queries + end),
        )


def _group_heads(
    heads: int, query: Tensor, key: Tensor, scores: int
) -> Iterator[tuple[slice, slice]]:
    """Yield some heads at a time, so that a block has at most so many scores, or one head's: their
    rows (head · batch), and the heads."""
    batch = len(query) // heads
    together = max(1, scores // (batch * min(BLOCK, query.shape[1]) * key.shape[1]))
    for begin in range(0, heads, together):
        end = min(begin + together, heads)
        yield slice(begin * batch, end * batch), slice(begin, end)


class Room:
    """Memory for a block's scores and for its product with E_r, taken once for all blocks: fresh
    pages are costly on a CPU."""

    def __init__(self, rows: int, query: Tensor, key: Tensor) -> None:
        size = rows * min(BLOCK, query.shape[1]) * key.shape[1]
        self._scores, self._product = query.new_empty(size), query.new_empty(size)

    def take_scores(self, rows: int, count: int, seen: int) -> Tensor:
        """Return memory for scores, (row, query, key), with arbitrary content."""
        return self._scores[: rows * count * seen].view(rows, count, seen)

    def take_product(self, rows: int, count: int, seen: int) -> Tensor:
        """Return memory for Q E_rᵀ, with arbitrary content."""
        return self._product[: rows * count * seen].view(rows, count, seen)


def view_relative_scores(query: Tensor, reverse: Tensor, seen: int, room: Room) -> Tensor:
    """Return S_rel of a block as a view: (head · batch, query, key), garbage behind each query's
    own position.

    query: (head · batch, query, d_head).
    reverse: (head, distance, d_head), the nearest distance last.
    seen: keys, the last query's own the last of them.
    """
    rows, count, d_head = query.shape
    heads, near = len(reverse), min(seen, reverse.shape[1])
    by_head, chosen = (
        query.view(heads, -1, d_head),
        reverse[:, reverse.shape[1] - near :].transpose(1, 2),
    )
    product = room.take_product(rows, count, seen)
    if near == seen:
        torch.bmm(by_head, chosen, out=product.view(heads, -1, near))
    else:  # farther than any trained distance: as far as the farthest one
        product[..., seen - near :] = torch.bmm(by_head, chosen).view(rows, count, near)
        product[..., : seen - near] = product[..., seen - near, None]
    # Every row of the product runs from distance seen − 1 to 0, and row r wants its key j from
    # column j + count − 1 − r: starting at column count − 1 and reading rows of seen − 1 elements
    # in place of seen does that.
    return product.as_strided(
        (rows, count, seen), (count * seen, seen - 1, 1), product.storage_offset() + count - 1
    )


def view_relative_gradient(d_scores: Tensor, near: int) -> Tensor:
    """Return the gradients by distance, the way back of `view_relative_scores`: gradients of scores
    (row, query, key), 0 where a query sees nothing -> (row, query, distance)."""
    rows, count, seen = d_scores.shape
    d_product = d_scores.new_empty(rows, count * seen)
    d_product[:, : count - 1] = 0
    d_product[:, count - 1 : -1].view(rows, count, seen - 1).copy_(d_scores[..., :-1])
    d_product[:, -1] = d_scores[:, -1, -1]
    d_product = d_product.view(rows, count, seen)
    if near < seen:
        far = d_product[..., : seen - near].sum(-1)
        d_product = d_product[..., seen - near :]
        d_product[..., 0] += far
    return d_product


def _compute_block_weights(
    query: Tensor,
    positional: Tensor,
    key: Tensor,
    reverse: Tensor | None,
    later: Tensor,
    window: int | None,
    room: Room,
) -> Tensor:
    """Return the attention of one block, (row, query, key): query and positional (row, query,
    d_head) are already divided by √d_head.

    key: the keys that some query of the block sees, (row, key, d_head).
    later: −∞ where a key of the block comes after the query, (query, query).
    """
    seen = key.shape[1]
    scores = room.take_scores(query.shape[0], query.shape[1], seen)
    if fused.can_read(scores):
        torch.bmm(query, key.transpose(1, 2), out=scores)
        return fused.softmax_in_place(
            scores,
            None if reverse is None else view_relative_scores(positional, reverse, seen, room),
            window,
        )
    if reverse is None:
        torch.bmm(query, key.transpose(1, 2), out=scores)
    else:
        torch.baddbmm(
            view_relative_scores(positional, reverse, seen, room),
            query,
            key.transpose(1, 2),
            out=scores,
        )
    count = query.shape[1]
    scores[..., seen - count :] += later[:count, :count]
    # Keys may lie too far before the later queries of the block.
    if window is not None and seen > window:
        beyond = torch.full((count, seen), -math.inf, device=scores.device, dtype=scores.dtype)
        scores += beyond.tril_(seen - count - window)
    return torch.softmax(scores, -1, out=scores)


def _make_causal_bias(like: Tensor) -> Tensor:
    return torch.full((BLOCK, BLOCK), -math.inf, device=like.device, dtype=like.dtype).triu_(1)


def _fold_heads(x: Tensor) -> Tensor:
    """Reshape (batch, head, position, d_head) to (head · batch, position, d_head): heads are the
    outer axis, because each has its own distances."""
    return x.transpose(0, 1).reshape(-1, *x.shape[2:])


def _unfold_heads(x: Tensor, heads: int) -> Tensor:
    """Undo `_fold_heads`."""
    return x.view(heads, -1, *x.shape[1:]).transpose(0, 1)


class _RelativeAttention(torch.autograd.Function):
    """All blocks with their own gradients: weights are computed again on the way back, so that
    nothing of size L × L is kept."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        table: Tensor | None,
        positional: Tensor | None,
        window: int | None,
    ) -> Tensor:
        heads, scale = query.shape[1], 1 / math.sqrt(query.shape[-1])
        q, k, v = _fold_heads(query) * scale, _fold_heads(key), _fold_heads(value)
        p = q if positional is None else _fold_heads(positional) * scale
        reverse = None if table is None else table[:, : k.shape[1]].flip(1)
        parts = list(_group_heads(heads, q, k, TOGETHER if any(ctx.needs_input_grad) else CACHED))
        later, output, room = (
            _make_causal_bias(q),
            torch.empty_like(q),
            Room(parts[0][0].stop, q, k),
        )
        for rows, some in parts:
            table_here = None if reverse is None else reverse[some]
            for here, seen in _cut_blocks(q.shape[1], k.shape[1], window):
                block = q[rows, here].contiguous()
                place = block if positional is None else p[rows, here].contiguous()
                weights = _compute_block_weights(
                    block, place, k[rows, seen], table_here, later, window, room
                )
                output[rows, here] = torch.bmm(weights, v[rows, seen])
        ctx.save_for_backward(q, p, k, v, output, *(() if reverse is None else (reverse,)))
        ctx.heads, ctx.scale, ctx.window, ctx.shape = (
            heads,
            scale,
            window,
            None if table is None else table.shape,
        )
        ctx.apart = positional is not None
        return _unfold_heads(output, heads)

    @staticmethod
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:
        q, p, k, v, output, *rest = ctx.saved_tensors
        reverse = rest[0] if rest else None
        heads, d_head, window = ctx.heads, q.shape[-1], ctx.window
        d_output = _fold_heads(outside[0])
        d_query = torch.empty_like(q)
        d_positional = torch.zeros_like(q) if ctx.apart else d_query
        d_key, d_value = torch.zeros_like(k), torch.zeros_like(v)
        d_reverse = None if reverse is None else torch.zeros_like(reverse)
        # Σ_j w_j dw_j, which a row of the softmax's gradient shares
        shared = (d_output * output).sum(-1, keepdim=True)
        parts = list(_group_heads(heads, q, k, TOGETHER))
        later, room = _make_causal_bias(q), Room(parts[0][0].stop, q, k)
        for rows, some in parts:
            keys, values, d_keys, d_values = k[rows], v[rows], d_key[rows], d_value[rows]
            for here, seen in _cut_blocks(q.shape[1], k.shape[1], window):
                block, d_block = q[rows, here].contiguous(), d_output[rows, here]
                place = p[rows, here].contiguous() if ctx.apart else block
                weights = _compute_block_weights(
                    block,
                    place,
                    keys[:, seen],
                    None if reverse is None else reverse[some],
                    later,
                    window,
                    room,
                )
                d_values[:, seen].baddbmm_(weights.transpose(1, 2), d_block)
                d_scores = (
                    torch.bmm(d_block, values[:, seen].transpose(1, 2))
                    .sub_(shared[rows, here])
                    .mul_(weights)
                )
                d_keys[:, seen].baddbmm_(d_scores.transpose(1, 2), block)
                d_query[rows, here] = torch.bmm(d_scores, keys[:, seen])
                if reverse is not None and d_reverse is not None:
                    near = min(seen.stop - seen.start, reverse.shape[1])
                    chosen = slice(reverse.shape[1] - near, None)
                    d_product = view_relative_gradient(d_scores, near).reshape(
                        some.stop - some.start, -1, near
                    )
                    d_positional[rows, here] += torch.bmm(d_product, reverse[some, chosen]).view_as(
                        block
                    )
                    d_reverse[some, chosen].baddbmm_(
                        d_product.transpose(1, 2), place.view(len(d_product), -1, d_head)
                    )
        d_table = None
        if d_reverse is not None:
            d_table = d_reverse.new_zeros(ctx.shape)
            d_table[:, : d_reverse.shape[1]] = d_reverse.flip(1)
        apart = _unfold_heads(d_positional * ctx.scale, heads) if ctx.apart else None
        return (
            _unfold_heads(d_query * ctx.scale, heads),
            _unfold_heads(d_key, heads),
            _unfold_heads(d_value, heads),
            d_table,
            apart,
            None,
        )


def _attend_last_query(
    query: Tensor, key: Tensor, value: Tensor, table: Tensor, positional: Tensor
) -> Tensor:
    """Compute the last position alone, as in decoding: its distances run from keys − 1 to 0, so
    there is nothing to skew."""
    keys = key.shape[2]
    product = (positional @ table[:, :keys].transpose(1, 2)).flip(3)  # the nearest distance last
    if product.shape[3] < keys:
        product = torch.cat(
            (product[..., :1].expand(-1, -1, -1, keys - product.shape[3]), product), 3
        )
    return F.scaled_dot_product_attention(
        query, key, value, attn_mask=product / math.sqrt(query.shape[-1])
    )


def relative_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    table: Tensor | None,
    gain: Tensor | None = None,
    trace: Trace = OFF,
    positional: Tensor | None = None,
    window: int | None = None,
) -> Tensor:
    """Return softmax((Q Kᵀ + S_rel) / √d_head) V, each query seeing the keys up to its own position
    (Huang et al., 2018, eq. 3).

    query: (batch, head, query, d_head).
    key, value: (batch, head, key, d_head); the last query stands at the last key, so that queries
        may be fewer than keys, as with a cache.
    table: E_r[i − j] from distance 0 on, (head, distance, d_head); distances beyond it share its
        last embedding. None: no relative term, and the same blocks without it.
    gain: the factor on a head's output, (batch, head).
    positional: in the shape of query, the vectors that meet E_r in place of the queries: S_rel[i,
        j] = positional_i · E_r[i − j] (Dai et al., 2019, §3.3).
    window: how many keys a query sees at most, its own among them; None for all.

    Taps `queries` and `keys`, from which `compute_weights_of` makes any rows of weights, and
    `weights`.
    """
    if query.shape[2] > key.shape[2]:
        raise ValueError(
            f"{query.shape[2]} queries for {key.shape[2]} keys; expected no more queries than keys"
        )
    if window is not None and window < 1:
        raise ValueError(f"a window of {window} keys; expected 1 or more")
    farthest = key.shape[2] if window is None else min(key.shape[2], query.shape[2] + window - 1)
    key, value = key[:, :, -farthest:], value[:, :, -farthest:]  # no query sees earlier keys
    if table is not None and table.dtype != query.dtype:
        table = table.to(query.dtype)
    needs = any(
        one is not None and one.requires_grad for one in (query, key, value, table, positional)
    )
    bound = None if window is None or window >= key.shape[2] else window
    if table is None and not needs and query.shape[2] in (1, key.shape[2]) and bound is None:
        output: Tensor = F.scaled_dot_product_attention(
            query, key, value, is_causal=query.shape[2] > 1
        )
    elif table is not None and not needs and query.shape[2] == 1:
        output = _attend_last_query(
            query, key, value, table, query if positional is None else positional
        )
    else:
        output = _RelativeAttention.apply(query, key, value, table, positional, bound)  # type: ignore[no-untyped-call]
    if trace is not OFF:
        trace.tap("queries", "batch head query d_head", query)
        trace.tap("keys", "batch head key d_head", key)
        if trace.wants("weights"):
            places = range(key.shape[2] - query.shape[2], key.shape[2])
            trace.tap(
                "weights",
                "batch head query key",
                compute_weights_of(query, key, table, places, positional, bound),
                fresh=True,
            )
    return output if gain is None else output * gain[..., None, None]


def compute_weights_of(
    query: Tensor,
    key: Tensor,
    table: Tensor | None,
    places: Sequence[int],
    positional: Tensor | None = None,
    window: int | None = None,
) -> Tensor:
    """Return the weights of a few queries, (batch, head, query, key), 0 behind each query's place.

    query: (batch, head, query, d_head), standing at `places` among the keys.
    key: (batch, head, key, d_head).
    table, positional, window: as in `relative_attention`.
    """
    keys = key.shape[2]
    allowed = causal_mask(places, keys, query.device)
    distance = torch.tensor(list(places), device=query.device)[:, None] - torch.arange(
        keys, device=query.device
    )
    if window is not None:
        allowed &= distance < window
    if table is None:
        return attention_weights(query, key, allowed)
    # (batch, head, query, distance)
    product = (query if positional is None else positional) @ table.to(query.dtype).transpose(1, 2)
    index = distance.clamp(0, table.shape[1] - 1).expand(*query.shape[:3], keys)
    scores = (query @ key.transpose(-2, -1) + product.gather(3, index)) / math.sqrt(query.shape[-1])
    return scores.masked_fill_(~allowed, -math.inf).softmax(-1)
