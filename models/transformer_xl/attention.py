"""The attention of Transformer-XL (Dai et al., 2019, §3.3): separate scores of content and
distance, each with a bias that does not depend on the query."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models.explaining.trace import OFF, Trace
from models.layers.attention import MultiHeadAttention
from models.layers.relative import relative_attention


class XLAttention(MultiHeadAttention):
    """The attention A_ij = (q_i + u)ᵀ k_j + (q_i + v)ᵀ W_{k,R} R_{i−j}, softmax(A / √d_head) V (Dai
    et al., 2019, §3.3).

    The three projections of the input, W_q, W_{k,E} and W_v, are one matrix, (3 · d_model,
    d_model), from the top. R_{i−j} are sinusoids of a distance; W_{k,R} turns them into keys, so
    that the network learns the meaning of each distance.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__(d_model, n_heads, bias=False)
        self.project_distance = nn.Linear(d_model, d_model, bias=False)
        # Optimizers of stopped runs identify parameters by their order.
        self._modules["project_out"] = self._modules.pop("project_out")
        self.u = nn.Parameter(torch.zeros(n_heads, 1, d_model // n_heads))
        self.v = nn.Parameter(torch.zeros(n_heads, 1, d_model // n_heads))

    @property
    def weight_matrices(self) -> tuple[Tensor, ...]:
        """The matrices W_q, W_{k,E}, W_v and W_{k,R}."""
        return (*super().weight_matrices, self.project_distance.weight)

    def table(self, distances: Tensor) -> Tensor:
        """Return W_{k,R} R, (head, distance, d_head).

        distances: sinusoids of distances 0, 1, …, (distance, d_model).
        """
        return self.split_heads(self.project_distance(distances)[None])[0]

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
        """Return the output of the heads, in the shape of query.

        query: (batch, head, query, d_head). key, value: (batch, head, key, d_head); the last query
        is at the last key. table: as returned by `table`, (head, distance, d_head); farther
        distances count as its last. window: the most keys of a query, its own included. The taps
        are `keys`, and `queries` with u added, as in `relative_attention`.
        """
        # Parameters are in single precision when training computes in bfloat16.
        u, v = self.u.to(query.dtype), self.v.to(query.dtype)
        return relative_attention(query + u, key, value, table, gain, trace, query + v, window)
