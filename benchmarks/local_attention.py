"""Local attention in blocks beside the `local-attention` package and beside fused attention under a dense mask, float32.

Length 3,072 (a picture of 32 × 32 × 3), width 512, 8 heads, one sequence. 1D: blocks of 256 queries with the 256 positions before them:
exactly what the package computes with its window of 256. 2D: tiles of 8 × 32 on 32 × 96 with a flange of 4 rows and 8 columns, so that
an inner tile has as many queries, and as much memory, as a 1D block.
local_1d_vs_package_ratio, local_1d_vs_masked_ratio, local_2d_vs_masked_ratio: their time over ours, forward, without gradients.
local_1d_backward_vs_package_ratio: forward and backward, theirs over ours.
local_1d_vs_floor_ratio: ours over a floor, two batched matrix products with just the multiply-adds of our blocks' Q Kᵀ and weights · V,
all blocks of one shape at once, no softmax, no mask.
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

from benchmarks.measure import Bound, Report, both_ways, fresh, interleaved, median, peak_bytes, ratio, slope
from models.layers.local import Block, blocks_1d, blocks_2d, local_attention

LENGTH, HEADS, D_HEAD = 3072, 8, 64
WINDOW = 256  # queries of a 1D block, and positions of its memory
ROWS, COLUMNS = 32, 96
TILE, FLANGE = (8, 32), (4, 8)  # rows, columns
LENGTHS = (1024, 2048, 4096, 8192, 16384)


def package() -> LocalAttention:
    """The peer: causal windows that look one window back, no rotary positions, no dropout."""
    return LocalAttention(
        dim=D_HEAD, window_size=WINDOW, causal=True, look_backward=1, look_forward=0, dropout=0.0, use_rotary_pos_emb=False
    )


def mask_of(blocks: Sequence[Block], device: torch.device) -> Tensor:
    """The same attention as a dense mask, (query, key) bool."""
    length = blocks[-1].stop
    mask = torch.zeros(length, length, dtype=torch.bool)
    for block in blocks:
        mask[block.start : block.stop, list(block.memory)] = True
        size = block.stop - block.start
        mask[block.start : block.stop, block.start : block.stop] = torch.ones(size, size, dtype=torch.bool).tril()
    return mask.to(device)


def floor(blocks: Sequence[Block], device: torch.device) -> Callable[[], object]:
    """The products alone: for each shape of block, Q Kᵀ and weights · V of all its blocks and heads, in one batched product each."""
    shapes = Counter((block.stop - block.start, len(block.memory) + block.stop - block.start) for block in blocks)
    sides = []
    for (queries, keys), count in shapes.items():
        rows = count * HEADS
        made = (torch.randn(rows, *shape, device=device) for shape in ((queries, D_HEAD), (D_HEAD, keys), (keys, D_HEAD)))
        sides.append((*made, torch.empty(rows, queries, keys, device=device), torch.empty(rows, queries, D_HEAD, device=device)))

    def products() -> None:
        for query, key, value, scores, output in sides:
            torch.bmm(query, key, out=scores)
            torch.bmm(scores, value, out=output)

    return products


def inputs(length: int, device: torch.device, gradient: bool = False) -> list[Tensor]:
    """Random query, key, value, each (1, head, position, d_head)."""
    return [torch.randn(1, HEADS, length, D_HEAD, device=device, requires_grad=gradient) for _ in range(3)]


def _extra(pattern: str, device: str) -> int:
    """The profiler's peak of one forward pass, bytes; in a fresh process."""
    blocks = blocks_1d(LENGTH, WINDOW, WINDOW) if pattern == "local_1d" else blocks_2d(ROWS, COLUMNS, TILE, FLANGE)
    query, key, value = inputs(LENGTH, torch.device(device))
    with torch.no_grad():
        return peak_bytes(lambda: local_attention(query, key, value, blocks), torch.device(device))


def growth(device: torch.device) -> tuple[float, list[float]]:
    """Slope of log time over log length by least squares, and the times in milliseconds."""
    sides: dict[str, Callable[[], object]] = {}
    for length in LENGTHS:
        arguments = (*inputs(length, device), blocks_1d(length, WINDOW, WINDOW))
        sides[str(length)] = lambda arguments=arguments: local_attention(*arguments)  # type: ignore[misc]
    with torch.no_grad():
        times = [median(seconds) for seconds in interleaved(sides, device).values()]
    return slope(LENGTHS, times), [t * 1e3 for t in times]


def measure(device: torch.device) -> Report:
    """All figures of this benchmark."""
    torch.manual_seed(1)
    one, two = blocks_1d(LENGTH, WINDOW, WINDOW), blocks_2d(ROWS, COLUMNS, TILE, FLANGE)
    masks = {"1d": mask_of(one, device), "2d": mask_of(two, device)}
    query, key, value = inputs(LENGTH, device)
    peer = package().to(device)
    forward: dict[str, Callable[[], Tensor]] = {
        "local_1d": lambda: local_attention(query, key, value, one),
        "package": lambda: peer(query, key, value),
        "masked_1d": lambda: F.scaled_dot_product_attention(query, key, value, attn_mask=masks["1d"]),
        "local_2d": lambda: local_attention(query, key, value, two),
        "masked_2d": lambda: F.scaled_dot_product_attention(query, key, value, attn_mask=masks["2d"]),
    }
    with torch.no_grad():
        made = {name: side() for name, side in forward.items()}
        for ours, theirs in (("local_1d", "package"), ("local_1d", "masked_1d"), ("local_2d", "masked_2d")):
            torch.testing.assert_close(made[ours], made[theirs], atol=1e-4, rtol=1e-4)
        times = interleaved({**forward, "floor": floor(one, device)}, device, calls=2)
    q, k, v = leaves = inputs(LENGTH, device, gradient=True)
    sides = {"local_1d": lambda: local_attention(q, k, v, one), "package": lambda: peer(q, k, v)}
    trained = interleaved({name: both_ways(side, leaves) for name, side in sides.items()}, device)
    exponent, per_length = growth(device)
    figures = {f"{name}_ms": median(seconds) * 1e3 for name, seconds in times.items()}
    figures |= {f"{name}_forward_backward_ms": median(seconds) * 1e3 for name, seconds in trained.items()}
    figures |= {f"local_1d_{length}_ms": found for length, found in zip(LENGTHS, per_length, strict=True)}
    figures |= {
        "local_1d_vs_package_ratio": ratio(times, "package", "local_1d"),
        "local_1d_backward_vs_package_ratio": ratio(trained, "package", "local_1d"),
        "local_1d_vs_masked_ratio": ratio(times, "masked_1d", "local_1d"),
        "local_2d_vs_masked_ratio": ratio(times, "masked_2d", "local_2d"),
        "local_1d_vs_floor_ratio": ratio(times, "local_1d", "floor"),
        "extra_mb": fresh(_extra, "local_1d", str(device)) / 1e6,
        "extra_2d_mb": fresh(_extra, "local_2d", str(device)) / 1e6,
        "growth_exponent": exponent,
    }
    bounds = {
        "local_1d_vs_package_ratio": Bound(3.5, at_least=True),
        "local_1d_backward_vs_package_ratio": Bound(1.8, at_least=True),
        "local_1d_vs_masked_ratio": Bound(4.5, at_least=True),
        "local_2d_vs_masked_ratio": Bound(4.0, at_least=True),
        "local_1d_vs_floor_ratio": Bound(1.4),
        "extra_mb": Bound(10),
        "growth_exponent": Bound(1.1),
    }
    return Report(figures, bounds)
