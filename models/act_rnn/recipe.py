"""Training and measurement of the adaptive recurrent networks."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from models.act_rnn.data import BITS, DIGITS, OUTPUTS, UNITS, Batch, Inputs, draw_inputs
from models.act_rnn.model import Config, PonderingNetwork
from models.act_rnn.pretrained import SLUG, read
from models.act_rnn.records import WITHOUT
from models.adaptive_computation import batching
from models.adaptive_computation.batching import PonderLoss, measure_share_right, summarise_cost
from models.training import driver
from models.training.driver import FigureRequest, Job, LabModels, Measurement, Plan
from models.training.loop import Schedule

LICENCE = "Apache-2.0: the generator and these weights"
PROTOCOL = "10,000 inputs that no network learned from"


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """The settings of training."""

    batch: int = 128  # inputs
    price: float = 1e-3  # τ: the loss that each unit of ponder cost N + R adds, in nats
    # Share of the run during which the hardest input grows from the easiest to the full size.
    rise: float = 0.5
    # Share of additional inputs of the hardest kind at that moment.
    hard: float = 0.3


@dataclass(frozen=True)
class Task(driver.Task):
    """A variant's task."""

    name: str  # "parity" or "addition"
    steps: int  # updates for every input; 0 if the network decides
    d_model: int  # units of the state
    limit: int  # the most updates for one input

    def build(self) -> PonderingNetwork:
        """Return an untrained network."""
        return PonderingNetwork(
            Config(UNITS[self.name], OUTPUTS[self.name], self.d_model, self.limit, steps=self.steps)
        )


def _schedule(steps: int) -> Schedule:
    return Schedule(
        steps=steps,
        warmup=100,
        decay=0.0,
        cooldown=steps // 3,
        average=3,
        every=max(1, steps // 100),
        precision="32-true",
    )


def _task(name: str, d_model: int, limit: int, recipe: Recipe, target: float, data: str) -> Task:
    data = f"{data}, made by a seeded generator; 18 of 20 by their hash"
    return Task(
        name,
        0,
        d_model,
        limit,
        recipe=recipe,
        target=target,
        data=data,
        licence=LICENCE,
        protocol=PROTOCOL,
    )


_BITS = f"vectors of {BITS} entries, 1 to {BITS} of them −1 or 1 and the others 0"
_SUMS = f"two numbers of 1 to {DIGITS} digits, read digit by digit from the units on"
TASKS = {
    "parity": _task(
        "parity", 16, 20, Recipe(_schedule(36_000), rise=0.4, evaluation_interval=250), 0.99, _BITS
    ),
    "addition": _task(
        "addition", 48, 8, Recipe(_schedule(5_000), rise=0.3, evaluation_interval=250), 0.95, _SUMS
    ),
}
WITHOUT_ACT = {
    f"{name}{WITHOUT}": dataclasses.replace(task, steps=1, target=None)
    for name, task in TASKS.items()
}
VARIANTS: dict[str, Task] = TASKS | WITHOUT_ACT


def mark_right_answers(model: PonderingNetwork, inputs: Inputs) -> tuple[Tensor, Tensor | None]:
    """Mark the right answers (see `models.adaptive_computation.batching.mark_right_answers`)."""
    device = next(model.parameters()).device
    return batching.mark_right_answers(
        inputs, device, lambda batch: model(batch.inputs, batch.alive, gather=True), 500
    )


def plan(job: Job[Task]) -> Plan[Batch]:
    """Plan a training in which the hardest input grows from the easiest to the full size.

    The inputs are generated, so no data folder is needed.
    """
    name, recipe = job.task.name, job.recipe
    most = BITS if name == "parity" else DIGITS
    held_out = draw_inputs(name, np.random.default_rng(0), 500, "val")

    def draw(generator: np.random.Generator, done: float) -> Batch:
        hardest = 1 + int((most - 1) * min(1.0, done / recipe.rise)) if recipe.rise else most
        return draw_inputs(name, generator, recipe.batch, "train", hardest, recipe.hard).batch()

    return Plan(
        job.task.build,
        lambda model: PonderLoss(model, recipe.price),
        lambda model: 1 - measure_share_right(mark_right_answers(model, held_out)[0], held_out),
        draw=draw,
    )


def measure_accuracy(model: PonderingNetwork, task: str, split: str, count: int) -> dict[str, Any]:
    """Return the accuracy on `count` inputs of a split, and the mean ponder cost N + R by
    difficulty."""
    inputs = draw_inputs(task, np.random.default_rng(1), count, split)
    right, each = mark_right_answers(model, inputs)
    assert each is not None
    alive = torch.from_numpy(inputs.alive)
    cost = ((each * alive).sum(1) / alive.sum(1)).double()
    by: dict[str, dict[str, Any]] = {}
    for level in sorted(set(inputs.difficulty.tolist())):
        rows = inputs.difficulty == level
        by[str(level)] = summarise_cost(cost[rows]) | {
            "accuracy": round(measure_share_right(right[rows], inputs[rows]), 4)
        }
    return {
        "metric": "accuracy" if task == "parity" else "digit accuracy",
        "split": split,
        "value": round(measure_share_right(right, inputs), 4),
        "n": len(inputs),
        "ponder": round(float(cost.mean()), 3),
        "ponder_by_difficulty": by,
    }


def measure(asked: FigureRequest[Task], count: int) -> Measurement:
    """Measure the answers to `count` inputs of a split on which no network was trained."""
    figure = measure_accuracy(asked.shipped.model, asked.task.name, asked.split, count)
    said = (
        f"{figure['value']:.4f} {figure['metric']} on {count:,} inputs of {asked.split},"
        f" {figure['ponder']:.2f} ponder"
    )
    return Measurement(figure, said, higher=True)


OPTIONS = {"count": {"type": int, "default": 10_000, "help": "inputs to answer"}}
LAB = LabModels(SLUG, VARIANTS, read, plan, measure, rates=(1e-3, 2e-3, 4e-3), options=OPTIONS)
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
