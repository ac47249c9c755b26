"""Memory of reversible layers beside ordinary residual layers and gradient checkpointing, against
depth, and of the feed-forward network in chunks, float32.

Layers of width 256, 4 heads, hashing with 4 rounds and chunks of 64 places, inner width 1,024 in 4
chunks, one sequence of 2,048 positions. No optimiser.
*_<layers>_mb: the profiler's peak of one pass forward and backward in a fresh process, above the
bytes before it (the parameters), without the gradients of the parameters. Ordinary and checkpointed
layers give each of theirs up as it comes; reversible ones hand over all of them at the end, where
the peak is, and they are subtracted.
*_growth_ratio: with 32 layers over 4.
feedforward_<chunks>_mb: peak of the feed-forward network alone, forward without gradients, inner
width 4,096.
*_ms: forward and backward with 8 layers.
reversible_vs_ordinary_ratio: that of these times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from benchmarks.measure import Bound, Report, fresh, median, peak_bytes, ratio, time_in_turns
from benchmarks.sizes import size
from models.layers.reversible import (
    ChunkedFeedForward,
    Pair,
    Reversible,
    run_checkpointed,
    run_ordinary,
    run_reversible,
)
from models.reformer.model import Config, Reformer, Turn

DEPTHS = size((4, 8, 16, 32), (1, 2))
TIMED = size(8, 1)  # layers
LENGTH, D_MODEL, D_FF = size((2048, 256, 1024), (128, 256, 512))
CHUNKS = (1, 4, 16)
WAYS: dict[str, Callable[[Sequence[Reversible], Tensor, Tensor], Pair]] = {
    "reversible": run_reversible,
    "ordinary": run_ordinary,
    "checkpointed": run_checkpointed,
}


def layers(count: int, device: torch.device) -> list[Turn]:
    """Build this many layers with random parameters, their rotations drawn."""
    config = Config(2, LENGTH, 4, 64, 32, 64, D_MODEL, D_FF, 4, count, ff_chunks=4)
    model = Reformer(config).to(device)
    return model.turns([None if one is None else one.to(device) for one in model.rotations(4, 32)])


def both_ways(way: str, turns: list[Turn], device: torch.device) -> Callable[[], object]:
    """Return a function of one pass forward and backward. It returns the gradients of the
    parameters."""
    parameters = [p for one in turns for p in one.parameters()]
    x = torch.randn(1, LENGTH, D_MODEL, device=device, requires_grad=True)

    def run() -> object:
        first, second = WAYS[way](turns, x, x)
        return torch.autograd.grad(
            (first, second), parameters, (torch.ones_like(first), torch.ones_like(second))
        )

    return run


def _peak(way: str, count: int, device: str) -> int:
    torch.manual_seed(1)
    turns = layers(count, torch.device(device))
    parameters = [p for one in turns for p in one.parameters()]
    for one in parameters:
        one.register_post_accumulate_grad_hook(_give_up)  # type: ignore[no-untyped-call]
    x = torch.randn(1, LENGTH, D_MODEL, device=device, requires_grad=True)
    outside = torch.ones_like(x)

    def run() -> None:
        torch.autograd.backward(WAYS[way](turns, x, x), (outside, outside))

    at_the_end = sum(p.numel() * p.element_size() for p in parameters) if way == "reversible" else 0
    return peak_bytes(run, torch.device(device)) - at_the_end


def _give_up(parameter: Tensor) -> None:
    parameter.grad = None


def _feedforward(chunks: int, device: str) -> int:
    network = ChunkedFeedForward(D_MODEL, 4 * D_FF, chunks).to(device)
    x = torch.randn(1, LENGTH, D_MODEL, device=device)
    with torch.no_grad():
        return peak_bytes(lambda: network(x), torch.device(device))


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    torch.manual_seed(1)
    peaks = {
        (way, count): fresh(_peak, way, count, str(device)) for way in WAYS for count in DEPTHS
    }
    turns = layers(TIMED, device)
    times = time_in_turns({way: both_ways(way, turns, device) for way in WAYS}, device, rounds=3)
    figures = {f"{way}_{count}_mb": peak / 1e6 for (way, count), peak in peaks.items()}
    figures |= {
        f"{way}_growth_ratio": peaks[way, max(DEPTHS)] / peaks[way, min(DEPTHS)] for way in WAYS
    }
    figures |= {
        f"feedforward_{chunks}_mb": fresh(_feedforward, chunks, str(device)) / 1e6
        for chunks in CHUNKS
    }
    figures |= {f"{way}_ms": median(seconds) * 1e3 for way, seconds in times.items()}
    figures["reversible_vs_ordinary_ratio"] = ratio(times, "reversible", "ordinary")
    return Report(figures, {"reversible_growth_ratio": Bound(1.3)})
