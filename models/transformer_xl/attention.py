"""The attention of Transformer-XL (Dai et al., 2019, §3.3): content and distance score apart, each with a bias that no query can change."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.layers.relative import relative_attention
from models.trace import OFF, Trace


@dataclass(frozen=True)
class Terms:
    """The four terms of the score of every query for every key, (batch, head, query, key) each, before they are divided by √d_head.

    content: (a) q_i · k_j. position: (b) q_i · W_{k,R} R_{i−j}. global_content: (c) u · k_j. global_position: (d) v · W_{k,R} R_{i−j}.
    """

    content: Tensor
    position: Tensor
    global_content: Tensor
    global_position: Tensor

    @property
    def scores(self) -> Tensor:
        """A_ij = (a) + (b) + (c) + (d), −∞ where the key comes after the query; divided by √d_head nowhere."""
        whole = self.content + self.position + self.global_content + self.global_position
        queries, keys = whole.shape[2:]
        later = torch.ones(queries, keys, dtype=torch.bool, device=whole.device).triu(keys - queries + 1)
        return whole.masked_fill(later, -math.inf)


class XLAttention(nn.Module):
    """A_ij = (q_i + u)ᵀ k_j + (q_i + v)ᵀ W_{k,R} R_{i−j}, softmax(A / √d_head) V (Dai et al., 2019, §3.3).

    The three projections of what was read, W_q, W_{k,E} and W_v, are one matrix, (3 · d_model, d_model), from the top.
    R_{i−j} are sinusoids of a distance; W_{k,R} makes them keys, so that the network learns what a distance means to it.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model {d_model} is no multiple of {n_heads} heads")
        self.d_model, self.n_heads = d_model, n_heads
        self.project_in = nn.Linear(d_model, 3 * d_model, bias=False)
        self.project_distance = nn.Linear(d_model, d_model, bias=False)
        self.project_out = nn.Linear(d_model, d_model)
        self.u = nn.Parameter(torch.zeros(n_heads, 1, d_model // n_heads))
        self.v = nn.Parameter(torch.zeros(n_heads, 1, d_model // n_heads))

    def split(self, x: Tensor) -> Tensor:
        """(batch, position, d_model) -> (batch, head, position, d_head)."""
        return x.view(*x.shape[:2], self.n_heads, -1).transpose(1, 2)

    def projections(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x: (batch, position, d_model) -> query, key, value, each (batch, head, position, d_head)."""
        query, key, value = self.project_in(x).chunk(3, dim=-1)
        return self.split(query), self.split(key), self.split(value)

    def key_value(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The last two of these alone."""
        key, value = F.linear(x, self.project_in.weight[self.d_model :]).chunk(2, dim=-1)
        return self.split(key), self.split(value)

    def table(self, distances: Tensor) -> Tensor:
        """W_{k,R} R: sinusoids of distances 0, 1, …, (distance, d_model) -> (head, distance, d_head)."""
        return self.split(self.project_distance(distances)[None])[0]

    def join(self, heads: Tensor) -> Tensor:
        """Concat(heads) W_O: (batch, head, position, d_head) -> (batch, position, d_model)."""
        return self.project_out(heads.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]

    def forward(self, query: Tensor, key: Tensor, value: Tensor, table: Tensor, window: int | None = None, trace: Trace = OFF) -> Tensor:
        """query: (batch, head, query, d_head); key, value: (batch, head, key, d_head), the last query at the last key.

        table: (head, distance, d_head) of `table`; distances beyond it count as its last. window: how many keys a query sees at most, its
        own among them. Result (batch, query, d_model). Taps `keys`, and `queries` with u added, as in `relative_attention`.
        """
        return self.join(relative_attention(query + self.u, key, value, table, None, trace, query + self.v, window))

    def terms(self, query: Tensor, key: Tensor, table: Tensor) -> Terms:
        """The four terms pair by pair, written out: what the blocks of `relative_attention` never hold at once. Shapes as in `forward`."""
        queries, keys = query.shape[2], key.shape[2]
        place = torch.arange(keys, device=query.device)
        index = (place[keys - queries :, None] - place).clamp(0, table.shape[1] - 1)  # (query, key) i − j
        by_distance = (query @ table.transpose(1, 2)).gather(3, index.expand(*query.shape[:2], queries, keys))
        everywhere = (self.v @ table.transpose(1, 2)).expand(-1, queries, -1).gather(2, index.expand(self.n_heads, queries, keys))
        return Terms(
            content=query @ key.transpose(2, 3),
            position=by_distance,
            global_content=(self.u @ key.transpose(2, 3)).expand(-1, -1, queries, -1),
            global_position=everywhere.expand_as(by_distance),
        )
