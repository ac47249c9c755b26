"""How the pondering networks are made and measured."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from models import driver, pondering
from models.act_rnn.data import BITS, DIGITS, OUTPUTS, UNITS, Batch, Inputs, drawn
from models.act_rnn.model import Config, PonderingNetwork
from models.act_rnn.pretrained import SLUG, read
from models.act_rnn.records import WITHOUT
from models.driver import Asked, Job, Lab, Measured, Plan
from models.pondering import PonderLoss, share, spread
from models.training import Schedule

LICENCE = "Apache-2.0: the generator and these weights"
PROTOCOL = "10,000 inputs that no network learned from"


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """How a network is trained."""

    batch: int = 128  # inputs
    price: float = 1e-3  # τ: what a unit of ponder cost N + R adds to the loss, in nats
    rise: float = 0.5  # share of the run over which the hardest input grows from the easiest to the full size
    hard: float = 0.3  # share of inputs that are of the hardest kind at that moment, beside those of any kind


@dataclass(frozen=True)
class Task(driver.Task):
    """What a variant learns."""

    name: str  # "parity" or "addition"
    steps: int  # updates for every input; 0 where the network decides
    d_model: int  # units of the state
    limit: int  # updates at most for one input

    def build(self) -> PonderingNetwork:
        """The network, nothing learned yet."""
        return PonderingNetwork(Config(UNITS[self.name], OUTPUTS[self.name], self.d_model, self.limit, steps=self.steps))


def _schedule(steps: int) -> Schedule:
    return Schedule(steps=steps, warmup=100, decay=0.0, cooldown=steps // 3, average=3, every=max(1, steps // 100), precision="32-true")


def _task(name: str, d_model: int, limit: int, recipe: Recipe, target: float, data: str) -> Task:
    data = f"{data}, made by a seeded generator; 18 of 20 by their hash"
    return Task(name, 0, d_model, limit, recipe=recipe, target=target, data=data, licence=LICENCE, protocol=PROTOCOL)


_BITS = f"vectors of {BITS} entries, 1 to {BITS} of them −1 or 1 and the others 0"
_SUMS = f"two numbers of 1 to {DIGITS} digits, read digit by digit from the units on"
TASKS = {
    "parity": _task("parity", 16, 20, Recipe(_schedule(36_000), rise=0.4, round=250), 0.99, _BITS),
    "addition": _task("addition", 48, 8, Recipe(_schedule(5_000), rise=0.3, round=250), 0.95, _SUMS),
}
WITHOUT_ACT = {f"{name}{WITHOUT}": dataclasses.replace(task, steps=1, target=None) for name, task in TASKS.items()}
VARIANTS: dict[str, Task] = TASKS | WITHOUT_ACT


def answered(model: PonderingNetwork, inputs: Inputs) -> tuple[Tensor, Tensor | None]:
    """As `models.pondering.answered`."""
    device = next(model.parameters()).device
    return pondering.answered(inputs, device, lambda batch: model(batch.inputs, batch.alive, gather=True), 500)


def plan(job: Job[Task]) -> Plan[Batch]:
    """The hardest input grows from the easiest to the full size; the generator needs no data folder."""
    name, recipe = job.task.name, job.recipe
    most = BITS if name == "parity" else DIGITS
    held_out = drawn(name, np.random.default_rng(0), 500, "val")

    def draw(generator: np.random.Generator, done: float) -> Batch:
        hardest = 1 + int((most - 1) * min(1.0, done / recipe.rise)) if recipe.rise else most
        return drawn(name, generator, recipe.batch, "train", hardest, recipe.hard).batch()

    return Plan(
        job.task.build,
        lambda model: PonderLoss(model, recipe.price),
        lambda model: 1 - share(answered(model, held_out)[0], held_out),
        draw=draw,
    )


def measured(model: PonderingNetwork, task: str, split: str, count: int) -> dict[str, Any]:
    """Accuracy on `count` inputs of a split, and the mean ponder cost N + R by difficulty."""
    inputs = drawn(task, np.random.default_rng(1), count, split)
    right, each = answered(model, inputs)
    assert each is not None
    alive = torch.from_numpy(inputs.alive)
    cost = ((each * alive).sum(1) / alive.sum(1)).double()
    by: dict[str, dict[str, Any]] = {}
    for level in sorted(set(inputs.difficulty.tolist())):
        rows = inputs.difficulty == level
        by[str(level)] = spread(cost[rows]) | {"accuracy": round(share(right[rows], inputs[rows]), 4)}
    return {
        "metric": "accuracy" if task == "parity" else "digit accuracy",
        "split": split,
        "value": round(share(right, inputs), 4),
        "n": len(inputs),
        "ponder": round(float(cost.mean()), 3),
        "ponder_by_difficulty": by,
    }


def measure(asked: Asked[Task], count: int) -> Measured:
    """Answer `count` inputs of a split that no network learned from."""
    figure = measured(asked.shipped.model, asked.task.name, asked.split, count)
    said = f"{figure['value']:.4f} {figure['metric']} on {count:,} inputs of {asked.split}, {figure['ponder']:.2f} ponder"
    return Measured(figure, said, higher=True)


OPTIONS = {"count": {"type": int, "default": 10_000, "help": "inputs to answer"}}
LAB = Lab(SLUG, VARIANTS, read, plan, measure, rates=(1e-3, 2e-3, 4e-3), options=OPTIONS)
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
