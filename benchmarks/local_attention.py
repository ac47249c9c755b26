"""Local attention in blocks beside the `local-attention` package and beside fused attention under a
dense mask, float32.

Length 3,072 (a picture of 32 × 32 × 3), width 512, 8 heads, one sequence. 1D: blocks of 256 queries
with the 256 positions before them, which is exactly what the package computes with its window of
256. 2D: tiles of 8 × 32 on 32 × 96 with a flange of 4 rows and 8 columns, so that an inner tile has
as many queries, and as much memory, as a 1D block.
local_1d_vs_package_ratio, local_1d_vs_masked_ratio, local_2d_vs_masked_ratio: their time over ours,
    forward, without gradients.
local_1d_backward_vs_package_ratio: forward and backward, theirs over ours.
local_1d_vs_floor_ratio: ours over a floor, two batched matrix products with just the multiply-adds
    of our blocks' Q Kᵀ and weights · V, all blocks of one shape at once, no softmax, no mask.
extra_mb: the profiler's peak of one forward pass in a fresh process, the result (6.3 MB) included.
growth_exponent: slope of log time over log length, 1,024 … 16,384.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import torch
from local_attention import LocalAttention
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
    growth,
    heads,
    median,
    peak_bytes,
    ratio,
    time_in_turns,
)
from benchmarks.sizes import size
from models.layers.local import Block, blocks_1d, blocks_2d, local_attention

LENGTH = size(3072, 192)
WINDOW = size(256, 32)  # queries of a 1D block, and positions of its memory
ROWS, COLUMNS = size((32, 96), (8, 24))
TILE, FLANGE = size(((8, 32), (4, 8)), ((4, 8), (2, 4)))  # rows, columns
LENGTHS = size((1024, 2048, 4096, 8192, 16384), (64, 128))


def package() -> LocalAttention:
    """Build the peer: causal windows that look one window back, no rotary positions, no dropout."""
    return LocalAttention(
        dim=D_HEAD,
        window_size=WINDOW,
        causal=True,
        look_backward=1,
        look_forward=0,
        dropout=0.0,
        use_rotary_pos_emb=False,
    )


def mask_of(blocks: Sequence[Block], device: torch.device) -> Tensor:
    """Return the same attention as a dense mask, (query, key) bool."""
    length = blocks[-1].stop
    mask = torch.zeros(length, length, dtype=torch.bool)
    for block in blocks:
        mask[block.start : block.stop, list(block.memory)] = True
        size = block.stop - block.start
        mask[block.start : block.stop, block.start : block.stop] = torch.ones(
            size, size, dtype=torch.bool
        ).tril()
    return mask.to(device)


def floor(blocks: Sequence[Block], device: torch.device) -> Callable[[], object]:
    """Return the products alone: for each shape of block, Q Kᵀ and weights · V of all its blocks
    and heads, in one batched product each."""
    shapes = Counter(
        (block.stop - block.start, len(block.memory) + block.stop - block.start) for block in blocks
    )
    sides = []
    for (queries, keys), count in shapes.items():
        rows = count * HEADS
        made = (
            torch.randn(rows, *shape, device=device)
            for shape in ((queries, D_HEAD), (D_HEAD, keys), (keys, D_HEAD))
        )
        sides.append(
            (
                *made,
                torch.empty(rows, queries, keys, device=device),
                torch.empty(rows, queries, D_HEAD, device=device),
            )
        )

    def products() -> None:
        for query, key, value, scores, output in sides:
            torch.bmm(query, key, out=scores)
            torch.bmm(scores, value, out=output)

    return products


def attend_in_blocks(length: int, device: torch.device) -> Callable[[], object]:
    """Return attention in 1D blocks over a sequence of that length."""
    query, key, value = heads(3, length, device)
    blocks = blocks_1d(length, WINDOW, WINDOW)
    return lambda: local_attention(query, key, value, blocks)


def _extra(pattern: str, device: str) -> int:
    """Return the profiler's peak of one forward pass, in bytes. Call it in a fresh process."""
    blocks = (
        blocks_1d(LENGTH, WINDOW, WINDOW)
        if pattern == "local_1d"
        else blocks_2d(ROWS, COLUMNS, TILE, FLANGE)
    )
    query, key, value = heads(3, LENGTH, torch.device(device))
    with torch.no_grad():
        return peak_bytes(lambda: local_attention(query, key, value, blocks), torch.device(device))


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    torch.manual_seed(1)
    one, two = blocks_1d(LENGTH, WINDOW, WINDOW), blocks_2d(ROWS, COLUMNS, TILE, FLANGE)
    masks = {"1d": mask_of(one, device), "2d": mask_of(two, device)}
    query, key, value = heads(3, LENGTH, device)
    peer = package().to(device)
    forward: dict[str, Callable[[], Tensor]] = {
        "local_1d": lambda: local_attention(query, key, value, one),
        "package": lambda: peer(query, key, value),
        "masked_1d": lambda: F.scaled_dot_product_attention(
            query, key, value, attn_mask=masks["1d"]
        ),
        "local_2d": lambda: local_attention(query, key, value, two),
        "masked_2d": lambda: F.scaled_dot_product_attention(
            query, key, value, attn_mask=masks["2d"]
        ),
    }
    with torch.no_grad():
        made = {name: side() for name, side in forward.items()}
        for ours, theirs in (
            ("local_1d", "package"),
            ("local_1d", "masked_1d"),
            ("local_2d", "masked_2d"),
        ):
            torch.testing.assert_close(made[ours], made[theirs], atol=1e-4, rtol=1e-4)
        times = time_in_turns({**forward, "floor": floor(one, device)}, device, calls=2)
    q, k, v = leaves = heads(3, LENGTH, device, gradient=True)
    sides = {"local_1d": lambda: local_attention(q, k, v, one), "package": lambda: peer(q, k, v)}
    trained = time_in_turns({name: both_ways(side, leaves) for name, side in sides.items()}, device)
    lengths = {length: attend_in_blocks(length, device) for length in LENGTHS}
    figures: dict[str, Figure] = {
        f"{name}_ms": median(seconds) * 1e3 for name, seconds in times.items()
    }
    figures |= {
        f"{name}_forward_backward_ms": median(seconds) * 1e3 for name, seconds in trained.items()
    }
    figures |= growth("local_1d", lengths, device, 1.1)
    figures |= {
        "local_1d_vs_package_ratio": (
            ratio(times, "package", "local_1d"),
            Bound(3.5, at_least=True),
        ),
        "local_1d_backward_vs_package_ratio": (
            ratio(trained, "package", "local_1d"),
            Bound(1.8, at_least=True),
        ),
        "local_1d_vs_masked_ratio": (
            ratio(times, "masked_1d", "local_1d"),
            Bound(4.5, at_least=True),
        ),
        "local_2d_vs_masked_ratio": (
            ratio(times, "masked_2d", "local_2d"),
            Bound(4.0, at_least=True),
        ),
        "local_1d_vs_floor_ratio": (ratio(times, "local_1d", "floor"), Bound(1.4)),
        "extra_mb": (fresh(_extra, "local_1d", str(device)) / 1e6, Bound(10)),
        "extra_2d_mb": fresh(_extra, "local_2d", str(device)) / 1e6,
    }
    return Report.of(figures)
