"""Sparse attention, gathered in blocks, beside fused dense attention and beside the same patterns
as dense masks, float32, forward.

Length 4,096, width 512, 8 heads, one sequence, stride 64, 8 summary columns: one head's map has 8.4
million causal pairs; the factors have 264,000 (row), 133,000 (column), 133,000 (block) and 1.03
million (summary). The two factors are split over heads (Child et al., 2019, §5.1), which is as much
work for two layers as an interleaved pair of them does.
strided_vs_dense_ratio, fixed_vs_dense_ratio: the fused causal kernel's time over ours, without
    gradients.
strided_vs_masked_ratio, fixed_vs_masked_ratio: the same kernel's with the pattern as a mask, over
    ours.
*_merged_vs_dense_ratio: every head with both factors, where the two parts share one softmax.
*_backward_vs_dense_ratio: forward and backward, split.
growth_exponent: slope of log time over log length, 1,024 … 16,384, strided, the stride the root of
    the length. 1.5 is O(L √L), dense has 2.
extra_mb: the profiler's peak of one forward pass, strided, in a fresh process, the result (8.4 MB)
    included.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.measure import (
    HEADS,
    Bound,
    Figure,
    Report,
    both_ways,
    fresh,
    growth,
    heads,
    median,
    peak_bytes,
    ratio,
    time_in_turns,
)
from benchmarks.sizes import size
from models.layers.patterns import Pattern
from models.layers.sparse import sparse_attention

LENGTH = size(4096, 256)
STRIDE, SUMMARY = size((64, 8), (16, 2))
LENGTHS = size((1024, 4096, 16384), (64, 256))  # squares: the stride is the root
Side = Callable[[], Tensor]


def build_ours(
    kind: str, use: str, three: list[Tensor], stride: int = STRIDE, summary: int = SUMMARY
) -> Side:
    """Build one layer of a pattern, gathered."""
    heads = Pattern(kind, stride, summary).assign_heads(use, 0, HEADS)
    query, key, value = three
    return lambda: sparse_attention(query, key, value, heads)


def dense(three: list[Tensor]) -> Side:
    """Build the fused causal kernel."""
    query, key, value = three
    return lambda: F.scaled_dot_product_attention(query, key, value, is_causal=True)


def build_masked(kind: str, three: list[Tensor]) -> Side:
    """Build the fused kernel with each factor as a mask that half of the heads share, made
    beforehand."""
    query, key, value = three
    pattern, half = Pattern(kind, STRIDE, SUMMARY), HEADS // 2
    masks = [
        torch.from_numpy(factor.build_mask(query.shape[2])).to(query.device)
        for factor in (pattern.first_factor, pattern.second_factor)
    ]

    def side() -> Tensor:
        parts = ((masks[0], slice(None, half)), (masks[1], slice(half, None)))
        return torch.cat(
            [
                F.scaled_dot_product_attention(query[:, s], key[:, s], value[:, s], attn_mask=mask)
                for mask, s in parts
            ],
            1,
        )

    return side


def _extra(device: str) -> int:
    """Return the profiler's peak of one forward pass. Call it in a fresh process."""
    side = build_ours("strided", "split", heads(3, LENGTH, torch.device(device)))
    with torch.no_grad():
        return peak_bytes(side, torch.device(device))


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    torch.manual_seed(1)
    three = heads(3, LENGTH, device)
    kinds = ("strided", "fixed")
    quick: dict[str, Side] = {"dense": dense(three)}
    quick |= {kind: build_ours(kind, "split", three) for kind in kinds}
    quick |= {f"{kind}_merged": build_ours(kind, "merged", three) for kind in kinds}
    slow = {f"{kind}_masked": build_masked(kind, three) for kind in kinds}
    with torch.no_grad():
        for kind in kinds:
            # before the first summary column the fixed A2 has no key
            some = slice(STRIDE - SUMMARY, None)
            torch.testing.assert_close(
                quick[kind]()[:, :, some],
                slow[f"{kind}_masked"]()[:, :, some],
                atol=1e-4,
                rtol=1e-4,
            )
        times = time_in_turns({**quick, **slow}, device)
    leaves = heads(3, LENGTH, device, gradient=True)
    trained = {kind: both_ways(build_ours(kind, "split", leaves), leaves) for kind in kinds} | {
        "dense": both_ways(dense(leaves), leaves)
    }
    backward = time_in_turns(trained, device, rounds=3)
    lengths = {
        n: build_ours("strided", "split", heads(3, n, device), math.isqrt(n), 1) for n in LENGTHS
    }
    figures: dict[str, Figure] = {
        f"{name}_ms": median(seconds) * 1e3 for name, seconds in times.items()
    }
    figures |= {
        f"{name}_forward_backward_ms": median(seconds) * 1e3 for name, seconds in backward.items()
    }
    figures |= growth("strided", lengths, device, 1.6, calls=2)
    for kind, over_dense, over_masked in (("strided", 11.0, 22.0), ("fixed", 7.5, 4.5)):
        figures[f"{kind}_vs_dense_ratio"] = (
            ratio(times, "dense", kind),
            Bound(over_dense, at_least=True),
        )
        figures[f"{kind}_vs_masked_ratio"] = (
            ratio(times, f"{kind}_masked", kind),
            Bound(over_masked, at_least=True),
        )
        figures[f"{kind}_merged_vs_dense_ratio"] = ratio(times, "dense", f"{kind}_merged")
        figures[f"{kind}_backward_vs_dense_ratio"] = ratio(backward, "dense", kind)
    figures["extra_mb"] = fresh(_extra, str(device)) / 1e6
    notes = {
        "split": (
            f"half of the heads attend with each factor; stride {STRIDE}, {SUMMARY} summary columns"
        ),
        "masked": (
            "the library's fused attention with the pattern as a dense mask: every pair computed"
        ),
    }
    return Report.of(figures, notes)
