"""How long 30 seconds of piano take to be made, by each of the three models of piano, event by event.

Networks of the shipped sizes with random weights, one piece, float32, temperature 1. Thirty seconds are 1,203 events: the mean of the 108
test performances. relative_s, transformer_s, lstm_s: seconds, everything from an empty page to the last event included.
relative_vs_generate_ratio: time of transformers' `generate` over that of the relative one, both writing one piece; a GPT-2 with as many
layers, heads and units samples as many symbols out of as many from its own cache.
relative_uncached_s: that of the relative one by reading all events again for each new one, estimated from every 64th of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from benchmarks.language_model import generated, peer
from benchmarks.measure import Bound, Report, as_shipped, interleaved, median, ratio
from models.music.decode import reader
from models.music.pretrained import Network
from models.music.recipe import VARIANTS
from models.sampling import FREE, Wanted, Writer, uniforms, written

EVENTS = 1203
MODELS = ("relative", "transformer", "lstm")
SAMPLED = 64  # one of so many positions is read anew, to estimate what all of them would take


def network(variant: str, device: torch.device) -> Network:
    """A network of a variant's size that has learned nothing."""
    torch.manual_seed(1)
    return as_shipped(VARIANTS[variant].build()).to(device)  # type: ignore[no-any-return]


def make(model: Network) -> None:
    """Thirty seconds, cached."""
    written(Writer(reader(model, 1, EVENTS), Wanted(torch.full((1, EVENTS), FREE), uniforms(1, EVENTS)[None], (1.0,)), given=False))


@torch.no_grad()
def read_again(model: Network, device: torch.device) -> None:
    """Some of the passes that making without a cache would take."""
    before = torch.zeros(1, EVENTS, dtype=torch.long, device=device)
    for length in range(1, EVENTS + 1, SAMPLED):
        model(before[:, :length])


def measure(device: torch.device) -> Report:
    """All figures of this benchmark."""
    models = {variant: network(variant, device) for variant in MODELS}
    sides: dict[str, Callable[[], object]] = {variant: partial(make, model) for variant, model in models.items()}
    config: Any = models["relative"].config
    other = peer(config, config.events + 1, EVENTS + 1).to(device)
    sides["generate"] = lambda: generated(other, torch.full((1, 1), config.events, device=device), EVENTS)
    times = interleaved(sides, device)
    again = interleaved({"relative": lambda: read_again(models["relative"], device)}, device, rounds=1)
    figures = {f"{variant}_s": median(times[variant]) for variant in MODELS}
    figures["generate_s"] = median(times["generate"])
    figures["relative_vs_generate_ratio"] = ratio(times, "generate", "relative")
    figures |= {f"{variant}_events_per_s": EVENTS / median(times[variant]) for variant in MODELS}
    figures["relative_uncached_s"] = median(again["relative"]) * SAMPLED
    bounds = {f"{variant}_s": Bound(15.0) for variant in MODELS} | {"relative_vs_generate_ratio": Bound(3.0, at_least=True)}
    return Report(figures, bounds)
