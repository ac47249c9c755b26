"""How speed and memory are measured here: interleaved, so that a busy machine is busy for both sides, and as medians."""

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

from models.device import synchronize as synchronize

T = TypeVar("T")
ROUNDS = 5  # a figure is the median of so many
HEADS, D_HEAD = 8, 64  # of an attention that is measured by itself


@dataclass(frozen=True)
class Bound:
    """What a figure must reach: at most, or at least, a value."""

    value: float
    at_least: bool = False

    def holds(self, figure: float) -> bool:
        """Is it reached?"""
        return figure >= self.value if self.at_least else figure <= self.value


Figure = float | tuple[float, Bound]  # a value, or with it what it must reach


@dataclass(frozen=True)
class Report:
    """What a benchmark measured. Names end in their unit: `_ms`, `_s`, `_mb`, `_per_s`, `_ratio`."""

    figures: dict[str, float]
    bounds: dict[str, Bound] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)  # what was compared, in words

    @classmethod
    def of(cls, figures: Mapping[str, Figure], notes: Mapping[str, str] | None = None) -> Report:
        """A report of figures of which some stand beside their bounds."""
        bounds = {name: one[1] for name, one in figures.items() if isinstance(one, tuple)}
        return cls({name: float(one[0] if isinstance(one, tuple) else one) for name, one in figures.items()}, bounds, dict(notes or {}))


def interleaved(
    sides: Mapping[str, Callable[[], object]], device: torch.device, calls: int = 1, rounds: int = ROUNDS
) -> dict[str, list[float]]:
    """Seconds of one call of each side, one per round: the median of `calls` calls, taken in alternation with the other sides.

    Every side is called twice before, unmeasured.
    """
    for side in sides.values():
        side()
        side()
    medians: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(rounds):
        seconds: dict[str, list[float]] = {name: [] for name in sides}
        for call in range(calls):
            order = list(sides)[:: 1 if (turn + call) % 2 == 0 else -1]  # nobody always comes first
            for name in order:
                synchronize(device)
                began = time.perf_counter()
                sides[name]()
                synchronize(device)
                seconds[name].append(time.perf_counter() - began)
        for name in sides:
            medians[name].append(statistics.median(seconds[name]))
    return medians


def as_shipped(model: nn.Module) -> Any:
    """The same model to be read, not trained, its weights rounded to half precision, in which the shipped ones are written."""
    return model.eval().requires_grad_(False).half().float()


def ratio(seconds: Mapping[str, list[float]], over: str, under: str) -> float:
    """The median over the rounds of one side's time over another's, each within its round."""
    return statistics.median(a / b for a, b in zip(seconds[over], seconds[under], strict=True))


def median(seconds: list[float]) -> float:
    """The median of the rounds."""
    return statistics.median(seconds)


def slope(lengths: Sequence[float], values: Sequence[float]) -> float:
    """The exponent with which values grow: slope of their logarithm over that of the lengths, by least squares."""
    return statistics.linear_regression([math.log(n) for n in lengths], [math.log(value) for value in values]).slope


def growth(name: str, sides: Mapping[int, Callable[[], object]], device: torch.device, most: float, **how: int) -> dict[str, Figure]:
    """NAME_LENGTH_ms of each side by its length, without gradients, and growth_exponent, which `most` bounds. how: as of `interleaved`."""
    with torch.no_grad():
        rounds = interleaved({str(length): side for length, side in sides.items()}, device, **how)
    times = {length: median(rounds[str(length)]) for length in sides}
    figures: dict[str, Figure] = {f"{name}_{length}_ms": seconds * 1e3 for length, seconds in times.items()}
    return figures | {"growth_exponent": (slope([*times], [*times.values()]), Bound(most))}


def heads(count: int, length: int, device: torch.device, gradient: bool = False) -> list[Tensor]:
    """So many random queries, keys, values …, each (1, HEADS, length, D_HEAD)."""
    return [torch.randn(1, HEADS, length, D_HEAD, device=device, requires_grad=gradient) for _ in range(count)]


def fresh(function: Callable[..., T], *arguments: object) -> T:
    """What a function gives in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as process:
        return process.apply(function, arguments)


def both_ways(side: Callable[[], Tensor], leaves: Sequence[Tensor]) -> Callable[[], object]:
    """The same forward and backward: the gradients of all `leaves`, under a random one of the result, as large as the first leaf."""
    outside = torch.randn_like(leaves[0])
    return lambda: torch.autograd.grad(side(), leaves, outside)


def percentile(values: Sequence[float], share: float) -> float:
    """The least value that `share` of them do not exceed; infinite where there is none."""
    return sorted(values)[math.ceil(share * len(values)) - 1] if values else math.inf


@contextlib.contextmanager
def counted(errors: Counter[str]) -> Iterator[None]:
    """What goes wrong meanwhile is counted, and ends nothing else."""
    try:
        yield
    except Exception as error:
        errors[line_of(error)] += 1


def line_of(error: BaseException) -> str:
    """An error in a line."""
    return f"{type(error).__name__}: {error}"[:200]


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """Compute with so many threads, for a while."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def peak_bytes(function: Callable[[], object], device: torch.device) -> int:
    """The profiler's peak of bytes allocated by a call, above what stood before. Call it in a fresh process."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        function()
        synchronize(device)
        return torch.cuda.max_memory_allocated(device) - before
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        function()
    held = peak = 0
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    return peak
