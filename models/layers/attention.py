"""Scaled dot-product attention, with one head or many (Vaswani et al., 2017, §3.2)."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.layers.masks import causal as causal_mask
from models.trace import OFF, Trace


def attention_weights(query: Tensor, key: Tensor, mask: Tensor | None = None, scale: float | None = None) -> Tensor:
    """softmax(Q Kᵀ / √d_head) (Vaswani et al., 2017, eq. 1); rows sum to 1, or to 0 where a query may attend to nothing.

    query: (batch, head, query, d_head); key: (batch, head, key, d_head); mask broadcasts to the result, (batch, head, query, key).
    scale: what scores are multiplied by in place of 1 / √d_head.
    """
    scores = (query / math.sqrt(query.shape[-1]) if scale is None else query * scale) @ key.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill_(~mask, -math.inf)
    # A map of 2,048 positions has 16 MB: fetching new memory for it costs as much as the softmax, which is row by row its own place.
    weights = scores.softmax(-1) if scores.requires_grad else torch.softmax(scores, -1, out=scores)
    if mask is None:
        return weights
    blind = ~mask.any(-1, keepdim=True)
    return weights.masked_fill(blind, 0.0) if weights.requires_grad else weights.masked_fill_(blind, 0.0)


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
    """softmax(Q Kᵀ / √d_head) V, always by the fused kernel.

    query: (batch, head, query, d_head); key and value: (batch, head, key, d_head).
    mask: True where a query may attend; it broadcasts to (batch, head, query, key). causal: query i sees keys 0..i, by the
    kernel's own flag (then without a mask).
    gain: (batch, head), what a head's output is multiplied by; 0 silences it, its softmax untouched.
    scale: what scores are multiplied by in place of 1 / √d_head.
    Taps `weights` (batch, head, query, key), which are never made unasked.
    Taps `queries` (batch, head, query, d_head), `keys` and `values` (batch, head, key, d_head).
    """
    if causal and mask is not None:
        raise ValueError("a causal pass takes no mask beside the kernel's own flag")
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=causal, scale=scale)
    if trace is not OFF:
        trace.tap("queries", "batch head query d_head", query)
        trace.tap("keys", "batch head key d_head", key)
        trace.tap("values", "batch head key d_head", value)
    if trace.wants("weights"):
        seen = causal_mask(query.shape[2], key.shape[2], query.device) if causal else mask
        trace.tap("weights", "batch head query key", attention_weights(query, key, seen, scale), fresh=True)
    return output if gain is None else output * gain[..., None, None]


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1 … head_h) W_O with head_i = Attention(Q W_Q, K W_K, V W_V) (eq. 1 and §3.2.2).

    The three input projections are one matrix, (3 · d_model, d_model): queries, keys, values from the top.
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
    def matrices(self) -> tuple[Tensor, ...]:
        """What makes queries, keys and values, (d_model, d_model) each."""
        return self.project_in.weight.chunk(3)

    def split(self, x: Tensor) -> Tensor:
        """(batch, position, d_model) -> (batch, head, position, d_head)."""
        batch, length, _ = x.shape
        return x.view(batch, length, self.n_heads, -1).transpose(1, 2)

    def self_projections(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x: (batch, position, d_model) -> query, key, value, each (batch, head, position, d_head), by one product."""
        query, key, value = self.project_in(x).chunk(3, dim=-1)
        return self.split(query), self.split(key), self.split(value)

    def query(self, x: Tensor) -> Tensor:
        """x: (batch, query, d_model) -> (batch, head, query, d_head)."""
        return self.split(F.linear(x, self.project_in.weight[: self.d_model], self.project_in.bias[: self.d_model]))

    def key_value(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """source: (batch, key, d_model) -> key and value, each (batch, head, key, d_head)."""
        bias = self.project_in.bias
        both = F.linear(source, self.project_in.weight[self.d_model :], None if bias is None else bias[self.d_model :])
        key, value = both.chunk(2, dim=-1)
        return self.split(key), self.split(value)

    def join(self, heads: Tensor) -> Tensor:
        """Concat(heads) W_O: (batch, head, position, d_head) -> (batch, position, d_model)."""
        batch, _, length, _ = heads.shape
        return self.project_out(heads.transpose(1, 2).reshape(batch, length, self.d_model))  # type: ignore[no-any-return]

    def forward(self, x: Tensor, source: Tensor | tuple[Tensor, Tensor] | None = None, **how: Any) -> Tensor:
        """x: (batch, query, d_model) attends to itself, or to source (batch, key, d_model). Result (batch, query, d_model).

        source: also what `key_value` made of it. mask, gain, causal, scale and the taps as in `attend`.
        """
        if source is None:
            query, key, value = self.self_projections(x)
        else:
            query, (key, value) = self.query(x), self.key_value(source) if isinstance(source, Tensor) else source
        return self.join(attend(query, key, value, **how))
