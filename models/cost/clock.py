"""Timing of four kinds of layer at growing lengths, as a generator that can be stopped at any
point.

One layer without projections and with biases left out of the count, batch 1, float32, without
gradients. A recurrent layer is `nn.LSTM`, a convolution `nn.Conv1d`, self-attention the fused
kernel (or, written out, softmax(Q Kᵀ / √d) V with its map in memory), and restricted self-attention
is `models.layers.local` with blocks of r / 2 queries that see r keys.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.checkpoints.device import choose_device, wait_for_device
from models.cost.records import (
    FORMULAS,
    LAYERS,
    SECONDS,
    WINDOW,
    Clock,
    Explanation,
    Point,
    Request,
    lengths,
    operations,
)
from models.explaining.errors import InputError, Stopped
from models.layers.attention import attention_weights
from models.layers.local import blocks_1d, local_attention

REPEATS = 5  # a point is the fastest of these: other uses of the caches can only slow a run
ENOUGH = 0.25  # seconds after which a point is not repeated
# Positions of a recurrent layer between two turns: other users of the server wait no longer than
# this.
PIECE = 32
Pieces = list[Callable[[], object]]


class Bench:
    """The layers of a request with random weights and inputs, for any length up to that of the
    request."""

    def __init__(self, request: Request, where: torch.device) -> None:
        self.request, self.where = request, where
        with torch.random.fork_rng():
            torch.manual_seed(request.seed)
            width, kernel = request.width, request.kernel
            self.lstm = nn.LSTM(width, width, batch_first=True).to(where)
            self.convolution = nn.Conv1d(width, width, kernel, padding=kernel // 2).to(where)
            self.x = torch.randn(1, request.length, width, device=where)
            self.query, self.key, self.value = torch.randn(
                3, 1, 1, request.length, width, device=where
            ).unbind()

    def pieces(self, layer: str, length: int, variant: str = "") -> Pieces:
        """Return the calls that run a layer once over the first `length` positions, in order."""
        if layer == "recurrence":
            state: list[tuple[Tensor, Tensor] | None] = [None]

            def some(begin: int) -> None:
                _, state[0] = self.lstm(
                    self.x[:, begin : min(begin + PIECE, length)], state[0] if begin else None
                )

            return [partial(some, begin) for begin in range(0, length, PIECE)]
        if layer == "convolution":
            signal = self.x[:, :length].transpose(1, 2).contiguous()
            return [lambda: self.convolution(signal)]
        query, key, value = (
            self.query[:, :, :length],
            self.key[:, :, :length],
            self.value[:, :, :length],
        )
        if layer == "restricted":
            window = WINDOW if variant == "window" else self.request.window
            blocks = blocks_1d(length, max(1, window // 2), max(1, window // 2))
            for block in blocks:
                assert block.mask is not None  # builds the mask before the clock runs
            return [lambda: local_attention(query, key, value, blocks)]
        fused = self.request.fused or variant == "fused"
        return [
            lambda: (
                F.scaled_dot_product_attention(query, key, value)
                if fused
                else attention_weights(query, key) @ value
            )
        ]


def run(request: Request) -> Iterator[list[list[Point] | Explanation | InputError]]:
    """Run the clock for the engine: yield the new points, an empty list if there are none, and the
    whole run last.

    A point that would not end in time, as estimated from the one before it, is left out, and so are
    longer ones. Throwing Stopped into the generator ends it.
    """
    where = choose_device()
    points: list[Point] = []
    left: list[tuple[str, int]] = []
    spent, stopped = 0.0, False
    sides = [
        (layer, "")
        for layer in sorted(LAYERS, key=lambda name: operations(name, request.length, request))
    ]
    # A change and its comparison are timed in the same run, one after the other.
    sides += [("restricted", "window")] * (request.window != WINDOW) + [("attention", "fused")] * (
        not request.fused
    )
    try:
        with torch.no_grad():
            bench = Bench(request, where)
            for length in lengths(request.length):
                for layer, variant in sides:
                    if variant and length != request.length:
                        continue
                    if spent + _expect_seconds(points, layer, length) > SECONDS:
                        left += [(layer, length)] * (not variant)
                        continue
                    for took in _time_pieces(bench.pieces(layer, length, variant), where):
                        if isinstance(took, list):
                            point = Point(layer, length, min(took), len(took), variant)
                            points.append(point)
                            yield [[point]]
                        else:
                            spent += took
                            yield [[]]
    except Stopped:
        stopped = True
    yield [
        Explanation(
            clock=Clock(
                tuple(points), tuple(left), stopped, spent, torch.get_num_threads(), where.type
            )
        )
    ]


def _expect_seconds(points: list[Point], layer: str, length: int) -> float:
    """Estimate the seconds of the next point by the formula from that layer's last one; 0 for the
    first."""
    before = [p for p in points if p.layer == layer]
    return (
        before[-1].seconds * (length / before[-1].length) ** FORMULAS[layer].slope
        if before
        else 0.0
    )


def _time_pieces(pieces: Pieces, where: torch.device) -> Iterator[float | list[float]]:
    """Yield the seconds of each piece as it ends, including the warm-up; last, a list of the
    seconds of each whole run."""
    yield seconds(pieces[0], where)
    runs: list[float] = []
    while len(runs) < REPEATS and (not runs or sum(runs) + runs[-1] <= ENOUGH):
        runs.append(0.0)
        for piece in pieces:
            took = seconds(piece, where)
            runs[-1] += took
            yield took
    yield runs


def seconds(piece: Callable[[], object], where: torch.device) -> float:
    """Measure the seconds of one call, until a GPU has finished it.

    On a CPU this is the processor time of this thread, which takes part in everything; other
    programs do not count.
    """
    watch = time.perf_counter if where.type == "cuda" else time.thread_time
    wait_for_device(where)
    began = watch()
    piece()
    wait_for_device(where)
    return watch() - began
