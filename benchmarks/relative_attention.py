"""Relative attention in blocks beside the direct formula, plain skewing and fused attention without
the relative term, float32.

Length 2,048, width 512, 8 heads, one sequence, as many distances as positions: the sizes of Huang
et al. (2018), table 1.
vs_direct_ratio, vs_skew_ratio: their time over ours, forward, without gradients.
backward_vs_skew_ratio: forward and backward.
vs_fused_without_ratio: ours over the library's fused causal attention, which has no relative term
    to compute.
vs_floor_ratio: ours over a floor, the batched products of our blocks alone, Q Kᵀ, Q E_rᵀ and
    weights · V, with no view, softmax or mask.
extra_mb, skew_mb, direct_mb: the profiler's peak of one forward pass in a fresh process, the result
    (4.2 MB) included.
growth_exponent: slope of log memory over log length of ours, 1,024 … 8,192. The paper's O(L D) is
    1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.measure import (
    D_HEAD,
    HEADS,
    Bound,
    Figure,
    Report,
    both_ways,
    fresh,
    heads,
    median,
    peak_bytes,
    ratio,
    slope,
    time_in_turns,
)
from benchmarks.sizes import size
from models.layers.relative import (
    BLOCK,
    attend_by_definition,
    attend_by_skewing,
    relative_attention,
)

LENGTH = size(2048, 128)
LENGTHS = size((1024, 2048, 4096, 8192), (128, 256))
WAYS: dict[str, Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]] = {
    "ours": relative_attention,
    "skew": attend_by_skewing,
    "direct": attend_by_definition,
}


def inputs(length: int, device: torch.device, gradient: bool = False) -> list[Tensor]:
    """Return random query, key, value, each (1, head, position, d_head), and E_r (head, distance,
    d_head)."""
    return [
        *heads(3, length, device, gradient),
        torch.randn(HEADS, length, D_HEAD, device=device, requires_grad=gradient),
    ]


def floor(device: torch.device) -> Callable[[], object]:
    """Return the products alone, into memory that is there already."""
    sides = []
    for end in range(BLOCK, LENGTH + 1, BLOCK):
        made = [
            torch.randn(HEADS, *shape, device=device)
            for shape in ((BLOCK, D_HEAD), (D_HEAD, end), (D_HEAD, end), (end, D_HEAD))
        ]
        sides.append((*made, torch.empty(HEADS, BLOCK, D_HEAD, device=device)))
    room = (
        torch.empty(HEADS * BLOCK * LENGTH, device=device),
        torch.empty(HEADS * BLOCK * LENGTH, device=device),
    )

    def products() -> None:
        for query, key, distance, value, output in sides:
            end = key.shape[2]
            scores, relative = (one[: HEADS * BLOCK * end].view(HEADS, BLOCK, end) for one in room)
            torch.bmm(query, key, out=scores)
            torch.bmm(query, distance, out=relative)
            torch.bmm(scores, value, out=output)

    return products


def _peak(way: str, length: int, device: str) -> int:
    """Return the profiler's peak of one forward pass, in bytes. Call it in a fresh process."""
    four = inputs(length, torch.device(device))
    with torch.no_grad():
        return peak_bytes(lambda: WAYS[way](*four), torch.device(device))


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    torch.manual_seed(1)
    query, key, value, table = inputs(LENGTH, device)
    forward: dict[str, Callable[[], Tensor]] = {
        "ours": lambda: relative_attention(query, key, value, table),
        "skew": lambda: attend_by_skewing(query, key, value, table),
        "fused_without": lambda: F.scaled_dot_product_attention(query, key, value, is_causal=True),
    }
    with torch.no_grad():
        torch.testing.assert_close(forward["ours"](), forward["skew"](), atol=1e-4, rtol=1e-4)
        times = time_in_turns({**forward, "floor": floor(device)}, device)
        pairs = time_in_turns(
            {"direct": lambda: attend_by_definition(query, key, value, table)}, device, rounds=1
        )
    leaves = inputs(LENGTH, device, gradient=True)
    trained = time_in_turns(
        {name: both_ways(partial(WAYS[name], *leaves), leaves) for name in ("ours", "skew")}, device
    )
    peaks = [fresh(_peak, "ours", length, str(device)) for length in LENGTHS]
    figures: dict[str, Figure] = {
        f"{name}_ms": median(seconds) * 1e3 for name, seconds in {**times, **pairs}.items()
    }
    figures |= {
        f"{name}_forward_backward_ms": median(seconds) * 1e3 for name, seconds in trained.items()
    }
    figures |= {
        "vs_direct_ratio": median(pairs["direct"]) / median(times["ours"]),
        "vs_skew_ratio": (ratio(times, "skew", "ours"), Bound(4.0, at_least=True)),
        "backward_vs_skew_ratio": (ratio(trained, "skew", "ours"), Bound(2.5, at_least=True)),
        "vs_fused_without_ratio": (ratio(times, "ours", "fused_without"), Bound(2.2)),
        "vs_floor_ratio": (ratio(times, "ours", "floor"), Bound(1.4)),
        "extra_mb": (peaks[LENGTHS.index(LENGTH)] / 1e6, Bound(30)),
        "skew_mb": fresh(_peak, "skew", LENGTH, str(device)) / 1e6,
        "direct_mb": fresh(_peak, "direct", LENGTH, str(device)) / 1e6,
        "growth_exponent": slope(LENGTHS, peaks),
    }
    return Report.of(figures)
