"""Attention that computes only the pairs of a sparse pattern: keys are taken as views, in blocks
(Child et al., 2019).

Attend(X, S)_i = softmax(q_i K_{S_i}ᵀ / √d) V_{S_i} (§4.2), S_i the keys of `patterns.Factor`. A
dense mask would save nothing: it computes every pair and then drops most of them. Here a pattern is
cut into pieces, in each of which many queries see keys that stand at even distances: a sliding
window, a column of the picture, a block. A view of the keys holds those without a copy. The summary
columns of the fixed pattern are gathered once for all blocks, and each block sees a slice of them.

Pieces that share queries are joined by their log-sum-exp: softmax over S ∪ T is exp(lse_S − lse)
o_S + exp(lse_T − lse) o_T.

Read `attend_by_mask` first, with a dense mask. The labs run `gathered_attention`, with gradients of
its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from models.explaining.trace import OFF, Trace
from models.layers.attention import attention_weights
from models.layers.patterns import Factor
from models.layers.relative import relative_attention

# queries that share a sliding window: with more of them more scores are computed in vain, with
# fewer the products are too small to be fast
TILE = 32
# This is a private name of torch: where it is gone, attention is computed by definition.
KERNEL = "_scaled_dot_product_flash_attention_for_cpu"
TOGETHER = 256  # queries, about, that share a slice of the summary columns


def attend_by_mask(query: Tensor, key: Tensor, value: Tensor, factor: Factor) -> Tensor:
    """Compute every pair, and drop those outside the factor; 0 for a query that has no key. Shapes
    as in `gathered_attention`."""
    allowed = torch.from_numpy(factor.build_mask(query.shape[2])).to(query.device)
    return attention_weights(query, key, allowed) @ value


@dataclass(frozen=True)
class _Grid:
    """Positions start + apart · group + step · place: `groups` groups of `count` places."""

    start: int
    groups: int
    apart: int
    count: int
    step: int = 1

    def view(self, x: Tensor) -> Tensor:
        """Return x, (row, position, …), contiguous, as a view (row, group, place, …); where windows
        overlap it holds a position several times."""
        row, position, *rest = x.stride()
        strides = (row, self.apart * position, self.step * position, *rest)
        return x.as_strided(
            (len(x), self.groups, self.count, *x.shape[2:]),
            strides,
            x.storage_offset() + self.start * position,
        )

    def add_back(self, x: Tensor, what: Tensor) -> None:
        """Add the gradient of `view(x)`, (row, group, place, …), to the positions of x."""
        if self.step > 1 or self.count <= self.apart or self.groups == 1:
            self.view(x).add_(what)
            return
        # windows overlap: as many turns as a position lies in windows
        for first in range(0, self.count, self.apart):
            count = min(self.apart, self.count - first)
            _Grid(self.start + first, self.groups, self.apart, count).view(x).add_(
                what[:, :, first : first + count]
            )


@dataclass(frozen=True)
class _Piece:
    """Some queries and the keys that they share.

    bias: added to the scores, (query, key), 0 or −∞; None where every query sees every key.
    causal: whether the fused kernel makes this bias itself.
    summaries: whether the keys are counted among the summary columns.
    joins: whether earlier pieces hold these queries too.
    """

    queries: _Grid
    keys: _Grid
    bias: Tensor | None = None
    causal: bool = False
    summaries: bool = False
    joins: bool = False

    def view_inputs(
        self, query: Tensor, key: Tensor, value: Tensor, sums: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return views of the queries, keys and values, each (row, group, place, d_head)."""
        if self.summaries:
            assert sums is not None
            key, value = sums
        return self.queries.view(query), self.keys.view(key), self.keys.view(value)


def _make_bias(allowed: Tensor) -> Tensor:
    return torch.zeros(allowed.shape).masked_fill_(~allowed, -math.inf)


def _make_causal_bias(queries: _Grid, keys: _Grid, joins: bool = False) -> _Piece:
    allowed = torch.ones(queries.count, keys.count, dtype=torch.bool).tril()
    return _Piece(queries, keys, _make_bias(allowed), causal=True, joins=joins)


def _cut_row(length: int, stride: int, summary: int) -> Iterator[_Piece]:
    """Yield windows of l + 1 positions: the first block has nothing before it; tiles of queries
    share a window that is as much longer."""
    head = _Grid(0, 1, 1, min(stride, length))
    yield _make_causal_bias(head, head)
    tile = min(TILE, stride)
    whole = max(0, length - stride) // tile
    left = max(0, length - stride) - whole * tile
    for start, groups, count in ((stride, whole, tile), (stride + whole * tile, 1, left)):
        if groups and count:
            place, key = torch.arange(count)[:, None], torch.arange(stride + count)
            bias = _make_bias((key >= place) & (key <= place + stride))
            yield _Piece(
                _Grid(start, groups, tile, count),
                _Grid(start - stride, groups, tile, stride + count),
                bias,
            )


def _cut_column(length: int, stride: int, summary: int) -> Iterator[_Piece]:
    """Yield each position of a block with those above it: a column of the picture where the stride
    is a row of it."""
    grid = _Grid(0, stride, 1, length // stride, stride)
    yield _make_causal_bias(grid, grid)


def _cut_strided(length: int, stride: int, summary: int) -> Iterator[_Piece]:
    """Yield the row, and of the column the keys that the row does not hold: the key itself and the
    one above it are in the row already."""
    yield from _cut_row(length, stride, summary)
    rows = length // stride - 2
    if rows > 0:
        yield _make_causal_bias(
            _Grid(2 * stride, stride, 1, rows, stride),
            _Grid(0, stride, 1, rows, stride),
            joins=True,
        )


def _cut_block(length: int, stride: int, summary: int) -> Iterator[_Piece]:
    """Yield each block by itself."""
    grid = _Grid(0, length // stride, stride, stride)
    yield _make_causal_bias(grid, grid)


def _cut_earlier_summaries(length: int, stride: int, summary: int, joins: bool) -> Iterator[_Piece]:
    """Yield the summary columns of earlier blocks: some blocks at a time, with a slice that ends
    before the last of them."""
    blocks, together = length // stride, max(1, TOGETHER // stride)
    for first in range(1, blocks, together):
        last = min(first + together, blocks)
        queries, keys = (
            _Grid(first * stride, 1, 1, (last - first) * stride),
            _Grid(0, 1, 1, (last - 1) * summary),
        )
        bias = None
        if last - first > 1:
            block = torch.arange(first * stride, last * stride)[:, None] // stride
            bias = _make_bias(torch.arange(keys.count) // summary < block)
        yield _Piece(queries, keys, bias, summaries=True, joins=joins)


def _cut_summary(length: int, stride: int, summary: int) -> Iterator[_Piece]:
    """Yield summary columns of earlier blocks, and for the summary columns themselves those of
    their own block."""
    yield from _cut_earlier_summaries(length, stride, summary, joins=False)
    own = _Grid(stride - summary, length // stride, stride, summary)
    yield _make_causal_bias(own, own, joins=True)


def _cut_fixed(length: int, stride: int, summary: int) -> Iterator[_Piece]:
    """Yield the query's own block, and the summary columns of earlier ones: no pair comes twice."""
    yield from _cut_block(length, stride, summary)
    yield from _cut_earlier_summaries(length, stride, summary, joins=True)


CUTS = {
    "row": _cut_row,
    "column": _cut_column,
    "strided": _cut_strided,
    "block": _cut_block,
    "summary": _cut_summary,
    "fixed": _cut_fixed,
}


@lru_cache(maxsize=64)
def _cut_pieces(factor: Factor, length: int) -> tuple[_Piece, ...]:
    """Return the pieces of a factor, no pair in two of them, over whole blocks; only the row is cut
    at any length."""
    return tuple(CUTS[factor.name](length, factor.stride, factor.summary))


def _fold_heads(x: Tensor, length: int) -> Tensor:
    """Reshape (batch, head, position, d_head) to (head · batch, length, d_head), contiguous, zeros
    behind the last position."""
    x = x.transpose(0, 1)
    if x.shape[2] == length:
        return x.reshape(-1, *x.shape[2:]).contiguous()
    padded = x.new_zeros(*x.shape[:2], length, x.shape[3])
    padded[:, :, : x.shape[2]] = x
    return padded.view(-1, length, x.shape[3])


def _unfold_heads(x: Tensor, heads: int, length: int) -> Tensor:
    """Undo `_fold_heads`."""
    return x.view(heads, -1, *x.shape[1:])[:, :, :length].transpose(0, 1)


def _take_summaries(x: Tensor, factor: Factor) -> Tensor:
    """Take the last c positions of each block, once for all queries: (row, position, d_head) ->
    (row, block · summary, d_head)."""
    blocks = x.view(len(x), -1, factor.stride, x.shape[2])
    return blocks[:, :, factor.stride - factor.summary :].reshape(len(x), -1, x.shape[2])


def _compute_scores(query: Tensor, key: Tensor, bias: Tensor | None) -> Tensor:
    """Return the scores of a query that is already divided by √d_head; in single precision at
    least."""
    scores = query @ key.transpose(-2, -1)
    if scores.dtype in (torch.bfloat16, torch.float16):
        scores = scores.float()
    return scores if bias is None else scores + bias.to(scores)


def _attend_piece(
    query: Tensor, key: Tensor, value: Tensor, piece: _Piece
) -> tuple[Tensor, Tensor]:
    """Return a piece's output (row, group, place, d_head), and the log-sum-exp of its scores (row,
    group, place)."""
    there = query.device.type == "cpu" and hasattr(torch.ops.aten, KERNEL)
    return (_attend_fused if there else _attend_by_definition)(query, key, value, piece)


def _attend_fused(
    query: Tensor, key: Tensor, value: Tensor, piece: _Piece
) -> tuple[Tensor, Tensor]:
    """Compute a piece by the library's fused kernel for a CPU, which returns the log-sum-exp beside
    the output."""
    bias = None if piece.causal or piece.bias is None else piece.bias.to(query.dtype)
    output, lse = getattr(torch.ops.aten, KERNEL)(
        query, key, value, 0.0, piece.causal, attn_mask=bias, scale=None
    )
    return output, lse


def _attend_by_definition(
    query: Tensor, key: Tensor, value: Tensor, piece: _Piece
) -> tuple[Tensor, Tensor]:
    """Compute a piece by products and a softmax, on any device."""
    scores = _compute_scores(query / math.sqrt(query.shape[-1]), key, piece.bias)
    lse = scores.logsumexp(-1)
    return (scores - lse[..., None]).exp_().to(value) @ value, lse


def _gather_inputs(
    query: Tensor, key: Tensor, value: Tensor, factor: Factor, room: Tensor | None = None
) -> tuple[Tensor, ...]:
    """Return queries, keys, values and the output, as `_fold_heads` lays them out, and the
    log-sum-exp of all scores, (row, position).

    room: contiguous memory for the output, (head, batch, position, d_head); None takes new memory.
    """
    length = query.shape[2]
    padded = length if factor.name == "row" else -(-length // factor.stride) * factor.stride
    pieces = _cut_pieces(factor, padded)
    q, k, v = (_fold_heads(x, padded) for x in (query, key, value))
    sums = (
        (_take_summaries(k, factor), _take_summaries(v, factor))
        if any(piece.summaries for piece in pieces)
        else None
    )
    output = torch.empty_like(q) if room is None or padded != length else room.view(q.shape)
    if factor.name == "summary":
        output[:, : factor.stride] = 0  # only these queries may see nothing
    lse = q.new_full(q.shape[:2], -math.inf, dtype=torch.promote_types(q.dtype, torch.float32))
    for piece in pieces:
        found, size = _attend_piece(*piece.view_inputs(q, k, v, sums), piece)
        here, there = piece.queries.view(output), piece.queries.view(lse)
        if not piece.joins:
            here.copy_(found)
            there.copy_(size)
            continue
        # exp(size) / (exp(there) + exp(size))
        here.lerp_(found, (size - there).sigmoid_()[..., None].to(found))
        there.copy_(torch.logaddexp(there, size))
    if room is not None and padded != length:
        room.copy_(output.view(*room.shape[:2], padded, -1)[:, :, :length])
    return q, k, v, output, lse


class _Gathered(torch.autograd.Function):
    """All pieces with their own gradients: a piece's weights are computed again from the
    log-sum-exp over all pieces."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, factor: Factor) -> Tensor:
        made = _gather_inputs(query, key, value, factor)
        ctx.save_for_backward(*made)
        ctx.factor, ctx.shape = factor, query.shape
        return _unfold_heads(made[3], query.shape[1], query.shape[2])

    @staticmethod
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        q, k, v, output, lse = ctx.saved_tensors
        factor, (_, heads, length, d_head) = ctx.factor, ctx.shape
        d_output = _fold_heads(outside[0].to(output.dtype), q.shape[1])
        # Σ_j w_j dw_j, which a row of the softmax's gradient shares
        shared = (d_output.to(lse) * output).sum(-1)
        d_query, d_key, d_value = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        pieces = _cut_pieces(factor, q.shape[1])
        sums = d_sums = None
        if any(piece.summaries for piece in pieces):
            sums = (_take_summaries(k, factor), _take_summaries(v, factor))
            d_sums = (torch.zeros_like(sums[0]), torch.zeros_like(sums[1]))
        scale = 1 / math.sqrt(d_head)
        for piece in pieces:
            block, keys, values = piece.view_inputs(q, k, v, sums)
            block, d_block = block * scale, piece.queries.view(d_output)
            weights = (
                _compute_scores(block, keys, piece.bias)
                .sub_(piece.queries.view(lse)[..., None])
                .exp_()
            )
            d_scores = (
                (d_block @ values.transpose(-2, -1))
                .sub(piece.queries.view(shared)[..., None])
                .mul_(weights)
                .to(q)
            )
            to_key, to_value = (d_key, d_value) if d_sums is None or not piece.summaries else d_sums
            piece.keys.add_back(to_value, weights.to(q).transpose(-2, -1) @ d_block)
            piece.keys.add_back(to_key, d_scores.transpose(-2, -1) @ block)
            piece.queries.add_back(d_query, (d_scores @ keys).mul_(scale))
        if d_sums is not None:
            own = _Grid(
                factor.stride - factor.summary,
                q.shape[1] // factor.stride,
                factor.stride,
                factor.summary,
            )
            for whole, part in ((d_key, d_sums[0]), (d_value, d_sums[1])):
                own.add_back(whole, part.view(len(q), own.groups, own.count, d_head))
        d_query, d_key, d_value = (
            _unfold_heads(x, heads, length) for x in (d_query, d_key, d_value)
        )
        return d_query, d_key, d_value, None


def gathered_attention(
    query: Tensor, key: Tensor, value: Tensor, factor: Factor, room: Tensor | None = None
) -> Tensor:
    """Return softmax over the keys of a factor alone (Child et al., 2019, §4.2); 0 for a query that
    has none.

    query, key, value: (batch, head, position, d_head), as many queries as keys, of any length; the
        result has the same shape.
    room: contiguous memory for the result, (head, batch, position, d_head); without gradients, and
        not for the factor of all keys.
    """
    if query.shape != key.shape or key.shape != value.shape:
        raise ValueError(
            f"queries {tuple(query.shape)}, keys {tuple(key.shape)}, values {tuple(value.shape)}:"
            " expected one shape"
        )
    if factor.name == "all":
        return relative_attention(query, key, value, None)
    if room is not None:
        _gather_inputs(query, key, value, factor, room)
        return room.transpose(0, 1)
    found: Tensor = _Gathered.apply(query, key, value, factor)  # type: ignore[no-untyped-call]
    return found


def attend_last_query(query: Tensor, key: Tensor, value: Tensor, factor: Factor) -> Tensor:
    """Compute the last position alone, as in decoding, and read only the keys of the factor. Return
    (batch, head, 1, d_head).

    query: (batch, head, 1, d_head).
    key, value: (batch, head, position, d_head).
    """
    if factor.name != "all":
        index = torch.from_numpy(factor.list_keys(key.shape[2] - 1)).to(key.device)
        if not len(index):
            return torch.zeros_like(query)
        key, value = key.index_select(2, index), value.index_select(2, index)
    return F.scaled_dot_product_attention(query, key, value)


def sparse_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    heads: Sequence[tuple[int, Factor]],
    gain: Tensor | None = None,
    trace: Trace = OFF,
) -> Tensor:
    """Return the attention of heads that follow patterns: interleaved, merged or split, as
    `patterns.Pattern.assign_heads` assigns them (§5.1).

    query: (batch, head, query, d_head).
    key, value: (batch, head, key, d_head); as many queries as keys, or one query, the last
        position's.
    heads: (count, factor), from the first head on.
    gain: the factor on a head's output, (batch, head).

    Taps `queries` and `keys` (batch, head, position, d_head), from which any weights can be made.
    Raise ValueError where the counts do not fit.
    """
    if sum(count for count, _ in heads) != query.shape[1]:
        raise ValueError(
            f"patterns for {sum(count for count, _ in heads)} heads of {query.shape[1]}"
        )
    alone, dense = query.shape[2] == 1, any(factor.name == "all" for _, factor in heads)
    needs = torch.is_grad_enabled() and any(x.requires_grad for x in (query, key, value))
    # One tensor for all heads: joining them afterwards would add two tenths to the computation.
    room = None
    if len(heads) > 1 and not (alone or dense or needs):
        room = query.new_empty(query.shape[1], len(query), *query.shape[2:])
    found, first = [], 0
    for count, factor in heads:
        part = slice(first, first + count)
        three = query[:, part], key[:, part], value[:, part]
        found.append(
            attend_last_query(*three, factor)
            if alone
            else gathered_attention(*three, factor, None if room is None else room[part])
        )
        first += count
    output = (
        room.transpose(0, 1)
        if room is not None
        else found[0]
        if len(found) == 1
        else torch.cat(found, 1)
    )
    if trace is not OFF:
        trace.tap("queries", "batch head query d_head", query)
        trace.tap("keys", "batch head key d_head", key)
    return output if gain is None else output * gain[..., None, None]
