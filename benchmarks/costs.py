"""The clock of the cost laboratory: do its times grow with length as the formulas of Vaswani et al. (2017, table 1) say?

self_attention_exponent: slope of log time over log length of self-attention by the fused kernel, d = 64, L = 1,024 … 8,192.
restricted_exponent: of attention restricted to 64 keys, d = 64, the same lengths. recurrence_exponent: of an LSTM, d = 256,
L = 128 … 1,024. convolution_exponent: of a convolution of 3 positions, d = 256, L = 256 … 2,048. Each `_off` is its distance from
the exponent on paper. Shorter sequences measure the cost of a call, and longer ones of wide vectors what a cache holds; within these
ranges both are small beside the layer. One sequence, float32, no gradients, one thread; each time is the processor's, the fastest
of five runs, taken in turn with the other lengths.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

from benchmarks.measure import Bound, Figure, Report, slope, threads
from models.cost.clock import Bench, seconds
from models.cost.records import FORMULAS, Request

RANGES: Mapping[str, tuple[int, tuple[int, ...]]] = {
    "attention": (64, (1024, 2048, 4096, 8192)),
    "restricted": (64, (1024, 2048, 4096, 8192)),
    "recurrence": (256, (128, 256, 512, 1024)),
    "convolution": (256, (256, 512, 1024, 2048)),
}
NAMES = {"attention": "self_attention"}
OFF = {"attention": 0.15, "restricted": 0.1, "recurrence": 0.1}  # how far an exponent may be from that on paper
ROUNDS = 5


def fastest(layer: str, device: torch.device) -> list[float]:
    """Seconds of the layer at each length of its range, lengths taken in turn."""
    width, lengths = RANGES[layer]
    bench = Bench(Request(length=lengths[-1], width=width), device)
    pieces = {length: bench.pieces(layer, length) for length in lengths}
    runs: dict[int, list[float]] = {length: [] for length in lengths}
    for _ in range(ROUNDS + 1):  # the first warms up
        for length in lengths:
            runs[length].append(sum(seconds(piece, device) for piece in pieces[length]))
    return [min(several[1:]) for several in runs.values()]


def measure(device: torch.device) -> Report:
    """All figures of this benchmark."""
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
