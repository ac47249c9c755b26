"""The training laboratory: its speed on one thread, and the prices of mixed precision and of
recomputation.

steps_per_s: steps a second of one run, width 32, 10 digits, batch 32; the processor's time.
slots5_vs_separate_ratio: five such runs one by one over the same five in one program.
first_curve_s: from the request of a twin to its first two frames.
hall30_last_s: thirty visitors ask at once for the first example, each with another seed; seconds
    until the last of them has the whole run, if no other work is on the machine.
The prices: a step of a small network (width 32, 2 layers, 16 digits, batch 16) and of a large one
(width 128, 6 layers, 256 digits, batch 4), `_ms` and the profiler's peak of bytes `_mb`: plain, by
bfloat16 products (`bf16`), with every layer computed again on the way back (`again`), with both.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import torch

from benchmarks.measure import ROUNDS, Bound, Figure, Report, fresh, peak_bytes, threads
from benchmarks.sizes import size
from models.twins import model
from models.twins.explain import explain
from models.twins.records import EXAMPLES, Shape, Techniques
from models.twins.training import Slots

VISITORS = 30
STEPS = size(60, 2)
SIZES: Mapping[str, tuple[Shape, int]] = {
    "small": (Shape(2, 32, 16), 16),
    "large": size((Shape(6, 128, 256), 4), (Shape(1, 32, 8), 1)),
}
WAYS = {
    "plain": (False, False),
    "bf16": (True, False),
    "again": (False, True),
    "both": (True, True),
}


def time_steps(count: int) -> float:
    """Return the processor's seconds of a step of so many runs in one program."""
    slots = Slots(Shape(length=10), [Techniques(batch=32)] * count, range(count), 10**6)
    for _ in range(size(5, 1)):
        slots.advance()
    begin = time.thread_time()
    for _ in range(STEPS):
        slots.advance()
    return (time.thread_time() - begin) / STEPS


def time_twins(seed: int) -> tuple[float, float]:
    """Return the processor's seconds of the first example until two frames, and until its end."""
    request = replace(EXAMPLES[1], seed=seed, steps=size(EXAMPLES[1].steps, 4))
    begin, first, frames = time.thread_time(), 0.0, 0
    for (turn,) in explain([request]):
        frames += len(turn) if isinstance(turn, list) else 0
        first = first or (time.thread_time() - begin if frames >= 2 else 0.0)
    return first, time.thread_time() - begin


def make_step(name: str, way: str) -> Callable[[], object]:
    """Return one step of a network, forward and backward."""
    shape, rows = SIZES[name]
    half, repeats = WAYS[way]
    slots = Slots(shape, [Techniques(batch=rows)], [1], 10)
    tokens, answers = slots.draw_batch()

    def step() -> object:
        kind = torch.autocast("cpu", torch.bfloat16) if half else contextlib.nullcontext()
        with kind:
            logits = model.forward(
                slots.parameters, tokens, shape, slots.switches, recompute=repeats
            )
        loss = torch.nn.functional.cross_entropy(logits[0].float(), answers[0])
        return torch.autograd.grad(loss, [*slots.parameters.values()], allow_unused=True)

    return step


def measure_peak(name: str, way: str) -> int:
    """Return the peak of bytes of one step. Call it in a fresh process."""
    torch.set_num_threads(1)
    step = make_step(name, way)
    step()
    return peak_bytes(step, torch.device("cpu"))


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark, on the CPU."""
    del device  # runs of this size are slower on a GPU
    figures: dict[str, Figure] = {}
    with threads(1):
        alone = min(time_steps(1) for _ in range(ROUNDS))
        together = min(time_steps(5) for _ in range(ROUNDS))
        twins = [time_twins(seed) for seed in range(ROUNDS)]
        figures["steps_per_s"] = (1 / alone, Bound(250, at_least=True))
        figures["slots5_vs_separate_ratio"] = (5 * alone / together, Bound(1.3, at_least=True))
        figures["first_curve_s"] = (min(first for first, _ in twins), Bound(0.5))
        figures["hall30_last_s"] = (VISITORS * min(whole for _, whole in twins), Bound(20))
        for name in SIZES:
            steps = {way: make_step(name, way) for way in WAYS}
            times: dict[str, list[float]] = {way: [] for way in WAYS}
            for turn in range(ROUNDS + 1):  # the first warms up
                for way, step in steps.items():
                    begin = time.thread_time()
                    step()
                    if turn or ROUNDS == 1:
                        times[way].append(time.thread_time() - begin)
            for way, each in times.items():
                figures[f"{name}_{way}_ms"] = statistics.median(each) * 1e3
                figures[f"{name}_{way}_mb"] = fresh(measure_peak, name, way) / 1e6
    return Report.of(figures, {"hall30_last": "thirty times one visitor's run, one thread"})
