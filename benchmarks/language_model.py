"""The speed at which a language model of characters fills its window, beside the same model without
a cache, and transformers' `generate`.

Networks of the shipped size with random weights, float32, one text alone, drawn at temperature 1.
cached_vs_uncached_ratio: the time of reading the whole text again for every character over ours.
vs_generate_ratio: that of GPT-2 of the same size with its cache over ours.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from benchmarks.measure import Bound, Report, as_shipped, median, ratio, time_in_turns
from benchmarks.sizes import size
from models.decoding.sampling import FREE, Draws, Wanted, Writer, draw_uniforms, write_all
from models.language_model.decode import Reader
from models.language_model.model import Config, LanguageModel

WINDOW = size(256, 16)  # characters that it reads at once
LETTERS = "".join(map(chr, range(10, 103)))  # as many as the books have, with a line break


def peer(config: Any, symbols: int, positions: int) -> Any:
    """Build GPT-2 with as many layers, heads and units as a decoder of ours, and with this many
    symbols. It never ends by itself."""
    shape = GPT2Config(
        vocab_size=symbols,
        n_positions=positions,
        n_embd=config.d_model,
        n_layer=config.n_layers,
        n_head=config.n_heads,
        n_inner=config.d_ff,
        activation_function="relu",
        bos_token_id=0,
        eos_token_id=None,
        pad_token_id=0,
    )
    model: Any = GPT2LMHeadModel(shape)
    model.train(False)
    return model


@torch.no_grad()
def generate_with_peer(other: Any, given: Tensor, count: int) -> None:
    """Draw `count` symbols after the given ones, (1, position), at temperature 1. Raise
    AssertionError where it stops before."""
    found = other.generate(
        given, attention_mask=torch.ones_like(given), max_new_tokens=count, do_sample=True, top_k=0
    )
    if found.shape[1] != given.shape[1] + count:
        raise AssertionError(
            f"{count} symbols are to be written, not {found.shape[1] - given.shape[1]}"
        )


@torch.no_grad()
def generate_naively(model: LanguageModel, count: int) -> Tensor:
    """Return symbols, (1, position), each drawn after the whole text was read anew."""
    text, numbers = (
        torch.tensor([[model.start]], device=model.readout.weight.device),
        draw_uniforms(1, count),
    )
    draw = Draws(torch.ones(1, device=text.device), never=Reader.never)
    for i in range(count):
        drawn = draw(model(text)[:, -1], numbers[i : i + 1].to(text.device))
        text = torch.cat((text, drawn[:, None]), 1)
    return text[:, 1:]


@torch.no_grad()
def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    torch.manual_seed(1)
    config = Config(LETTERS, window=WINDOW)
    model, other = (
        as_shipped(LanguageModel(config)).to(device),
        peer(config, len(config.letters) + 1, config.window).to(device),
    )
    count = config.window - 1  # a window holds the line break in front too
    wanted = Wanted(torch.full((1, count), FREE), draw_uniforms(1, count)[None], (1.0,))
    first = torch.tensor([[model.start]], device=device)

    def write_cached() -> Tensor:
        return write_all(Writer(Reader(model, 1), wanted, precision=torch.float32))[0]

    if not torch.equal(write_cached(), generate_naively(model, count)):
        raise AssertionError("what is kept must change no character")
    seconds = time_in_turns(
        {
            "cached": write_cached,
            "uncached": lambda: generate_naively(model, count),
            "generate": lambda: generate_with_peer(other, first, count),
        },
        device,
        rounds=3,
    )
    figures = {f"{name}_characters_per_s": count / median(times) for name, times in seconds.items()}
    figures["cached_vs_uncached_ratio"] = ratio(seconds, "uncached", "cached")
    figures["vs_generate_ratio"] = ratio(seconds, "generate", "cached")
    return Report(
        figures,
        {
            "cached_vs_uncached_ratio": Bound(3, at_least=True),
            "vs_generate_ratio": Bound(1.4, at_least=True),
        },
    )
