"""The difference between a K × K convolution and K² heads of self-attention (Cordonnier et al.,
2020, theorem 1).

max_error: the largest difference between the edge filter of K = 3 and nine heads at the largest α,
    32, over the first picture of the cost laboratory, whose pixels lie in [0, 1].
max_error_5: the same for K = 5.
max_error_random: the same for a random filter.
error_alpha_N: the same for K = 3 at α = N. All in float64, as the laboratory computes it.
max_error_float32: the same in float32, with the rounding of its softmax.
"""

from __future__ import annotations

import torch
from torch.nn import functional as F

from benchmarks.measure import Bound, Report
from models.cost.model import convolution, from_heads, picture, projections, taps
from models.cost.records import ALPHAS, SIDE, Request
from models.layers.attention import attend


def max_error(kernel: int = 3, alpha: float = ALPHAS[-1], name: str = "edge") -> float:
    """Return the largest difference between a filter and its heads on the first picture."""
    image, weights = picture(Request("heads")), taps(name, kernel)
    return float((from_heads(image, weights, alpha) - convolution(image, weights)).abs().max())


def in_float32() -> float:
    """Return the error of nine heads that compute in float32."""
    image, weights = picture(Request("heads")).float(), taps("edge", 3).float()
    query, key = (x.float() for x in projections(SIDE, 3, ALPHAS[-1]))
    value = F.pad(image, (1, 1, 1, 1)).flatten()[None, None, :, None].expand(1, 9, -1, 1)
    heads = attend(query[None], key[None, None].expand(1, 9, -1, -1), value, scale=1.0)
    made = (heads[0, :, :, 0] * weights.flatten()[:, None]).sum(0).view(SIDE, SIDE)
    return float((made - convolution(image, weights)).abs().max())


@torch.no_grad()
def measure(_device: torch.device) -> Report:
    """Measure all figures of this benchmark. They are the same on every device."""
    image, weights = picture(Request("heads")), taps("edge", 3)
    figures = {
        "max_error": max_error(),
        "max_error_5": max_error(5),
        "max_error_random": max_error(3, name="random"),
        "max_error_float32": in_float32(),
    }
    true = convolution(image, weights)
    figures |= {
        f"error_alpha_{alpha:g}": float((from_heads(image, weights, alpha) - true).abs().max())
        for alpha in ALPHAS
    }
    return Report(figures, {"max_error": Bound(1e-4)}, {"goal": "1e-6"})
