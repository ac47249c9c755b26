"""Pictures of the self-attention GAN: its generator as shipped, float32, without gradients.

picture_ms, batch64_ms: one picture from noise and class, and 64 at once.
answer_ms: a whole answer of the page: the picture, both maps, all strips and the judgement.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

from benchmarks.measure import Bound, Figure, Report, median, time_in_turns
from benchmarks.sizes import size
from models.sagan.explain import explain
from models.sagan.model import AdversarialPair, Config
from models.sagan.records import EXAMPLES
from models.sagan.training import draw_noise

MANY = size(64, 2)
MOST = {"picture_ms": 30.0, "batch64_ms": 300.0}


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    torch.manual_seed(1)
    generator = AdversarialPair(Config()).generator.eval().requires_grad_(False).to(device)

    def side(count: int) -> Callable[[], object]:
        noise, kind = draw_noise(generator.config, count, 1)
        return partial(generator, noise.to(device), kind.to(device))

    sides = {"picture_ms": side(1), "batch64_ms": side(MANY)}
    sides["answer_ms"] = lambda: explain(EXAMPLES[:1])
    with torch.no_grad():
        times = time_in_turns(sides, device, calls=5)
    durations = {name: median(seconds) * 1e3 for name, seconds in times.items()}
    figures: dict[str, Figure] = {
        name: (value, Bound(MOST[name])) if name in MOST else value
        for name, value in durations.items()
    }
    return Report.of(figures)
