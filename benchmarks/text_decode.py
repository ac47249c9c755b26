"""The number of characters a second that the models of long texts write, one text alone, with a
cache of the text so far, float32.

Networks of the shipped sizes with random weights. Each reads READ characters and writes WRITTEN
after them, temperature 1; the reading counts too.
<name>_characters_per_s: characters written over all of the time.
characters_per_s: that of the slowest of those in REACH.
vs_generate_ratio: time of transformers' `generate` over ours, of the slowest of those in REACH. A
    GPT-2 with as many layers, heads and units reads and writes as many out of as many symbols, with
    its cache.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import torch

from benchmarks.adaptive_span import build_networks, read_learned_spans
from benchmarks.language_model import generate_with_peer, peer
from benchmarks.measure import Bound, Figure, Report, as_shipped, median, ratio, time_in_turns
from benchmarks.sizes import size
from models.adaptive_span import decode as span_decode
from models.adaptive_span import recipe as spans
from models.decoding.sampling import FREE, Wanted, Writer, draw_uniforms, write_all
from models.transformer_xl.decode import Reader
from models.transformer_xl.recipe import VARIANTS

LETTERS = "".join(map(chr, range(33, 123)))  # as many as the books have
READ, WRITTEN = size((1024, 400), (8, 4))
# device -> a function that reads READ characters and writes WRITTEN
Side = Callable[[torch.device], Callable[[], object]]


def describe_requests() -> Wanted:
    """Return a text to read, and the number of characters to write after it."""
    known = torch.full((1, READ + WRITTEN), FREE)
    known[:, :READ] = torch.randint(1, len(LETTERS), (1, READ))
    return Wanted(known, draw_uniforms(1, READ + WRITTEN)[None], (1.0,))


def long_text(variant: str) -> Side:
    """Build a variant of the Transformer-XL lab. Its memory is full from the first written
    character on."""

    def side(device: torch.device) -> Callable[[], object]:
        torch.manual_seed(1)
        model, wanted = as_shipped(VARIANTS[variant].build(LETTERS)).to(device), describe_requests()
        return lambda: write_all(
            Writer(
                Reader(model, 1, model.memory, model.config.segment),
                wanted,
                precision=torch.float32,
            )
        )

    return side


def build_network(name: str) -> Side:
    """Build the network of adaptive span with `ours`, the learned spans, or with `fixed` ones, all
    of S. Its weights are untrained."""

    def side(device: torch.device) -> Callable[[], object]:
        config, shares = read_learned_spans()
        networks, wanted = (
            build_networks(
                dataclasses.replace(config, letters=LETTERS), shares, config.span, device
            ),
            describe_requests(),
        )
        model = as_shipped(networks[name]).to(device)
        return lambda: write_all(Writer(span_decode.Reader(model, 1), wanted))

    return side


SIDES: dict[str, Side] = {
    "xl": long_text("xl"),
    "xl_without_memory": long_text("absolute"),
    "span": build_network("ours"),
    "full_span": build_network("fixed"),
}
REACH = ("xl", "span", "full_span")  # those that must be fast enough


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    other = peer(spans.ON_CPU.config, len(LETTERS) + 1, READ + WRITTEN).to(device)
    given = torch.randint(1, len(LETTERS), (1, READ), device=device)
    sides = {name: side(device) for name, side in SIDES.items()} | {
        "generate": lambda: generate_with_peer(other, given, WRITTEN)
    }
    times = time_in_turns(sides, device, rounds=3)
    figures: dict[str, Figure] = {
        f"{name}_characters_per_s": WRITTEN / median(seconds) for name, seconds in times.items()
    }
    figures["characters_per_s"] = (
        min(WRITTEN / median(times[name]) for name in REACH),
        Bound(200, at_least=True),
    )
    figures["vs_generate_ratio"] = (
        min(ratio(times, "generate", name) for name in REACH),
        Bound(3, at_least=True),
    )
    return Report.of(figures)
