"""How the two models of long texts are made and measured."""

from __future__ import annotations

import argparse
import dataclasses
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from models import bits, checkpoint, training
from models.characters import Alphabet, books
from models.generated import Plan, learn
from models.training import Schedule
from models.transformer_xl import absolute, model
from models.transformer_xl.absolute import AbsoluteTransformer
from models.transformer_xl.data import Batch, costs, drawn_stretches, numbers, windowed
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import SLUG, Network
from models.transformer_xl.pretrained import read as read_checkpoint

REPORTED = "test"  # the split of the figure in README
CHOSEN = "valid"  # the split that learning rates, and all else, are chosen on
RATES = (1.5e-3, 3e-3, 6e-3)  # where the search for the largest learning rate begins, for both variants alike
WATCHED = 32_768  # characters of the held-out book that training looks at


@dataclass(frozen=True)
class Recipe:
    """How a network is trained."""

    schedule: Schedule
    lanes: int = 4  # stretches of text in a batch
    segments: int = 6  # of a stretch: the first is read without a memory, the last ones with the longest
    round: int = 300  # batches between two looks at the held-out book
    rate: float | None = None  # the largest learning rate; None: the best of a search that begins with RATES


@dataclass(frozen=True)
class Task:
    """What a variant learns."""

    build: Callable[[str], Network]  # letters -> the network, nothing learned yet
    recipe: Recipe
    target: float | None  # bits per character that it must reach
    data: str = "17 books in the public domain, 12.8 million characters, whole books held out (The Man Who Was Thursday, Persuasion)"
    licence: str = "public domain: the books. Apache-2.0: these weights"


# As many characters as one core reads in half an hour, none of them twice, so nothing needs dropping out.
RECIPE = Recipe(Schedule(steps=2600, warmup=150, decay=0.0, cooldown=1600, clip=1.0, average=3, every=20, precision="bf16-mixed"))
PUBLISHED: dict[str, Any] = {
    "value": 0.99,
    "source": "Dai et al. (2019), enwik8, 277 M parameters",
    "comparable": False,
    "why": {
        "en": "Another text (Wikipedia, with its markup, byte by byte) and a network some three hundred times as large.",
        "zh": "文本不同（维基百科及其标记，逐字节），网络约大三百倍。",
    },
}
VARIANTS: dict[str, Task] = {
    "xl": Task(lambda letters: TransformerXL(model.Config(letters)), RECIPE, 2.05),
    "absolute": Task(lambda letters: AbsoluteTransformer(absolute.Config(letters)), RECIPE, None),
}


def task_of(variant: str) -> Task:
    """The task of a variant; ValueError for an unknown one."""
    if variant not in VARIANTS:
        raise ValueError(f"{SLUG} has the variants {', '.join(VARIANTS)}, not {variant}")
    return VARIANTS[variant]


class Objective(nn.Module):
    """What training minimises: −log p of every character of stretches that are read from an empty memory."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Sum of losses in nats, number of characters."""
        logits = self.model.stretch(batch.before)  # type: ignore[operator]
        loss = F.cross_entropy(logits.float().flatten(0, 1), batch.wanted.flatten(), reduction="sum")
        return loss, torch.tensor(batch.wanted.numel(), device=loss.device)


def mean_bits(model: Network, text: NDArray[np.uint8]) -> float:
    """Bits per character of a text, read with the memory of training."""
    return float(costs(model, text).mean(dtype=np.float64)) / math.log(2)


def train(
    data: Path,
    runs: Path,
    variant: str = "xl",
    *,
    seed: int = 1,
    device: torch.device,
    minutes: float | None = None,
    resume: bool = False,
    devices: int = 1,
    recipe: Recipe | None = None,
    where: Path | None = None,
) -> Path:
    """Choose the learning rate, train, write the assets; returns their folder.

    `resume` with `minutes` 0 publishes what a run has so far. ValueError for an unknown variant.
    """
    task = task_of(variant)
    recipe = recipe or task.recipe
    recipe = dataclasses.replace(recipe, schedule=dataclasses.replace(recipe.schedule, seed=seed))
    alphabet = Alphabet.of(book.text for book in books(data, "train"))
    texts = numbers(data, "train", alphabet)
    held_out = np.concatenate(numbers(data, "valid", alphabet))[:WATCHED]
    length = recipe.segments * task.build(alphabet.letters).config.segment

    def draw(generator: np.random.Generator, done: float) -> Batch:
        return drawn_stretches(texts, recipe.lanes, length, generator)

    def validate(network: nn.Module) -> float:
        assert isinstance(network, Network)
        return mean_bits(network, held_out)

    plan = Plan(
        build=lambda: task.build(alphabet.letters),
        objective=Objective,
        draw=draw,
        validate=validate,
        schedule=recipe.schedule,
        rates=RATES,
        rate=recipe.rate,
        round=recipe.round,
        optimizers=training.muon,
    )
    facts = {"slug": SLUG, "variant": variant, "chosen_on": CHOSEN, "data": task.data, "licence": task.licence, "published": PUBLISHED}
    run = runs / SLUG / variant / str(seed)
    where = where or checkpoint.folder(SLUG, variant, seed)
    return learn(plan, run, where, facts, recipe, device=device, minutes=minutes, resume=resume, devices=devices)


def measured(model: Network, data: Path, split: str, memory: int | None) -> dict[str, Any]:
    """Bits per character of the books of a split, segment by segment; where there is a memory, it goes on from segment to segment, within a
    window or, read in one go, through the whole book."""
    segment, held = model.config.segment, model.memory if memory is None else memory
    texts = [
        bits.Text(len(text), windowed(model, text, held), partial(costs, model, text, held) if isinstance(model, TransformerXL) else None)
        for text in numbers(data, split, Alphabet(model.config.letters))
    ]
    window = bits.WINDOW if isinstance(model, TransformerXL) else segment  # what stands before a segment is lost to the other
    return {**bits.figure(split, texts, window), "books": len(texts), "segment": segment, "memory": held}


def evaluate(
    data: Path,
    variant: str = "xl",
    *,
    seed: int = 1,
    split: str = REPORTED,
    device: torch.device,
    record: bool = False,
    memory: int | None = None,
) -> dict[str, Any]:
    """Read the held-out book and measure what a character costs.

    memory: states that each layer remembers, by default as in training. `record` writes the figure into model.json.
    ValueError for an unknown variant or split, or for a memory where there is none.
    """
    task = task_of(variant)
    where = checkpoint.folder(SLUG, variant, seed)
    network = read_checkpoint(where, str(device)).model
    begin = time.perf_counter()
    figure = measured(network, data, split, memory)
    seconds = time.perf_counter() - begin
    if record:
        if split != REPORTED or figure["memory"] != network.memory:
            raise ValueError(f"model.json keeps the figure of {REPORTED} with the memory of training, {network.memory}")
        checkpoint.write_facts(where, checkpoint.with_figure(checkpoint.read_facts(where), figure, bits.PROTOCOL))
    seeds = sorted([{"seed": seed, "value": figure["value"]}, *_others(variant, seed, figure)], key=lambda one: one["seed"])
    print(f"{bits.told(figure)}\na memory of {figure['memory']}, in {seconds:.1f} s")
    if task.target is not None and split == REPORTED and memory is None and figure["value"] > task.target:
        print(f"That misses the {task.target} that the recipe must reach.")
    return {"slug": SLUG, "variant": variant, "seed": seed, **figure, "seconds": round(seconds, 2), "device": str(device), "seeds": seeds}


def _others(variant: str, seed: int, figure: dict[str, Any]) -> list[dict[str, Any]]:
    """Figures of the same variant with other seeds, where they were measured alike."""
    found = []
    for path in sorted(checkpoint.folder(SLUG, variant).parent.glob(f"{variant}*/model.json")):
        facts = checkpoint.read_facts(path.parent)
        kept = facts.get("figure", {})
        if (
            facts["variant"] == variant
            and facts["seed"] != seed
            and all(kept.get(key) == figure[key] for key in ("split", "memory", "window"))
        ):
            found.append({"seed": int(facts["seed"]), "value": kept["value"]})
    return found


def add_options(command: argparse.ArgumentParser) -> None:
    """What `evaluate` can be asked beside what every lab knows."""
    command.add_argument("--memory", type=int, default=None, help="states that each layer remembers; by default as in training")
