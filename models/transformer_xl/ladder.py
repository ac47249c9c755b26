"""What memory buys on the held-out book, measured once: assets/transformer_xl/ladder.json.

`by_memory`: bits per character of the model with a memory, for each length. `contexts`: what both models make of the last characters of
contexts of each length and nothing before, and from them the relative effective context length (Dai et al., 2019, appendix C).
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

from models import checkpoint
from models.device import device
from models.transformer_xl.data import costs, numbers
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import SLUG, Network, load
from models.transformer_xl.records import MEMORIES
from models.windows import unusual

SPLIT = "test"
CONTEXTS = (8, 16, 32, 64, 128, 256, 384, 512, 768, 1024)  # characters; the paper's words, scaled to short texts of characters
PLACES = 512  # characters of the book whose losses are asked for in every context
TOGETHER = 64  # contexts that are read at once
HARDEST = (1.0, 0.5, 0.1)  # r: shares of the places, the hardest first, on which the length is measured
PARTS = 16  # of a segment, whose losses are told apart
PAGE = 512  # characters of a page
GAIN = 0.01  # relative gain of perplexity below which more context counts as none


@torch.no_grad()
def in_context(model: Network, text: NDArray[np.uint8], places: NDArray[np.int64], length: int) -> NDArray[np.float64]:
    """(place,) −log p in nats of the character at each place, the `length` characters before it read and nothing else.

    Read in segments counted back from the place, so that the last is whole; without a memory, only the last segment tells.
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
        memory = model.remembering() if isinstance(model, TransformerXL) else None
        for part in torch.split(some.to(where), parts, 1):
            logits = model(part, memory)
        found.append(F.cross_entropy(logits[:, -1].double(), aims.to(where), reduction="none").cpu().numpy())
    return np.concatenate(found)


def effective_lengths(losses: Mapping[str, NDArray[np.float64]], contexts: Sequence[int], share: float) -> dict[str, int]:
    """Relative effective context length of each model of a group (Dai et al., 2019, appendix C).

    losses: name -> (context, place) nats. The baseline of a context c is, place by place, the best model's loss, b_c = min_m ℓ_{m,c}; T are
    the places where it is largest, so large a share of them; model m gains from c to the next context c′, where it may keep what was known
    without it, (exp mean_T b_c − exp mean_T min(b_c, ℓ_{m,c′})) / exp mean_T b_c. Its length is the longest c′ up to which every gain
    exceeds GAIN.
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
    """Bits per character in each of PARTS equal parts of a segment, from its border on; the first segment, which has none before it, left
    out. ValueError where a segment has no such parts."""
    if segment % PARTS:
        raise ValueError(f"a segment of {segment} characters in {PARTS} parts")
    whole = nats[segment : len(nats) - len(nats) % segment].reshape(-1, PARTS, segment // PARTS)
    return [round(float(bits), 4) for bits in whole.mean((0, 2), dtype=np.float64) / math.log(2)]


def measured(models: Mapping[str, Network], text: Mapping[str, NDArray[np.uint8]]) -> dict[str, Any]:
    """All of it. models: by variant; text: the held-out book by the numbers of each."""
    memory = models["xl"]
    read = {length: costs(memory, text["xl"], length) for length in MEMORIES}
    by_memory = [{"memory": length, "value": round(float(one.mean(dtype=np.float64)) / math.log(2), 4)} for length, one in read.items()]
    segment = memory.config.segment
    read_as_trained = read[memory.memory] if memory.memory in read else costs(memory, text["xl"])
    places_of = {"none": by_place(read[MEMORIES[0]], segment), "xl": by_place(read_as_trained, segment)}
    places_of |= {name: by_place(costs(model, text[name]), segment) for name, model in models.items() if name != "xl"}
    longest = max(CONTEXTS)
    places = np.linspace(longest, len(text["xl"]) - 1, min(PLACES, len(text["xl"]) - longest)).astype(np.int64)
    losses = {name: np.stack([in_context(model, text[name], places, c) for c in CONTEXTS]) for name, model in models.items()}
    contexts = {name: [round(float(row.mean()) / math.log(2), 4) for row in own] for name, own in losses.items()}
    return {
        "split": SPLIT,
        "by_memory": by_memory,
        "pages": {"length": PAGE, "p99": unusual(read_as_trained, PAGE)},
        "by_place": {"segment": segment, "bits": places_of},
        "contexts": {"lengths": list(CONTEXTS), "bits": contexts, "n": len(places)},
        "effective_lengths": [{"r": share, "gain": GAIN, **effective_lengths(losses, CONTEXTS, share)} for share in HARDEST],
    }


def write(data: Path) -> Path:
    """Measure and write ladder.json in one move; returns it. CheckpointError where the model with a memory is not shipped."""
    variants = [name for name in ("xl", "absolute") if name == "xl" or (checkpoint.folder(SLUG, name) / "model.json").is_file()]
    models = {name: load(name).model.to(device()) for name in variants}
    texts = {name: np.concatenate(numbers(data, SPLIT, model.alphabet)) for name, model in models.items()}
    found = measured(models, texts)
    for one in found["by_memory"]:
        print(f"memory {one['memory']:>5}: {one['value']:.4f} bits per character")
    for one in found["effective_lengths"]:
        print(f"effective context, r = {one['r']}: " + ", ".join(f"{name} {one[name]}" for name in models))
    return checkpoint.write_json(checkpoint.ASSETS / SLUG / "ladder.json", found, indent=1)
