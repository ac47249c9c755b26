"""Attention masks: True where a query may attend to a key."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def broadcast_key_mask(allowed: Tensor) -> Tensor:
    """Reshape (batch, key) bool to (batch, 1, 1, key): every head and query of a sentence may
    attend to the same keys."""
    return allowed[:, None, None, :]


def causal_mask(
    queries: Sequence[int] | int, keys: int, device: torch.device | None = None
) -> Tensor:
    """Return the mask (query, key) bool: query i, at position queries[i] (or i, given a count), may
    attend to keys up to its own position."""
    rows = (
        torch.arange(queries, device=device)
        if isinstance(queries, int)
        else torch.tensor(queries, device=device)
    )
    return torch.arange(keys, device=device)[None, :] <= rows[:, None]
