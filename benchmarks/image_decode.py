"""The speed of making pictures, pixel by pixel, beside transformers' `generate` on a decoder of the
same size.

image_s: one picture of 28 × 28 by the slower of the two patterns, one step per pixel, with the cost
    of each pixel.
four_images_vs_one_ratio: four pictures at once over one, the greater of the two patterns' ratios.
vs_generate_ratio: seconds of `generate` over ours, per picture, the smaller of the two patterns'
    ratios. A GPT-2 with as many layers, heads and dimensions samples as many tokens out of as many
    symbols from its own key/value cache.

Weights are random on both sides, and all in float32. On a CPU each side runs with one thread and
with all of them, and its faster way counts: steps this small rarely gain by a second one.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from benchmarks.language_model import generate_with_peer, peer
from benchmarks.measure import (
    Bound,
    Figure,
    Report,
    as_shipped,
    median,
    ratio,
    threads,
    time_in_turns,
)
from benchmarks.sizes import size
from models.image_transformer.decode import Wanted, generate, uniforms
from models.image_transformer.model import LEVELS, Config, ImageTransformer
from models.image_transformer.records import PATTERNS

MANY = size(4, 2)  # pictures at once
SIDE = size(28, 7)  # rows and columns of a picture


def build_ours(config: Config) -> ImageTransformer:
    """Build our network, untrained."""
    return as_shipped(ImageTransformer(config))  # type: ignore[no-any-return]


def count_parameters(model: torch.nn.Module) -> int:
    """Return the number of parameters, each counted once."""
    return sum(parameter.numel() for parameter in model.parameters())


@torch.no_grad()
def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    torch.manual_seed(1)
    configs = {
        "local_1d": Config(rows=SIDE, columns=SIDE, query=(2, SIDE), memory=(4, SIDE)),
        "local_2d": Config(
            pattern="local_2d", rows=SIDE, columns=SIDE, query=(7, 7), memory=(7, 7)
        ),
    }
    pixels = configs["local_1d"].rows * configs["local_1d"].columns
    networks = {pattern: build_ours(config).to(device) for pattern, config in configs.items()}
    other = peer(configs["local_1d"], LEVELS + 1, pixels + 1).to(device)
    largest = torch.get_num_threads()
    counts = [1] if device.type != "cpu" or largest == 1 else [1, largest]

    def make(pattern: str, count: int, with_threads: int) -> Callable[[], object]:
        drawn = torch.cat([uniforms(seed, 1, pixels) for seed in range(count)])
        wanted = Wanted(
            torch.tensor([9] * count), drawn, (1,) * count, (1.0,) * count, (LEVELS,) * count
        )

        def run() -> None:
            with threads(with_threads):
                made = generate(networks[pattern], wanted)
            if made.position != pixels:
                raise AssertionError(f"{made.position} of {pixels} pixels were made")

        return run

    def sample(with_threads: int) -> Callable[[], object]:
        def run() -> None:
            with threads(with_threads):
                generate_with_peer(other, torch.full((1, 1), LEVELS, device=device), pixels)

        return run

    sides = {
        f"{pattern}_{n}_{t}": make(pattern, n, t)
        for pattern in PATTERNS
        for n in (1, MANY)
        for t in counts
    }
    sides |= {f"generate_1_{t}": sample(t) for t in counts}
    seconds = time_in_turns(sides, device)
    best = {
        name: _faster(name, seconds, counts)
        for name in ("generate_1", *(f"{p}_{n}" for p in PATTERNS for n in (1, MANY)))
    }
    figures: dict[str, Figure] = {f"{name}_s": median(times) for name, times in best.items()}
    figures["image_s"] = max(median(best[f"{pattern}_1"]) for pattern in PATTERNS), Bound(2.5)
    figures["four_images_vs_one_ratio"] = (
        max(ratio(best, f"{pattern}_{MANY}", f"{pattern}_1") for pattern in PATTERNS),
        Bound(2.0),
    )
    figures["vs_generate_ratio"] = (
        min(ratio(best, "generate_1", f"{pattern}_1") for pattern in PATTERNS),
        Bound(10.0, at_least=True),
    )
    notes = {
        "vs_generate_ratio": (
            f"{count_parameters(networks['local_1d']):,} parameters beside"
            f" {count_parameters(other):,} of the GPT-2"
        )
    }
    return Report.of(figures, notes)


def _faster(name: str, seconds: dict[str, list[float]], counts: list[int]) -> list[float]:
    """Return the rounds of one side with the number of threads that makes it faster."""
    return min((seconds[f"{name}_{count}"] for count in counts), key=median)
