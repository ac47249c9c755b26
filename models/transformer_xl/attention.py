"""The attention of Transformer-XL (Dai et al., 2019, §3.3): content and distance score apart, each with a bias that no query can change."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models.layers.attention import MultiHeadAttention
from models.layers.relative import relative_attention
from models.trace import OFF, Trace


class XLAttention(MultiHeadAttention):
    """A_ij = (q_i + u)ᵀ k_j + (q_i + v)ᵀ W_{k,R} R_{i−j}, softmax(A / √d_head) V (Dai et al., 2019, §3.3).

    The three projections of what was read, W_q, W_{k,E} and W_v, are one matrix, (3 · d_model, d_model), from the top.
    R_{i−j} are sinusoids of a distance; W_{k,R} makes them keys, so that the network learns what a distance means to it.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__(d_model, n_heads, bias=False)
        self.project_distance = nn.Linear(d_model, d_model, bias=False)
        self._modules["project_out"] = self._modules.pop("project_out")  # optimizers of stopped runs know parameters by their order
        self.u = nn.Parameter(torch.zeros(n_heads, 1, d_model // n_heads))
        self.v = nn.Parameter(torch.zeros(n_heads, 1, d_model // n_heads))

    @property
    def matrices(self) -> tuple[Tensor, ...]:
        """W_q, W_{k,E}, W_v and W_{k,R}."""
        return (*super().matrices, self.project_distance.weight)

    def table(self, distances: Tensor) -> Tensor:
        """W_{k,R} R: sinusoids of distances 0, 1, …, (distance, d_model) -> (head, distance, d_head)."""
        return self.split(self.project_distance(distances)[None])[0]

    def heads(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        table: Tensor,
        window: int | None = None,
        gain: Tensor | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """query: (batch, head, query, d_head); key, value: (batch, head, key, d_head), the last query at the last key.

        table: (head, distance, d_head) of `table`; distances beyond it count as its last. window: how many keys a query sees at most, its
        own among them. Result like query. Taps `keys`, and `queries` with u added, as in `relative_attention`.
        """
        u, v = self.u.to(query.dtype), self.v.to(query.dtype)  # parameters are single precision where training computes in bfloat16
        return relative_attention(query + u, key, value, table, gain, trace, query + v, window)
