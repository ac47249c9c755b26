"""Losses of characters of a long text by Transformer-XL's state reuse, and by a sliding window that
computes all anew for each character.

The losses are the same both ways: every position sees the WINDOW last positions of each layer, its
own among them. One layer then depends on WINDOW − 1 positions more than the one below it, and a
character's loss on layers · (WINDOW − 1) + 1 characters: the receptive field.
state_reuse_ms, sliding_window_ms: one character's time. State reuse reads segments of 128 with a
    memory of WINDOW − 1 states a layer, and computes each state once. The sliding window reads the
    receptive field anew, through all layers, some characters at once.
vs_sliding_window_ratio: the second over the first.
max_difference: the largest difference between their losses, nats.
vs_one_window_ratio: state reuse against a window of WINDOW characters alone, which costs less and
    sees less, with other losses.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.measure import Bound, Figure, Report, median, ratio, time_in_turns
from benchmarks.sizes import size
from models.checkpoints.checkpoint import CheckpointError
from models.transformer_xl.model import Config, TransformerXL
from models.transformer_xl.pretrained import load

WINDOW = size(512, 8)  # positions that a position sees in each layer
SEGMENTS = size(4, 1)  # read by state reuse and timed, after a warm memory
SAMPLED = size(16, 4)  # characters whose receptive field is read anew
TOGETHER = 4  # of them at once
LETTERS = "".join(map(chr, range(33, 123)))  # as many as the books have


def network(device: torch.device) -> tuple[TransformerXL, str]:
    """Return the shipped network, or an untrained one of its size, and which of the two it is."""
    try:
        found = load("xl").model
        assert isinstance(found, TransformerXL)
        return found.to(device), "the shipped network"
    except CheckpointError:
        torch.manual_seed(1)
        return TransformerXL(Config(LETTERS)).eval().requires_grad_(False).to(
            device
        ), "a network of the shipped size with random weights"


def losses(model: TransformerXL, text: Tensor, segment: int) -> Callable[[], Tensor]:
    """Return state reuse over the last SEGMENTS segments of a text, (1, position), with the text
    before them read already."""
    timed = SEGMENTS * segment
    tables = model.tables(WINDOW + segment)

    def read(begin: int, end: int, memory: object) -> Tensor:
        parts = [
            model(part, memory, tables, WINDOW)
            for part in torch.split(text[:, begin:end], segment, 1)
        ]
        wanted = text[:, begin + 1 : end + 1]
        return F.cross_entropy(
            torch.cat(parts, 1)[:, : wanted.shape[1]].transpose(1, 2), wanted, reduction="none"
        )

    before = text.shape[1] - 1 - timed
    warm = model.make_memory(WINDOW - 1)
    read(0, before, warm)
    held = list(warm._held)

    def reuse() -> Tensor:
        memory = model.make_memory(WINDOW - 1)
        memory._held = list(held)
        return read(before, text.shape[1] - 1, memory)

    return reuse


def anew(model: TransformerXL, text: Tensor, ends: list[int], length: int) -> Tensor:
    """Return the loss of the character after each of some positions, (position,), with `length`
    characters read for each of them and nothing else."""
    tables = model.tables(WINDOW)
    found = []
    for first in range(0, len(ends), TOGETHER):
        rows = ends[first : first + TOGETHER]
        windows = torch.cat([text[:, end + 1 - length : end + 1] for end in rows])
        logits = model(windows, None, tables, WINDOW)[:, -1]
        found.append(F.cross_entropy(logits, text[0, [end + 1 for end in rows]], reduction="none"))
    return torch.cat(found)


@torch.no_grad()
def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    model, which = network(device)
    segment, field = model.config.segment, model.config.n_layers * (WINDOW - 1) + 1
    timed = SEGMENTS * segment
    length = math.ceil(field / segment) * segment + timed + 1
    values = np.random.default_rng(1).integers(1, len(model.config.letters) + 1, (1, length))
    text = torch.from_numpy(values).to(device)
    ends = [length - 2 - i * (timed // SAMPLED) for i in range(SAMPLED)]
    reuse = losses(model, text, segment)
    ours = reuse()[0, [end - (length - 1 - timed) for end in ends]]
    difference = float((ours - anew(model, text, ends, field)).abs().max())
    times = time_in_turns(
        {
            "state_reuse": reuse,
            "sliding_window": lambda: anew(model, text, ends[:TOGETHER], field),
            "one_window": lambda: anew(model, text, ends, WINDOW),
        },
        device,
        rounds=3,
    )
    sizes = {"state_reuse": timed, "sliding_window": TOGETHER, "one_window": SAMPLED}
    each = {name: [one / sizes[name] for one in seconds] for name, seconds in times.items()}
    figures: dict[str, Figure] = {
        f"{name}_ms": median(seconds) * 1e3 for name, seconds in each.items()
    }
    figures |= {
        "vs_sliding_window_ratio": (
            ratio(each, "sliding_window", "state_reuse"),
            Bound(100, at_least=True),
        ),
        "vs_one_window_ratio": ratio(each, "one_window", "state_reuse"),
        "max_difference": (difference, Bound(1e-4)),
        "receptive_field_characters": field,
    }
    return Report.of(figures, {"network": which})
