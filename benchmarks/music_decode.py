"""The time to make 30 seconds of piano, by each of the three models of piano, event by event.

Networks of the shipped sizes with random weights, one piece, float32, temperature 1. Thirty seconds
are 1,203 events: the mean of the 108 test performances.
relative_s, transformer_s, lstm_s: seconds, everything from an empty page to the last event
    included.
relative_vs_generate_ratio: time of transformers' `generate` over that of the relative one, both
    writing one piece. A GPT-2 with as many layers, heads and units samples as many symbols out of
    as many from its own cache.
relative_uncached_s: the time of the relative one when it reads all events again for each new one,
    estimated from every 64th of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from benchmarks.language_model import generate_with_peer, peer
from benchmarks.measure import Bound, Report, as_shipped, median, ratio, time_in_turns
from benchmarks.sizes import size
from models.decoding.sampling import FREE, Wanted, Writer, draw_uniforms, write_all
from models.music.decode import reader
from models.music.pretrained import Network
from models.music.recipe import VARIANTS

EVENTS = size(1203, 8)
MODELS = ("relative", "transformer", "lstm")
# one in this many positions is read anew, to estimate the time of all
SAMPLED = size(64, 4)


def network(variant: str, device: torch.device) -> Network:
    """Build an untrained network of a variant's size."""
    torch.manual_seed(1)
    return as_shipped(VARIANTS[variant].build()).to(device)  # type: ignore[no-any-return]


def make(model: Network) -> None:
    """Make thirty seconds of piano with a cache."""
    write_all(
        Writer(
            reader(model, 1, EVENTS),
            Wanted(torch.full((1, EVENTS), FREE), draw_uniforms(1, EVENTS)[None], (1.0,)),
            given=False,
        )
    )


@torch.no_grad()
def read_again(model: Network, device: torch.device) -> None:
    """Run some of the passes that making without a cache would take."""
    before = torch.zeros(1, EVENTS, dtype=torch.long, device=device)
    for length in range(1, EVENTS + 1, SAMPLED):
        model(before[:, :length])


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    models = {variant: network(variant, device) for variant in MODELS}
    sides: dict[str, Callable[[], object]] = {
        variant: partial(make, model) for variant, model in models.items()
    }
    config: Any = models["relative"].config
    other = peer(config, config.events + 1, EVENTS + 1).to(device)
    sides["generate"] = lambda: generate_with_peer(
        other, torch.full((1, 1), config.events, device=device), EVENTS
    )
    times = time_in_turns(sides, device)
    again = time_in_turns(
        {"relative": lambda: read_again(models["relative"], device)}, device, rounds=1
    )
    figures = {f"{variant}_s": median(times[variant]) for variant in MODELS}
    figures["generate_s"] = median(times["generate"])
    figures["relative_vs_generate_ratio"] = ratio(times, "generate", "relative")
    figures |= {f"{variant}_events_per_s": EVENTS / median(times[variant]) for variant in MODELS}
    figures["relative_uncached_s"] = median(again["relative"]) * SAMPLED
    bounds = {f"{variant}_s": Bound(15.0) for variant in MODELS} | {
        "relative_vs_generate_ratio": Bound(3.0, at_least=True)
    }
    return Report(figures, bounds)
