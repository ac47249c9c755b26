"""The measurement of speed and memory: sides are interleaved, so that a busy machine is busy for
both, and figures are medians."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

from benchmarks.sizes import is_smallest, size
from models.checkpoints.device import wait_for_device as wait_for_device

T = TypeVar("T")
ROUNDS = size(5, 1)  # a figure is the median of this many
HEADS, D_HEAD = 8, 64  # of an attention that is measured by itself


@dataclass(frozen=True)
class Bound:
    """A bound of a figure: at most, or at least, a value."""

    value: float
    at_least: bool = False

    def holds(self, figure: float) -> bool:
        """Return whether a figure reaches the bound."""
        return figure >= self.value if self.at_least else figure <= self.value


Figure = float | tuple[float, Bound]  # a value, or a value with its bound


@dataclass(frozen=True)
class Report:
    """The results of a benchmark. Names end in their unit: `_ms`, `_s`, `_mb`, `_per_s`,
    `_ratio`."""

    figures: dict[str, float]
    bounds: dict[str, Bound] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)  # the compared sides, in words

    @classmethod
    def of(cls, figures: Mapping[str, Figure], notes: Mapping[str, str] | None = None) -> Report:
        """Return a report of figures, some of which stand beside their bounds."""
        bounds = {name: one[1] for name, one in figures.items() if isinstance(one, tuple)}
        return cls(
            {
                name: float(one[0] if isinstance(one, tuple) else one)
                for name, one in figures.items()
            },
            bounds,
            dict(notes or {}),
        )


def time_in_turns(
    sides: Mapping[str, Callable[[], object]],
    device: torch.device,
    calls: int = 1,
    rounds: int = ROUNDS,
) -> dict[str, list[float]]:
    """Return the seconds of one call of each side, one per round: the median of `calls` calls,
    taken in alternation with the other sides.

    Every side is called twice before, unmeasured.
    """
    calls, rounds = size(calls, 1), size(rounds, 1)
    for side in sides.values():
        for _ in range(size(2, 1)):
            side()
    medians: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(rounds):
        seconds: dict[str, list[float]] = {name: [] for name in sides}
        for call in range(calls):
            # no side always comes first
            order = list(sides)[:: 1 if (turn + call) % 2 == 0 else -1]
            for name in order:
                wait_for_device(device)
                began = time.perf_counter()
                sides[name]()
                wait_for_device(device)
                seconds[name].append(time.perf_counter() - began)
        for name in sides:
            medians[name].append(statistics.median(seconds[name]))
    return medians


def as_shipped(model: nn.Module) -> Any:
    """Return the same model for inference, its weights rounded to half precision, in which the
    shipped ones are written."""
    return model.eval().requires_grad_(False).half().float()


def ratio(seconds: Mapping[str, list[float]], over: str, under: str) -> float:
    """Return the median over the rounds of one side's time over another's, each within its
    round."""
    return statistics.median(a / b for a, b in zip(seconds[over], seconds[under], strict=True))


def median(seconds: list[float]) -> float:
    """Return the median of the rounds."""
    return statistics.median(seconds)


def slope(lengths: Sequence[float], values: Sequence[float]) -> float:
    """Return the exponent with which values grow: the slope of their logarithm over that of the
    lengths, by least squares."""
    return statistics.linear_regression(
        [math.log(n) for n in lengths], [math.log(value) for value in values]
    ).slope


def growth(
    name: str,
    sides: Mapping[int, Callable[[], object]],
    device: torch.device,
    most: float,
    **how: int,
) -> dict[str, Figure]:
    """Measure NAME_LENGTH_ms of each side by its length, without gradients, and growth_exponent,
    which `most` bounds.

    how: as in `time_in_turns`.
    """
    with torch.no_grad():
        rounds = time_in_turns({str(length): side for length, side in sides.items()}, device, **how)
    times = {length: median(rounds[str(length)]) for length in sides}
    figures: dict[str, Figure] = {
        f"{name}_{length}_ms": seconds * 1e3 for length, seconds in times.items()
    }
    return figures | {"growth_exponent": (slope([*times], [*times.values()]), Bound(most))}


def heads(count: int, length: int, device: torch.device, gradient: bool = False) -> list[Tensor]:
    """Return `count` random queries, keys, values …, each (1, HEADS, length, D_HEAD)."""
    return [
        torch.randn(1, HEADS, length, D_HEAD, device=device, requires_grad=gradient)
        for _ in range(count)
    ]


def fresh(function: Callable[..., T], *arguments: object) -> T:
    """Return the result of a function in a process of its own; at the smallest size in this one."""
    if is_smallest():
        return function(*arguments)
    with multiprocessing.get_context("spawn").Pool(1) as process:
        return process.apply(function, arguments)


def both_ways(side: Callable[[], Tensor], leaves: Sequence[Tensor]) -> Callable[[], object]:
    """Return a function that runs the side forward and backward: the gradients of all `leaves`,
    under a random one of the result, of the size of the first leaf."""
    outside = torch.randn_like(leaves[0])
    return lambda: torch.autograd.grad(side(), leaves, outside)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the least value that `share` of them do not exceed, infinite where there is none."""
    return sorted(values)[math.ceil(share * len(values)) - 1] if values else math.inf


@contextlib.contextmanager
def count_errors(errors: Counter[str]) -> Iterator[None]:
    """Count the errors inside this context, and let them end nothing else."""
    try:
        yield
    except Exception as error:
        errors[line_of(error)] += 1


def line_of(error: BaseException) -> str:
    """Return an error in one line."""
    return f"{type(error).__name__}: {error}"[:200]


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """Compute with this many threads inside this context."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def peak_bytes(function: Callable[[], object], device: torch.device) -> int:
    """Return the profiler's peak of bytes allocated by a call, above the bytes before it. Call it
    in a fresh process."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        function()
        wait_for_device(device)
        return torch.cuda.max_memory_allocated(device) - before
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        function()
    held = peak = 0
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    return peak
