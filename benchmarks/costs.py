"""The clock of the cost laboratory: a check that its times grow with length as the formulas of
Vaswani et al. (2017, table 1) say.

self_attention_exponent: slope of log time over log length of self-attention by the fused kernel, d
    = 64, L = 1,024 … 8,192.
restricted_exponent: that of attention restricted to 64 keys, d = 64, the same lengths.
recurrence_exponent: that of an LSTM, d = 256, L = 128 … 1,024.
convolution_exponent: that of a convolution of 3 positions, d = 256, L = 256 … 2,048.
Each `_off` is its distance from the exponent on paper. Shorter sequences measure the cost of a
call, and longer ones of wide vectors the size of a cache; within these ranges both are small beside
the layer. One sequence, float32, no gradients, one thread. Each time is the processor's, the
fastest of five runs, taken in turn with the other lengths.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

from benchmarks.measure import Bound, Figure, Report, slope, threads
from benchmarks.sizes import size
from models.cost.clock import Bench, seconds
from models.cost.records import FORMULAS, Request

RANGES: Mapping[str, tuple[int, tuple[int, ...]]] = {
    "attention": (64, size((1024, 2048, 4096, 8192), (64, 128))),
    "restricted": (64, size((1024, 2048, 4096, 8192), (64, 128))),
    "recurrence": (256, size((128, 256, 512, 1024), (8, 16))),
    "convolution": (256, size((256, 512, 1024, 2048), (8, 16))),
}
NAMES = {"attention": "self_attention"}
# the largest distance of an exponent from that on paper
OFF = {"attention": 0.15, "restricted": 0.1, "recurrence": 0.1}
ROUNDS = size(5, 1)


def fastest(layer: str, device: torch.device) -> list[float]:
    """Return the seconds of the layer at each length of its range, lengths taken in turn."""
    width, lengths = RANGES[layer]
    bench = Bench(Request(length=lengths[-1], width=width), device)
    pieces = {length: bench.pieces(layer, length) for length in lengths}
    runs: dict[int, list[float]] = {length: [] for length in lengths}
    for _ in range(ROUNDS + 1):  # the first round warms up
        for length in lengths:
            runs[length].append(sum(seconds(piece, device) for piece in pieces[length]))
    return [min(several[1:]) for several in runs.values()]


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    figures: dict[str, Figure] = {}
    notes = {}
    with torch.no_grad(), threads(1):
        for layer, (width, lengths) in RANGES.items():
            name = NAMES.get(layer, layer)
            times = fastest(layer, device)
            exponent = slope(lengths, times)
            figures |= {f"{name}_{n}_ms": t * 1e3 for n, t in zip(lengths, times, strict=True)}
            figures[f"{name}_exponent"] = exponent
            off = abs(exponent - FORMULAS[layer].slope)
            figures[f"{name}_off"] = (off, Bound(OFF[layer])) if layer in OFF else off
            notes[name] = f"L = {lengths[0]:,} … {lengths[-1]:,}, d = {width}"
    return Report.of(figures, notes)
