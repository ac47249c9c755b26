"""The clock: the same positions through four kinds of layer, timed length by length, as a generator that can be stopped at any point.

One layer without projections, biases left out of the count, batch 1, float32, without gradients: a recurrent layer is `nn.LSTM`, a
convolution `nn.Conv1d`, self-attention the fused kernel (or, spelled out, softmax(Q Kᵀ / √d) V with its map in memory), restricted
self-attention `models.layers.local` with blocks of r / 2 queries that see r keys.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.cost.records import FORMULAS, LAYERS, SECONDS, WINDOW, Clock, Explanation, Point, Request, lengths, operations
from models.device import device, synchronize
from models.errors import InputError, Stopped
from models.layers.attention import attention_weights
from models.layers.local import blocks_1d, local_attention

REPEATS = 5  # of which a point is the fastest: whatever else fills the caches can only slow a run
ENOUGH = 0.25  # seconds after which a point is not repeated any more
PIECE = 32  # positions of a recurrent layer between two turns: others at the server wait no longer than this
Pieces = list[Callable[[], object]]


class Bench:
    """The layers of a request, with random weights and inputs, ready to be run at any length up to the request's."""

    def __init__(self, request: Request, where: torch.device) -> None:
        self.request, self.where = request, where
        with torch.random.fork_rng():
            torch.manual_seed(request.seed)
            width, kernel = request.width, request.kernel
            self.lstm = nn.LSTM(width, width, batch_first=True).to(where)
            self.convolution = nn.Conv1d(width, width, kernel, padding=kernel // 2).to(where)
            self.x = torch.randn(1, request.length, width, device=where)
            self.query, self.key, self.value = torch.randn(3, 1, 1, request.length, width, device=where).unbind()

    def pieces(self, layer: str, length: int, variant: str = "") -> Pieces:
        """What has to be called, one after the other, to run a layer once over the first `length` positions."""
        if layer == "recurrence":
            state: list[tuple[Tensor, Tensor] | None] = [None]

            def some(begin: int) -> None:
                _, state[0] = self.lstm(self.x[:, begin : min(begin + PIECE, length)], state[0] if begin else None)

            return [partial(some, begin) for begin in range(0, length, PIECE)]
        if layer == "convolution":
            signal = self.x[:, :length].transpose(1, 2).contiguous()
            return [lambda: self.convolution(signal)]
        query, key, value = self.query[:, :, :length], self.key[:, :, :length], self.value[:, :, :length]
        if layer == "restricted":
            window = WINDOW if variant == "window" else self.request.window
            blocks = blocks_1d(length, max(1, window // 2), max(1, window // 2))
            for block in blocks:
                assert block.mask is not None  # made now, not while the clock runs
            return [lambda: local_attention(query, key, value, blocks)]
        fused = self.request.fused or variant == "fused"
        return [lambda: F.scaled_dot_product_attention(query, key, value) if fused else attention_weights(query, key) @ value]


def run(request: Request) -> Iterator[list[list[Point] | Explanation | InputError]]:
    """For the engine: the points as they come, none where nothing is ready yet, and the whole run last.

    A point that would not end in time, told by the one before it, is left out, and so is what is longer. Stopped, thrown into it, ends it.
    """
    where = device()
    points: list[Point] = []
    left: list[tuple[str, int]] = []
    spent, stopped = 0.0, False
    sides = [(layer, "") for layer in sorted(LAYERS, key=lambda name: operations(name, request.length, request))]
    # What a change is compared with is timed in the same run, right beside it.
    sides += [("restricted", "window")] * (request.window != WINDOW) + [("attention", "fused")] * (not request.fused)
    try:
        with torch.no_grad():
            bench = Bench(request, where)
            for length in lengths(request.length):
                for layer, variant in sides:
                    if variant and length != request.length:
                        continue
                    if spent + _expected(points, layer, length) > SECONDS:
                        left += [(layer, length)] * (not variant)
                        continue
                    for took in _timed(bench.pieces(layer, length, variant), where):
                        if isinstance(took, list):
                            point = Point(layer, length, min(took), len(took), variant)
                            points.append(point)
                            yield [[point]]
                        else:
                            spent += took
                            yield [[]]
    except Stopped:
        stopped = True
    yield [Explanation(clock=Clock(tuple(points), tuple(left), stopped, spent, torch.get_num_threads(), where.type))]


def _expected(points: list[Point], layer: str, length: int) -> float:
    """Seconds of one more point, by the formula from the last one of that layer; 0 of the first."""
    before = [p for p in points if p.layer == layer]
    return before[-1].seconds * (length / before[-1].length) ** FORMULAS[layer].slope if before else 0.0


def _timed(pieces: Pieces, where: torch.device) -> Iterator[float | list[float]]:
    """Seconds of each piece as it ends, those that warm up too; last, as a list, those of every whole run."""
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
    """How long one call takes, until a GPU has done it; on a CPU the processor's time of this thread, which takes part in everything: what
    other programs do meanwhile does not count."""
    watch = time.perf_counter if where.type == "cuda" else time.thread_time
    synchronize(where)
    began = watch()
    piece()
    synchronize(where)
    return watch() - began
