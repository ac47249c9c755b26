"""How the pondering networks are made and measured."""

from __future__ import annotations

import argparse
import dataclasses
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import checkpoint
from models.act_rnn.data import BITS, DIGITS, NONE, OUTPUTS, UNITS, Batch, Inputs, drawn
from models.act_rnn.model import Config, PonderingNetwork, Thought
from models.act_rnn.pretrained import SLUG
from models.act_rnn.pretrained import read as read_checkpoint
from models.generated import Plan, learn
from models.training import Schedule

REPORTED = "test"  # the split of the figure in README
CHOSEN = "val"  # the split that learning rates, and all else, are chosen on
PROTOCOL = "10,000 inputs that no network learned from"
RATES = (1e-3, 2e-3, 4e-3)  # where the search for the largest learning rate begins, for every variant alike
WITHOUT = "_without"  # what the name of a variant without adaptive computation time ends in
TARGETS = {"parity": 0.99, "addition": 0.95}
LICENCE = "Apache-2.0: the generator and these weights"


@dataclass(frozen=True)
class Recipe:
    """How a network is trained."""

    schedule: Schedule
    batch: int = 128  # inputs
    price: float = 1e-3  # τ: what a unit of ponder cost N + R adds to the loss, in nats
    rise: float = 0.5  # share of the run over which the hardest input grows from the easiest to the full size
    hard: float = 0.3  # share of inputs that are of the hardest kind at that moment, beside those of any kind
    round: int = 250  # batches between two looks at held-out inputs
    rate: float | None = None  # the largest learning rate; None: the best of a search that begins with RATES


@dataclass(frozen=True)
class Task:
    """What a variant learns."""

    name: str  # "parity" or "addition"
    steps: int  # updates for every input; 0 where the network decides
    d_model: int  # units of the state
    limit: int  # updates at most for one input
    data: str  # in words
    recipe: Recipe = field(kw_only=True)

    def build(self) -> PonderingNetwork:
        """The network, nothing learned yet."""
        return PonderingNetwork(Config(UNITS[self.name], OUTPUTS[self.name], self.d_model, self.limit, steps=self.steps))


def _schedule(steps: int) -> Schedule:
    return Schedule(
        steps=steps, warmup=100, decay=0.0, cooldown=steps // 3, clip=1.0, average=3, every=max(1, steps // 100), precision="32-true"
    )


PARITY = Task(
    "parity",
    0,
    16,
    20,
    f"vectors of {BITS} entries, 1 to {BITS} of them −1 or 1 and the others 0, made by a seeded generator; 18 of 20 by their hash",
    recipe=Recipe(_schedule(36_000), rise=0.4),
)
ADDITION = Task(
    "addition",
    0,
    48,
    8,
    f"two numbers of 1 to {DIGITS} digits, read digit by digit from the units on, made by a seeded generator; 18 of 20 by their hash",
    recipe=Recipe(_schedule(5_000), rise=0.3),
)
VARIANTS: dict[str, Task] = {
    "parity": PARITY,
    "addition": ADDITION,
    f"parity{WITHOUT}": dataclasses.replace(PARITY, steps=1),
    f"addition{WITHOUT}": dataclasses.replace(ADDITION, steps=1),
}


def task_of(variant: str) -> Task:
    """The task of a variant; ValueError for an unknown one."""
    if variant not in VARIANTS:
        raise ValueError(f"{SLUG} has the variants {', '.join(VARIANTS)}, not {variant}")
    return VARIANTS[variant]


class Objective(nn.Module):
    """What training minimises: −log p of every wanted answer, and the price of pondering (Graves, 2016, eq. 13)."""

    def __init__(self, model: nn.Module, price: float) -> None:
        super().__init__()
        self.model = model
        self.price = price

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Sum of losses in nats, number of answers. An answer's share of the price is the mean ponder cost of an input."""
        thought: Thought = self.model(batch.inputs, batch.alive)
        wanted = batch.targets != NONE
        count = wanted.sum()
        loss = F.cross_entropy(thought.logits[wanted].float(), batch.targets[wanted], reduction="sum")
        return loss + self.price * count * thought.cost.sum() / batch.alive.sum(), count


@torch.no_grad()
def answered(model: PonderingNetwork, inputs: Inputs, size: int = 500, **more: Any) -> tuple[Tensor, Thought]:
    """(batch, input) which answers are right, True where none is wanted; and the pass itself. more: as in `PonderingNetwork.forward`."""
    device = next(model.parameters()).device
    right, thoughts = [], []
    for begin in range(0, len(inputs), size):
        batch = inputs[begin : begin + size].batch().to(device)
        thought: Thought = model(batch.inputs, batch.alive, gather=model.halting is not None, **more)
        right.append(((thought.logits.argmax(-1) == batch.targets) | (batch.targets == NONE)).cpu())
        thoughts.append(thought)
    parts = [(t.logits.cpu(), t.steps.cpu(), t.remainder.cpu()) for t in thoughts]
    logits, steps, remainder = (torch.cat(part) for part in zip(*parts, strict=True))
    return torch.cat(right), Thought(logits, steps, remainder)


def accuracy(model: PonderingNetwork, inputs: Inputs) -> float:
    """Share of wanted answers that are right: of vectors, or of the digits of sums."""
    right, _ = answered(model, inputs)
    return float(right[torch.from_numpy(inputs.targets != NONE)].double().mean())


def train(
    data: Path,
    runs: Path,
    variant: str = "parity",
    *,
    seed: int = 1,
    device: torch.device,
    minutes: float | None = None,
    resume: bool = False,
    devices: int = 1,
    recipe: Recipe | None = None,
    where: Path | None = None,
) -> Path:
    """Choose the learning rate, train, write the assets; returns their folder. The generator needs no data folder.

    `resume` with `minutes` 0 publishes what a run has so far. ValueError for an unknown variant.
    """
    task = task_of(variant)
    recipe = recipe or task.recipe
    recipe = dataclasses.replace(recipe, schedule=dataclasses.replace(recipe.schedule, seed=seed))
    most = BITS if task.name == "parity" else DIGITS
    held_out = drawn(task.name, np.random.default_rng(0), 500, "val")

    def draw(generator: np.random.Generator, done: float) -> Batch:
        hardest = 1 + int((most - 1) * min(1.0, done / recipe.rise)) if recipe.rise else most
        return drawn(task.name, generator, recipe.batch, "train", hardest, recipe.hard).batch()

    plan = Plan(
        build=task.build,
        objective=lambda model: Objective(model, recipe.price),
        draw=draw,
        validate=lambda model: 1 - accuracy(model, held_out),  # type: ignore[arg-type]
        schedule=recipe.schedule,
        rates=RATES,
        rate=recipe.rate,
        round=recipe.round,
    )
    facts = {"slug": SLUG, "variant": variant, "chosen_on": CHOSEN, "data": task.data, "licence": LICENCE, "published": None}
    run = runs / SLUG / variant / str(seed)
    where = where or checkpoint.folder(SLUG, variant, seed)
    return learn(plan, run, where, facts, recipe, device=device, minutes=minutes, resume=resume, devices=devices)


def measured(model: PonderingNetwork, task: str, split: str, count: int) -> dict[str, Any]:
    """Accuracy on `count` inputs of a split, and the mean ponder (updates N, and N + R) by difficulty."""
    inputs = drawn(task, np.random.default_rng(1), count, split)
    right, thought = answered(model, inputs)
    wanted = torch.from_numpy(inputs.targets != NONE)
    alive = torch.from_numpy(inputs.alive)
    updates = (thought.steps * alive).sum(1) / alive.sum(1)
    cost = (thought.cost * alive).sum(1) / alive.sum(1)
    whole = right.all(1)
    by: dict[str, dict[str, Any]] = {}
    for level in sorted(set(inputs.difficulty.tolist())):
        rows = torch.from_numpy(inputs.difficulty == level)
        chosen = cost[rows].double()
        by[str(level)] = {
            "n": int(rows.sum()),
            "mean": round(float(chosen.mean()), 3),
            "deviation": round(float(chosen.std(correction=0)), 3),
            "updates": round(float(updates[rows].double().mean()), 3),
            "accuracy": round(float(right[rows][wanted[rows]].double().mean()), 4),
        }
    found: dict[str, Any] = {
        "metric": "accuracy" if task == "parity" else "digit accuracy",
        "split": split,
        "value": round(float(right[wanted].double().mean()), 4),
        "n": len(inputs),
        "whole": round(float(whole.double().mean()), 4),
        "ponder": round(float(cost.double().mean()), 3),
        "ponder_by_difficulty": by,
    }
    if task == "addition":
        found["ponder_by_input"] = _by_input(inputs, thought)
    return found


def _by_input(inputs: Inputs, thought: Thought) -> dict[str, float]:
    """Mean N + R at the digits of the first number, at those of the second and at the end."""
    chosen = torch.from_numpy(inputs.inputs)
    marks = {"first": chosen[..., 11] > 0, "second": chosen[..., 12] > 0, "end": chosen[..., 10] > 0}
    return {name: round(float(thought.cost[mark].double().mean()), 3) for name, mark in marks.items()}


def evaluate(
    data: Path,
    variant: str = "parity",
    *,
    seed: int = 1,
    split: str = REPORTED,
    device: torch.device,
    record: bool = False,
    count: int = 10_000,
) -> dict[str, Any]:
    """Answer `count` inputs of a split that no network learned from; the network without adaptive computation time beside.

    `record` writes the figure of the reported split into model.json. ValueError for an unknown variant or split.
    """
    task = task_of(variant)
    where = checkpoint.folder(SLUG, variant, seed)
    model = read_checkpoint(where, str(device)).model
    begin = time.perf_counter()
    figure = measured(model, task.name, split, count)
    seconds = time.perf_counter() - begin
    if record:
        if split != REPORTED:
            raise ValueError(f"model.json keeps the figure of {REPORTED}, not of {split}")
        checkpoint.write_facts(where, checkpoint.with_figure(checkpoint.read_facts(where), figure, PROTOCOL))
    beside = checkpoint.folder(SLUG, f"{task.name}{WITHOUT}", seed)
    without = None
    if task.steps == 0 and (beside / "model.json").is_file():
        other = measured(read_checkpoint(beside, str(device)).model, task.name, split, count)
        without = {
            "value": other["value"],
            "whole": other["whole"],
            "accuracy_by_difficulty": {level: one["accuracy"] for level, one in other["ponder_by_difficulty"].items()},
        }
    print(f"{figure['value']:.4f} {figure['metric']} on {count:,} inputs of {split}, {figure['ponder']:.2f} ponder, in {seconds:.1f} s")
    if without:
        print(f"{without['value']:.4f} without adaptive computation time, same size")
    if task.steps == 0 and split == REPORTED and figure["value"] < TARGETS[task.name]:
        print(f"That misses the {TARGETS[task.name]} that the recipe must reach.")
    return {
        "slug": SLUG,
        "variant": variant,
        "seed": seed,
        **figure,
        "without_act": without,
        "seconds": round(seconds, 2),
        "device": str(device),
    }


def add_options(command: argparse.ArgumentParser) -> None:
    """What `evaluate` can be asked beside what every lab knows."""
    command.add_argument("--count", type=int, default=10_000, help="inputs to answer")
