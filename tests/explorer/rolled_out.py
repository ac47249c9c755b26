"""What attention through all layers comes to, worked out again beside the browser's own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.figures.attention import Array, Kind


def rollout(kind: Kind, beneath: Kind | None = None) -> Array:
    """How much of each key arrives at each query through all layers; (query, key).

    Self-attention (Abnar and Zuidema, 2020): Ā = ½ mean over heads of A + ½ I in every layer, rows
    made to sum to 1, multiplied from the first layer to the last. Cross-attention has no path of
    its own: the mean over layers and heads, times the rollout of the `beneath` kind that its keys
    come from.
    """
    weights = kind.weights.astype(np.float64)
    if not kind.is_self_attention:
        mean: NDArray[np.float64] = weights.mean((0, 1))
        return np.asarray(mean @ rollout(beneath) if beneath is not None else mean, np.float32)
    through: NDArray[np.float64] = np.eye(weights.shape[2])
    for layer in weights.mean(1):
        mixed = 0.5 * layer + 0.5 * np.eye(len(layer))
        through = mixed / mixed.sum(1, keepdims=True) @ through
    return np.asarray(through, np.float32)
