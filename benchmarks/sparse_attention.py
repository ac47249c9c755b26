"""Sparse attention, gathered in blocks, beside fused dense attention and beside the same patterns as dense masks, float32, forward.

Length 4,096, width 512, 8 heads, one sequence, stride 64, 8 summary columns: one head's map has 8.4 million causal pairs; the factors have
264,000 (row), 133,000 (column), 133,000 (block) and 1.03 million (summary). The two factors are split over heads (Child et al., 2019,
§5.1): as much work for two layers as an interleaved pair of them does.
strided_vs_dense_ratio, fixed_vs_dense_ratio: the fused causal kernel's time over ours, without gradients.
strided_vs_masked_ratio, fixed_vs_masked_ratio: the same kernel's with the pattern as a mask, over ours.
*_merged_vs_dense_ratio: every head with both factors, where the two parts share one softmax.
*_backward_vs_dense_ratio: forward and backward, split.
growth_exponent: slope of log time over log length, 1,024 … 16,384, strided, the stride the root of the length: 1.5 is O(L √L), dense has 2.
extra_mb: the profiler's peak of one forward pass, strided, in a fresh process, the result (8.4 MB) included.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.measure import Bound, Report, both_ways, fresh, interleaved, median, peak_bytes, ratio, slope
from models.layers.patterns import Pattern
from models.layers.sparse import sparse_attention

LENGTH, HEADS, D_HEAD = 4096, 8, 64
STRIDE, SUMMARY = 64, 8
LENGTHS = (1024, 4096, 16384)  # squares: the stride is the root
Side = Callable[[], Tensor]


def inputs(length: int, device: torch.device, gradient: bool = False) -> list[Tensor]:
    """Random query, key, value, each (1, head, position, d_head)."""
    return [torch.randn(1, HEADS, length, D_HEAD, device=device, requires_grad=gradient) for _ in range(3)]


def ours(kind: str, use: str, three: list[Tensor], stride: int = STRIDE, summary: int = SUMMARY) -> Side:
    """One layer of a pattern, gathered."""
    heads = Pattern(kind, stride, summary).of_heads(use, 0, HEADS)
    query, key, value = three
    return lambda: sparse_attention(query, key, value, heads)


def dense(three: list[Tensor]) -> Side:
    """The fused causal kernel."""
    query, key, value = three
    return lambda: F.scaled_dot_product_attention(query, key, value, is_causal=True)


def masked(kind: str, three: list[Tensor]) -> Side:
    """The fused kernel with each factor as a mask that half of the heads share, made beforehand."""
    query, key, value = three
    pattern, half = Pattern(kind, STRIDE, SUMMARY), HEADS // 2
    masks = [torch.from_numpy(factor.allowed(query.shape[2])).to(query.device) for factor in (pattern.first, pattern.second)]

    def side() -> Tensor:
        parts = ((masks[0], slice(None, half)), (masks[1], slice(half, None)))
        return torch.cat([F.scaled_dot_product_attention(query[:, s], key[:, s], value[:, s], attn_mask=mask) for mask, s in parts], 1)

    return side


def growth(device: torch.device) -> tuple[float, list[float]]:
    """Slope of log time over log length by least squares, and the times in milliseconds."""
    sides = {str(n): ours("strided", "split", inputs(n, device), math.isqrt(n), 1) for n in LENGTHS}
    with torch.no_grad():
        times = [median(seconds) for seconds in interleaved(sides, device, calls=2).values()]
    return slope(LENGTHS, times), [t * 1e3 for t in times]


def _extra(device: str) -> int:
    """In a fresh process."""
    side = ours("strided", "split", inputs(LENGTH, torch.device(device)))
    with torch.no_grad():
        return peak_bytes(side, torch.device(device))


def measure(device: torch.device) -> Report:
    """All figures of this benchmark."""
    torch.manual_seed(1)
    three = inputs(LENGTH, device)
    kinds = ("strided", "fixed")
    quick: dict[str, Side] = {"dense": dense(three)}
    quick |= {kind: ours(kind, "split", three) for kind in kinds}
    quick |= {f"{kind}_merged": ours(kind, "merged", three) for kind in kinds}
    slow = {f"{kind}_masked": masked(kind, three) for kind in kinds}
    with torch.no_grad():
        for kind in kinds:
            some = slice(STRIDE - SUMMARY, None)  # before the first summary column the fixed A2 has no key
            torch.testing.assert_close(quick[kind]()[:, :, some], slow[f"{kind}_masked"]()[:, :, some], atol=1e-4, rtol=1e-4)
        times = interleaved({**quick, **slow}, device)
    leaves = inputs(LENGTH, device, gradient=True)
    trained = {kind: both_ways(ours(kind, "split", leaves), leaves) for kind in kinds} | {"dense": both_ways(dense(leaves), leaves)}
    backward = interleaved(trained, device, rounds=3)
    exponent, per_length = growth(device)
    figures = {f"{name}_ms": median(seconds) * 1e3 for name, seconds in times.items()}
    figures |= {f"{name}_forward_backward_ms": median(seconds) * 1e3 for name, seconds in backward.items()}
    figures |= {f"strided_{length}_ms": found for length, found in zip(LENGTHS, per_length, strict=True)}
    for kind in kinds:
        figures[f"{kind}_vs_dense_ratio"] = ratio(times, "dense", kind)
        figures[f"{kind}_vs_masked_ratio"] = ratio(times, f"{kind}_masked", kind)
        figures[f"{kind}_merged_vs_dense_ratio"] = ratio(times, "dense", f"{kind}_merged")
        figures[f"{kind}_backward_vs_dense_ratio"] = ratio(backward, "dense", kind)
    figures |= {"extra_mb": fresh(_extra, str(device)) / 1e6, "growth_exponent": exponent}
    bounds = {
        "strided_vs_dense_ratio": Bound(11.0, at_least=True),
        "fixed_vs_dense_ratio": Bound(7.5, at_least=True),
        "strided_vs_masked_ratio": Bound(22.0, at_least=True),
        "fixed_vs_masked_ratio": Bound(4.5, at_least=True),
        "growth_exponent": Bound(1.6),
    }
    notes = {
        "split": f"half of the heads attend with each factor; stride {STRIDE}, {SUMMARY} summary columns",
        "masked": "the library's fused attention with the pattern as a dense mask: every pair computed",
    }
    return Report(figures, bounds, notes)
