"""Factors on the output of each head, which silence the heads that a visitor switches off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def build_head_gains(requests: Sequence[Any], of: str, model: Any) -> Tensor | None:
    """Return the factors, (layer, request, head), 0 where a request silences a head of this model
    and else 1; None where no request silences any.

    requests: with `silenced`, (model, layer, head) of each. A head that does not exist is passed
        over.
    """
    layers, heads = model.config.n_layers, model.config.n_heads
    named = [
        (row, at, head)
        for row, one in enumerate(requests)
        for name, at, head in one.silenced
        if name == of
    ]
    told = [(row, at, head) for row, at, head in named if at < layers and head < heads]
    if not told:
        return None
    found = torch.ones(layers, len(requests), heads)
    for row, at, head in told:
        found[at, row, head] = 0
    return found.to(next(model.parameters()).device)
