"""Adaptive computation time where stopped positions are not computed, beside the same where all are
computed and masked, float32.

A Universal Transformer of width 256 on 32 sequences of 64 positions, 8 steps at most, without
gradients. The number of steps of each position is drawn beforehand, with a mean of 1.2 or 2.5; in
both cases some go on to the eighth.
ratio_at_mean_1_2, ratio_at_mean_2_5: time of computing all and masking over ours.
max_difference: the largest difference between the outputs of the two, relative to the largest
    output.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks.measure import Bound, Figure, Report, median, ratio, time_in_turns
from benchmarks.sizes import size
from models.layers.act import Stop
from models.universal_transformer.model import Config, Thought, UniversalTransformer

BATCH, LENGTH = size((32, 64), (4, 16))
LIMIT = 8
MEANS = (1.2, 2.5)


def durations(mean: float, shape: tuple[int, int], seed: int = 1) -> Tensor:
    """Return a number of steps for each position, (batch, position), 1 to LIMIT, geometrically
    distributed with this mean. At least one takes LIMIT.

    Raise ValueError where no distribution of this form has the mean.
    """
    if not 1 < mean < (1 + LIMIT) / 2:
        raise ValueError(f"a mean of {mean} steps of 1 to {LIMIT}")
    steps = torch.arange(1, LIMIT + 1, dtype=torch.float64)
    low, high = 1e-9, 1.0
    for _ in range(60):  # the share that goes on after each step, by bisection
        share = (low + high) / 2
        weight = share**steps
        low, high = (
            (share, high) if float((weight * steps).sum() / weight.sum()) < mean else (low, share)
        )
    counts = (weight / weight.sum() * shape[0] * shape[1]).round().long()
    counts[-1] = max(int(counts[-1]), 1)
    counts[0] += shape[0] * shape[1] - int(counts.sum())
    found = torch.repeat_interleave(torch.arange(1, LIMIT + 1), counts)
    return found[torch.randperm(len(found), generator=torch.Generator().manual_seed(seed))].view(
        shape
    )


def sides(mean: float, device: torch.device) -> dict[str, Callable[[], Thought]]:
    """Return ours and the masked way, on the same positions, each of which takes the steps that
    `durations` gives it."""
    torch.manual_seed(1)
    model = (
        UniversalTransformer(Config(vocabulary=64, d_model=256, d_ff=1024, n_heads=4, limit=LIMIT))
        .to(device)
        .eval()
    )
    tokens = torch.randint(1, 64, (BATCH, LENGTH, 1), device=device)
    places = torch.arange(LENGTH, device=device).expand(BATCH, LENGTH)
    alive = torch.ones(BATCH, LENGTH, dtype=torch.bool, device=device)
    stop = Stop(0.01, LIMIT, forced=durations(mean, (BATCH, LENGTH)).to(device))
    return {
        "gathered": lambda: model.run_gathered(tokens, places, alive, stop),
        "masked": lambda: model(tokens, places, alive, stop),
    }


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    figures: dict[str, Figure] = {}
    difference = 0.0
    with torch.no_grad():
        for mean, least in zip(MEANS, (4.0, 2.2), strict=True):
            name = f"{mean:g}".replace(".", "_")
            both = sides(mean, device)
            ours, theirs = both["gathered"](), both["masked"]()
            assert ours.pondered is not None and theirs.pondered is not None
            if not torch.equal(ours.pondered.steps, theirs.pondered.steps):
                raise RuntimeError("the two ways do not take the same steps")
            output = theirs.pondered.output
            difference = max(
                difference, float((ours.pondered.output - output).abs().max() / output.abs().max())
            )
            times = time_in_turns(both, device, calls=2)
            figures |= {
                f"{side}_at_mean_{name}_ms": median(seconds) * 1e3
                for side, seconds in times.items()
            }
            figures[f"mean_{name}_steps"] = float(ours.pondered.steps.double().mean())
            figures[f"ratio_at_mean_{name}"] = (
                ratio(times, "masked", "gathered"),
                Bound(least, at_least=True),
            )
    figures["max_difference"] = difference, Bound(1e-5)
    notes = {
        "masked": (
            "every position computed at every step until the last has stopped, the results of"
            " stopped ones thrown away"
        )
    }
    return Report.of(figures, notes)
