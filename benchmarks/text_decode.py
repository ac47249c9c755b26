"""How many characters a second the models of long texts write, one text alone, with what they have read kept, float32.

Networks of the shipped sizes with random weights. Each reads READ characters and writes WRITTEN after them, temperature 1; the reading
counts too. <name>_characters_per_s: characters written over all of the time. characters_per_s: the slowest of those in REACH.
vs_generate_ratio: time of transformers' `generate` over ours, of the slowest of those in REACH; a GPT-2 with as many layers, heads and
units reads and writes as many out of as many symbols, with its cache.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import torch

from benchmarks.adaptive_span import learned, stretched
from benchmarks.language_model import generated, peer
from benchmarks.measure import Bound, Figure, Report, as_shipped, interleaved, median, ratio
from models.adaptive_span import decode as span_decode
from models.adaptive_span import recipe as spans
from models.sampling import FREE, Wanted, Writer, uniforms, written
from models.transformer_xl.decode import Reader
from models.transformer_xl.recipe import VARIANTS

LETTERS = "".join(map(chr, range(33, 123)))  # as many as the books have
READ, WRITTEN = 1024, 400
Side = Callable[[torch.device], Callable[[], object]]  # device -> what reads READ characters and writes WRITTEN


def asked() -> Wanted:
    """A text that is read, and as many characters as are written after it."""
    known = torch.full((1, READ + WRITTEN), FREE)
    known[:, :READ] = torch.randint(1, len(LETTERS), (1, READ))
    return Wanted(known, uniforms(1, READ + WRITTEN)[None], (1.0,))


def long_text(variant: str) -> Side:
    """A variant of the Transformer-XL lab, its memory full from the first written character on."""

    def side(device: torch.device) -> Callable[[], object]:
        torch.manual_seed(1)
        model, wanted = as_shipped(VARIANTS[variant].build(LETTERS)).to(device), asked()
        return lambda: written(Writer(Reader(model, 1, model.memory, model.config.segment), wanted, precision=torch.float32))

    return side


def spanned(name: str) -> Side:
    """The network of adaptive span with `ours`, the spans that were learned, or with `fixed` ones, all of S; its weights have learned
    nothing."""

    def side(device: torch.device) -> Callable[[], object]:
        config, shares = learned()
        networks, wanted = stretched(dataclasses.replace(config, letters=LETTERS), shares, config.span, device), asked()
        model = as_shipped(networks[name]).to(device)
        return lambda: written(Writer(span_decode.Reader(model, 1), wanted))

    return side


SIDES: dict[str, Side] = {
    "xl": long_text("xl"),
    "xl_without_memory": long_text("absolute"),
    "span": spanned("ours"),
    "full_span": spanned("fixed"),
}
REACH = ("xl", "span", "full_span")  # those that must be fast enough


def measure(device: torch.device) -> Report:
    """All figures of this benchmark."""
    other = peer(spans.ON_CPU.config, len(LETTERS) + 1, READ + WRITTEN).to(device)
    given = torch.randint(1, len(LETTERS), (1, READ), device=device)
    sides = {name: side(device) for name, side in SIDES.items()} | {"generate": lambda: generated(other, given, WRITTEN)}
    times = interleaved(sides, device, rounds=3)
    figures: dict[str, Figure] = {f"{name}_characters_per_s": WRITTEN / median(seconds) for name, seconds in times.items()}
    figures["characters_per_s"] = min(WRITTEN / median(times[name]) for name in REACH), Bound(200, at_least=True)
    figures["vs_generate_ratio"] = min(ratio(times, "generate", name) for name in REACH), Bound(3, at_least=True)
    return Report.of(figures)
