"""The benefit of memory on the held-out book, measured once: assets/transformer_xl/ladder.json.

`by_memory`: bits per character of the model with a memory, for each length. `contexts`: the cost of
characters after contexts of each length and nothing before, for both models, and the relative
effective context length computed from it (Dai et al., 2019, appendix C).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F

from models.checkpoints import checkpoint
from models.checkpoints.device import choose_device
from models.data.windows import find_unusual_bound
from models.transformer_xl.data import costs, numbers
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import SLUG, Network, load
from models.transformer_xl.records import MEMORIES

SPLIT = "test"
# Lengths in characters: those of the paper, in words, scaled to short texts of characters.
CONTEXTS = (8, 16, 32, 64, 128, 256, 384, 512, 768, 1024)
PLACES = 512  # characters of the book whose losses are measured in every context
TOGETHER = 64  # contexts read at once
# r: shares of the places, the hardest first, on which the length is measured.
HARDEST = (1.0, 0.5, 0.1)
PARTS = 16  # of a segment, with separate losses
PAGE = 512  # characters of a page
GAIN = 0.01  # relative gain of perplexity below which more context has no effect


@torch.no_grad()
def in_context(
    model: Network, text: NDArray[np.uint8], places: NDArray[np.int64], length: int
) -> NDArray[np.float64]:
    """Return −log p in nats of the character at each place after exactly `length` characters,
    (place,).

    Segments are counted back from the place, so that the last is whole; without a memory, only the
    last segment matters.
    """
    segment = model.config.segment
    if not isinstance(model, TransformerXL):
        length = min(length, segment)
    rows = torch.from_numpy(text[places[:, None] - np.arange(length, 0, -1)].astype(np.int64))
    wanted = torch.from_numpy(text[places].astype(np.int64))
    parts = [length % segment] * bool(length % segment) + [segment] * (length // segment)
    where = model.readout.weight.device
    found = []
    for some, aims in zip(torch.split(rows, TOGETHER), torch.split(wanted, TOGETHER), strict=True):
        memory = model.make_memory() if isinstance(model, TransformerXL) else None
        for part in torch.split(some.to(where), parts, 1):
            logits = model(part, memory)
        found.append(
            F.cross_entropy(logits[:, -1].double(), aims.to(where), reduction="none").cpu().numpy()
        )
    return np.concatenate(found)


def effective_lengths(
    losses: Mapping[str, NDArray[np.float64]], contexts: Sequence[int], share: float
) -> dict[str, int]:
    """Return the relative effective context length of each model of a group (Dai et al., 2019,
    appendix C).

    losses: name -> nats, (context, place). The baseline of a context c is, at each place, the best
    model's loss, b_c = min_m ℓ_{m,c}; T are the places where it is largest, a share `share` of
    them. The gain of model m from c to the next context c′, where it may keep its prediction
    without it, is (exp mean_T b_c − exp mean_T min(b_c, ℓ_{m,c′})) / exp mean_T b_c. Its length is
    the longest c′ up to which every gain exceeds GAIN.
    """
    best = np.min(list(losses.values()), 0)
    found = {}
    for name, own in losses.items():
        length = contexts[0]
        for c in range(len(contexts) - 1):
            hardest = np.argsort(-best[c], kind="stable")[: max(1, round(share * best.shape[1]))]
            baseline = math.exp(best[c, hardest].mean())
            reached = math.exp(np.minimum(best[c, hardest], own[c + 1, hardest]).mean())
            if (baseline - reached) / baseline <= GAIN:
                break
            length = contexts[c + 1]
        found[name] = length
    return found


def by_place(nats: NDArray[np.float32], segment: int) -> list[float]:
    """Return the bits per character in each of PARTS equal parts of a segment, from its border on.

    The first segment, which has no past, is left out. Raise ValueError if a segment cannot be
    divided into these parts.
    """
    if segment % PARTS:
        raise ValueError(f"a segment of {segment} characters in {PARTS} parts")
    whole = nats[segment : len(nats) - len(nats) % segment].reshape(-1, PARTS, segment // PARTS)
    return [round(float(bits), 4) for bits in whole.mean((0, 2), dtype=np.float64) / math.log(2)]


def measure_all(
    models: Mapping[str, Network], text: Mapping[str, NDArray[np.uint8]]
) -> dict[str, Any]:
    """Measure all figures.

    models: by variant. text: the held-out book in the numbers of each.
    """
    memory = models["xl"]
    read = {length: costs(memory, text["xl"], length) for length in MEMORIES}
    by_memory = [
        {"memory": length, "value": round(float(one.mean(dtype=np.float64)) / math.log(2), 4)}
        for length, one in read.items()
    ]
    segment = memory.config.segment
    read_as_trained = read[memory.memory] if memory.memory in read else costs(memory, text["xl"])
    places_of = {
        "none": by_place(read[MEMORIES[0]], segment),
        "xl": by_place(read_as_trained, segment),
    }
    places_of |= {
        name: by_place(costs(model, text[name]), segment)
        for name, model in models.items()
        if name != "xl"
    }
    longest = max(CONTEXTS)
    places = np.linspace(
        longest, len(text["xl"]) - 1, min(PLACES, len(text["xl"]) - longest)
    ).astype(np.int64)
    losses = {
        name: np.stack([in_context(model, text[name], places, c) for c in CONTEXTS])
        for name, model in models.items()
    }
    contexts = {
        name: [round(float(row.mean()) / math.log(2), 4) for row in own]
        for name, own in losses.items()
    }
    return {
        "split": SPLIT,
        "by_memory": by_memory,
        "pages": {"length": PAGE, "p99": find_unusual_bound(read_as_trained, PAGE)},
        "by_place": {"segment": segment, "bits": places_of},
        "contexts": {"lengths": list(CONTEXTS), "bits": contexts, "n": len(places)},
        "effective_lengths": [
            {"r": share, "gain": GAIN, **effective_lengths(losses, CONTEXTS, share)}
            for share in HARDEST
        ],
    }


def write(data: Path) -> Path:
    """Measure and write ladder.json atomically; return it.

    Raise CheckpointError if the model with a memory is not shipped.
    """
    variants = [
        name
        for name in ("xl", "absolute")
        if name == "xl" or (checkpoint.find_folder(SLUG, name) / "model.json").is_file()
    ]
    models = {name: load(name).model.to(choose_device()) for name in variants}
    texts = {
        name: np.concatenate(numbers(data, SPLIT, model.alphabet)) for name, model in models.items()
    }
    found = measure_all(models, texts)
    for one in found["by_memory"]:
        print(f"memory {one['memory']:>5}: {one['value']:.4f} bits per character")
    for one in found["effective_lengths"]:
        print(
            f"effective context, r = {one['r']}: "
            + ", ".join(f"{name} {one[name]}" for name in models)
        )
    return checkpoint.write_json(checkpoint.ASSETS / SLUG / "ladder.json", found, indent=1)
