"""Attention over the edges of a graph, sparse, with gradients of its own.

An edge says which node (the query) attends to which (the key). Edges stand in the order of their
queries, so the sums over the edges of a query are sums over neighbouring rows, which
`embedding_bag` adds without a copy. The gradient needs the same sums over the edges of a key;
`Edges.order` sorts them once.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from models.explaining.trace import OFF, Trace

SLOPE = 0.2  # of LeakyReLU below 0
KINDS = ("gat", "gatv2", "dot")


class Edges(NamedTuple):
    """The edges of a graph, in the order of their queries.

    query, key: (edge,). starts: the first edge of each query, and the number of edges, (node + 1,).
    order: the same edges in the order of their keys, (edge,). key_starts: as `starts`, for them.
    """

    query: Tensor
    key: Tensor
    starts: Tensor
    order: Tensor
    key_starts: Tensor

    @classmethod
    def build(cls, query: NDArray[Any], key: NDArray[Any], nodes: int) -> Self:
        """Sort edges among so many nodes. A pair that is given twice counts once."""
        pairs = np.unique(np.stack((query, key), 1).astype(np.int64), axis=0)
        query, key = pairs.T
        order = np.argsort(key, kind="stable")
        bounds = np.arange(nodes + 1)
        parts = (
            query,
            key,
            np.searchsorted(query, bounds),
            order,
            np.searchsorted(key[order], bounds),
        )
        return cls(*(torch.from_numpy(np.ascontiguousarray(part)) for part in parts))


def join_neighbours(pairs: NDArray[Any], nodes: int) -> Edges:
    """Return both directions of undirected pairs (pair, 2), and an edge from each node to itself.

    N(i) ∪ {i} of Veličković et al. (2018) are the keys of query i.
    """
    first, second = pairs.reshape(-1, 2).T
    itself = np.arange(nodes)
    return Edges.build(
        np.concatenate((first, second, itself)), np.concatenate((second, first, itself)), nodes
    )


class Words(NamedTuple):
    """A sparse matrix (node, word), and its transpose, each by rows.

    starts, words, share: the words of each node and their values. word_starts, nodes, word_share:
    the nodes of each word.
    """

    starts: Tensor
    words: Tensor
    share: Tensor
    word_starts: Tensor
    nodes: Tensor
    order: Tensor  # the entries in the order of their words

    @classmethod
    def build(cls, starts: NDArray[Any], words: NDArray[Any], count: int) -> Self:
        """Divide the words of each node by their number, so that rows sum to 1. count: all words
        there are."""
        lengths = np.diff(starts)
        order = np.argsort(words, kind="stable")
        parts = (
            starts.astype(np.int64),
            words.astype(np.int64),
            np.repeat(1 / np.maximum(lengths, 1), lengths).astype(np.float32),
            np.searchsorted(words[order], np.arange(count + 1)),
            np.repeat(np.arange(len(lengths)), lengths)[order],
            order,
        )
        return cls(*(torch.from_numpy(np.ascontiguousarray(part)) for part in parts))


def _sum_rows(starts: Tensor, rows: Tensor, values: Tensor, share: Tensor | None = None) -> Tensor:
    """Return, for each stretch of `rows`, the sum of these rows of `values`, each times its
    share."""
    flat = values.reshape(len(values), -1)
    result = F.embedding_bag(
        rows, flat, starts, mode="sum", per_sample_weights=share, include_last_offset=True
    )
    return result.view(len(starts) - 1, *values.shape[1:])


def _sum_heads(starts: Tensor, rows: Tensor, values: Tensor, weights: Tensor) -> Tensor:
    """Return Σ weights · values over each stretch, head by head: values (node, head, d_head),
    weights (edge, head)."""
    by_head = values.transpose(0, 1).contiguous(), weights.T.contiguous()
    return torch.stack(
        [_sum_rows(starts, rows, v, w) for v, w in zip(*by_head, strict=True)], dim=1
    )


class _MultiplyWords(torch.autograd.Function):
    """X W, with the gradient Xᵀ G of W."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, share: Tensor, words: Words) -> Tensor:
        """Return (node, output) of a matrix (word, output)."""
        ctx.share, ctx.words = share, words
        return _sum_rows(words.starts, words.words, matrix, share)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        """Return the gradient of the matrix."""
        words: Words = ctx.words
        share = ctx.share.index_select(0, words.order)
        return _sum_rows(words.word_starts, words.nodes, gradients[0], share), None, None


class _AddEnds(torch.autograd.Function):
    """left_i + right_j on every edge."""

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, edges: Edges) -> Tensor:
        """Return (edge, …) of two tensors (node, …)."""
        ctx.edges = edges
        return left.index_select(0, edges.query).add_(right.index_select(0, edges.key))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        """Return the sums of the gradients over the edges of each query and of each key."""
        edges: Edges = ctx.edges
        (gradient,) = gradients
        itself = torch.arange(len(gradient), device=gradient.device)
        return (
            _sum_rows(edges.starts, itself, gradient),
            _sum_rows(edges.key_starts, edges.order, gradient),
            None,
        )


def _normalise(scores: Tensor, edges: Edges) -> Tensor:
    """Return the softmax of scores (edge, head) over the edges of each query."""
    most = torch.segment_reduce(scores, "max", offsets=edges.starts, axis=0, unsafe=True)
    weights = (scores - most.index_select(0, edges.query)).exp_()
    itself = torch.arange(len(weights), device=weights.device)
    return weights.div_(_sum_rows(edges.starts, itself, weights).index_select(0, edges.query))


class _Attend(torch.autograd.Function):
    """h′_i = Σ_j α_ij v_j with α = softmax_j(scores)."""

    @staticmethod
    def forward(
        ctx: Any, scores: Tensor, values: Tensor, keep: Tensor | None, edges: Edges
    ) -> tuple[Tensor, Tensor]:
        """Return h′ (node, head, d_head) and α (edge, head). keep: a factor on each α, such as
        that of dropout."""
        weights = _normalise(scores, edges)
        used = weights if keep is None else weights * keep
        ctx.save_for_backward(weights, used, values)
        ctx.keep, ctx.edges = keep, edges
        ctx.mark_non_differentiable(weights)
        return _sum_heads(edges.starts, edges.key, values, used), weights

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        """Return the gradients of scores and values: dα = G_i · v_j, dv_j = Σ_i α_ij G_i, and
        ds = α (dα − Σ α dα)."""
        weights, used, values = ctx.saved_tensors
        edges: Edges = ctx.edges
        outer = gradients[0].index_select(0, edges.query)
        change = outer.mul_(values.index_select(0, edges.key)).sum(-1)
        change = change if ctx.keep is None else change.mul_(ctx.keep)
        itself = torch.arange(len(change), device=change.device)
        mean = _sum_rows(edges.starts, itself, weights * change)
        back = _sum_heads(
            edges.key_starts,
            edges.query.index_select(0, edges.order),
            gradients[0],
            used.index_select(0, edges.order),
        )
        return (change - mean.index_select(0, edges.query)).mul_(weights), back, None, None


def run(function: type[torch.autograd.Function], *arguments: object) -> Any:
    """Return the result of a function with a gradient of its own."""
    return function.apply(*arguments)  # type: ignore[no-untyped-call]


class GraphAttention(nn.Module):
    """Attention over the neighbours in a graph: h′_i = ‖_k Σ_j α_ij^k v_j^k + b, with α_i the
    softmax over j ∈ N(i) of the scores e_ij.

    gat: e_ij = LeakyReLU(a_lᵀ W h_i + a_rᵀ W h_j), v = W h (Veličković et al., 2018, eqs. 1–5).
    gatv2: e_ij = aᵀ LeakyReLU(W_l h_i + W_r h_j), v = W_r h (Brody et al., 2022, eq. 7).
    dot: e_ij = (W_l h_i) · (W_r h_j) / √d_head, v = W_r h.
    """

    def __init__(
        self, kind: str, inputs: int, heads: int, d_head: int, *, concat: bool = True
    ) -> None:
        super().__init__()
        self.kind, self.heads, self.d_head, self.concat = kind, heads, d_head, concat
        width = heads * d_head
        self.key = nn.Parameter(torch.empty(inputs, width))  # W, or W_r: (input, head · d_head)
        self.query = nn.Parameter(torch.empty(inputs, width)) if kind != "gat" else None
        ends = {"gat": 2, "gatv2": 1, "dot": 0}[kind]
        self.vector = nn.Parameter(torch.empty(ends, heads, d_head)) if ends else None
        self.bias = nn.Parameter(torch.zeros(width if concat else d_head))
        vectors = () if self.vector is None else tuple(self.vector)  # one matrix for each end
        for matrix in (self.key, *(() if self.query is None else (self.query,)), *vectors):
            nn.init.xavier_uniform_(matrix)

    def project(self, matrix: Tensor, x: Tensor | Words, share: Tensor | None) -> Tensor:
        """Return x W as (node, head, d_head)."""
        result = (
            x @ matrix
            if isinstance(x, Tensor)
            else run(_MultiplyWords, matrix, x.share if share is None else share, x)
        )
        return result.view(-1, self.heads, self.d_head)

    def score(self, key: Tensor, query: Tensor, edges: Edges) -> Tensor:
        """Return the scores e of every edge, (edge, head)."""
        if self.kind == "dot":
            pairs = query.index_select(0, edges.query) * key.index_select(0, edges.key)
            return pairs.sum(-1) / math.sqrt(self.d_head)
        assert self.vector is not None
        if self.kind == "gat":
            ends = (key * self.vector[0]).sum(-1), (key * self.vector[1]).sum(-1)
            return F.leaky_relu(run(_AddEnds, *ends, edges), SLOPE)
        added: Tensor = run(_AddEnds, query.flatten(1), key.flatten(1), edges)
        # One product with a matrix of blocks is faster than a product and a sum for each head.
        blocks: Tensor = torch.block_diag(*self.vector[0, :, :, None])  # type: ignore[no-untyped-call]
        return F.leaky_relu(added, SLOPE) @ blocks

    def forward(
        self,
        x: Tensor | Words,
        edges: Edges,
        *,
        share: Tensor | None = None,
        keep: Tensor | None = None,
        sharpness: float = 1.0,
        gain: Tensor | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Return (node, head · d_head), or (node, d_head) where heads are averaged.

        x: (node, input), dense or sparse. share: the values of sparse entries, after dropout.
        keep: a factor on every α, (edge, head). sharpness: a factor on every score; with 0, α is
        uniform. gain: a factor on each head, (head,); 0 silences it.

        Taps `scores` and `weights`, (edge, head), and `values`, (node, head, d_head).
        """
        key = self.project(self.key, x, share)
        query = key if self.query is None else self.project(self.query, x, share)
        scores = self.score(key, query, edges) * sharpness
        output: Tensor
        output, weights = run(_Attend, scores, key, keep, edges)
        trace.tap("scores", "edge head", scores)
        trace.tap("weights", "edge head", weights)
        trace.tap("values", "node head d_head", key)
        output = output if gain is None else output * gain[:, None]
        joined: Tensor = output.flatten(1) if self.concat else output.mean(1)
        return joined + self.bias
