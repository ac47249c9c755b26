"""Scaled dot-product attention, with one head or many (Vaswani et al., 2017, §3.2)."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.explaining.trace import OFF, Trace
from models.layers.masks import causal_mask as causal_mask


def attention_weights(
    query: Tensor, key: Tensor, mask: Tensor | None = None, scale: float | None = None
) -> Tensor:
    """Return softmax(Q Kᵀ / √d_head) (Vaswani et al., 2017, eq. 1); rows sum to 1, or to 0 where a
    query may attend to nothing.

    query: (batch, head, query, d_head).
    key: (batch, head, key, d_head).
    mask: True where a query may attend; it broadcasts to the result, (batch, head, query, key).
    scale: the factor on scores in place of 1 / √d_head.
    """
    scores = (
        query / math.sqrt(query.shape[-1]) if scale is None else query * scale
    ) @ key.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill_(~mask, -math.inf)
    # A map of 2,048 positions has 16 MB: fetching new memory for it costs as much as the softmax,
    # which can write each row over its scores.
    weights = scores.softmax(-1) if scores.requires_grad else torch.softmax(scores, -1, out=scores)
    if mask is None:
        return weights
    blind = ~mask.any(-1, keepdim=True)
    return (
        weights.masked_fill(blind, 0.0)
        if weights.requires_grad
        else weights.masked_fill_(blind, 0.0)
    )


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    gain: Tensor | None = None,
    trace: Trace = OFF,
    causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """Return softmax(Q Kᵀ / √d_head) V, always by the fused kernel.

    query: (batch, head, query, d_head).
    key, value: (batch, head, key, d_head).
    mask: True where a query may attend; it broadcasts to (batch, head, query, key).
    causal: whether query i sees keys 0..i alone, by the kernel's own flag (then without a mask).
    gain: the factor on a head's output, (batch, head); 0 silences it, its softmax untouched.
    scale: the factor on scores in place of 1 / √d_head.

    Taps `weights` (batch, head, query, key), which are made only when a trace wants them, `queries`
    (batch, head, query, d_head), `keys` and `values` (batch, head, key, d_head).
    """
    if causal and mask is not None:
        raise ValueError("a causal pass takes no mask beside the kernel's own flag")
    output = F.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, is_causal=causal, scale=scale
    )
    if trace is not OFF:
        trace.tap("queries", "batch head query d_head", query)
        trace.tap("keys", "batch head key d_head", key)
        trace.tap("values", "batch head key d_head", value)
    if trace.wants("weights"):
        seen = causal_mask(query.shape[2], key.shape[2], query.device) if causal else mask
        trace.tap(
            "weights",
            "batch head query key",
            attention_weights(query, key, seen, scale),
            fresh=True,
        )
    return output if gain is None else output * gain[..., None, None]


class MultiHeadAttention(nn.Module):
    """Multi-head attention: MultiHead(Q, K, V) = Concat(head_1 … head_h) W_O with head_i =
    Attention(Q W_Q, K W_K, V W_V) (eq. 1 and §3.2.2).

    The three input projections are one matrix, (3 · d_model, d_model): queries, keys, values from
    the top.
    """

    def __init__(self, d_model: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model {d_model} is no multiple of {n_heads} heads")
        self.d_model = d_model
        self.n_heads = n_heads
        self.project_in = nn.Linear(d_model, 3 * d_model, bias=bias)
        self.project_out = nn.Linear(d_model, d_model)

    @property
    def weight_matrices(self) -> tuple[Tensor, ...]:
        """The matrices that make queries, keys and values, (d_model, d_model) each."""
        return self.project_in.weight.chunk(3)

    def split_heads(self, x: Tensor) -> Tensor:
        """Reshape (batch, position, d_model) to (batch, head, position, d_head)."""
        batch, length, _ = x.shape
        return x.view(batch, length, self.n_heads, -1).transpose(1, 2)

    def project_self(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return query, key and value of x, (batch, position, d_model), by one product; each is
        (batch, head, position, d_head)."""
        query, key, value = self.project_in(x).chunk(3, dim=-1)
        return self.split_heads(query), self.split_heads(key), self.split_heads(value)

    def project_query(self, x: Tensor) -> Tensor:
        """Return the queries of x: (batch, query, d_model) -> (batch, head, query, d_head)."""
        return self.split_heads(
            F.linear(
                x, self.project_in.weight[: self.d_model], self.project_in.bias[: self.d_model]
            )
        )

    def project_key_value(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Return key and value of `source`, (batch, key, d_model); each is (batch, head, key,
        d_head)."""
        bias = self.project_in.bias
        both = F.linear(
            source,
            self.project_in.weight[self.d_model :],
            None if bias is None else bias[self.d_model :],
        )
        key, value = both.chunk(2, dim=-1)
        return self.split_heads(key), self.split_heads(value)

    def join_heads(self, heads: Tensor) -> Tensor:
        """Return Concat(heads) W_O: (batch, head, position, d_head) -> (batch, position,
        d_model)."""
        batch, _, length, _ = heads.shape
        return self.project_out(heads.transpose(1, 2).reshape(batch, length, self.d_model))  # type: ignore[no-any-return]

    def forward(
        self, x: Tensor, source: Tensor | tuple[Tensor, Tensor] | None = None, **how: Any
    ) -> Tensor:
        """Let x attend to itself, or to `source`. Return (batch, query, d_model).

        x: (batch, query, d_model).
        source: (batch, key, d_model), or the keys and values that `project_key_value` made of it.
        mask, gain, causal, scale: as in `attend`, with its taps.
        """
        if source is None:
            query, key, value = self.project_self(x)
        else:
            query, (key, value) = (
                self.project_query(x),
                self.project_key_value(source) if isinstance(source, Tensor) else source,
            )
        return self.join_heads(attend(query, key, value, **how))
