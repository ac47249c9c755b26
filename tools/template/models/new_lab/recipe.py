"""The training and the measurement of the network: digits from a seeded generator, the answer the
same digits backwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from models.data.splits import belongs_to_split
from models.data.windows import move_batch
from models.new_lab.model import KINDS, NONE, Config, Reverser
from models.new_lab.pretrained import SLUG, read
from models.new_lab.records import HEADS, LAYERS, LONGEST, SHORTEST
from models.training import driver
from models.training.driver import FigureRequest, Job, LabModels, Measurement, Plan, Task
from models.training.loop import Schedule

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """The settings of the training."""

    batch: int = 64  # inputs


SCHEDULE = Schedule(
    steps=160, warmup=20, decay=0.0, cooldown=60, clip=1.0, average=2, every=20, precision="32-true"
)
VARIANTS = {
    "base": Task(
        recipe=Recipe(SCHEDULE, evaluation_interval=20, rate=1e-2),
        data=(
            f"{SHORTEST} to {LONGEST} digits from a seeded generator; 18 of 20 inputs by their hash"
        ),
        licence="Apache-2.0: the generator and these weights",
        protocol="2,000 inputs that the network did not learn from",
    )
}


class Batch(NamedTuple):
    """A batch of digits and targets: (batch, position), NONE behind the last."""

    digits: Tensor
    targets: Tensor


def draw_digits(generator: np.random.Generator, count: int, split: str) -> Ints:
    """Draw random digits of a split, (count, LONGEST), NONE behind the last; every length from
    SHORTEST to LONGEST is equally likely."""
    found: list[Ints] = []
    while sum(map(len, found)) < count:
        tries = 2 * count if split == "train" else 24 * count
        rows = generator.integers(0, KINDS, (tries, LONGEST))
        length = generator.integers(SHORTEST, LONGEST + 1, (tries, 1))
        rows[np.arange(LONGEST) >= length] = NONE
        found.append(rows[belongs_to_split(rows, split)])
    return np.concatenate(found)[:count]


def batch_of(rows: Ints) -> Batch:
    """Return digits (batch, position) with the answers that belong to them."""
    length = (rows != NONE).sum(1, keepdims=True)
    place = np.arange(rows.shape[1])
    targets = np.where(
        place < length, np.take_along_axis(rows, np.maximum(length - 1 - place, 0), 1), NONE
    )
    return Batch(torch.from_numpy(rows), torch.from_numpy(targets))


class Objective(nn.Module):
    """The loss: −log p of every digit of the answer."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the sum of losses in nats, and the number of digits."""
        loss = F.cross_entropy(
            self.model(batch.digits).flatten(0, 1),
            batch.targets.flatten(),
            ignore_index=NONE,
            reduction="sum",
        )
        return loss, (batch.targets != NONE).sum()


@torch.no_grad()
def right(
    model: nn.Module, rows: Ints, gains: list[Tensor] | None = None, used: Tensor | None = None
) -> NDArray[np.bool_]:
    """Return which digits of the answers are right, (batch, position); True where there is none.
    gains, used: of the network, with a batch of 1."""
    batch = move_batch(batch_of(rows), next(model.parameters()).device)
    logits = model(batch.digits, gains, used)
    found: NDArray[np.bool_] = (
        ((logits.argmax(-1) == batch.targets) | (batch.targets == NONE)).cpu().numpy()
    )
    return found


def accuracy(found: NDArray[np.bool_], rows: Ints) -> float:
    """Return the share of right digits."""
    return float(found[rows != NONE].mean())


def plan(job: Job[Task]) -> Plan[Batch]:
    """Return the network's training plan; the generator needs no data folder."""
    held_out = draw_digits(np.random.default_rng(0), 500, job.task.chosen)
    return Plan(
        build=lambda: Reverser(Config(longest=LONGEST, n_heads=HEADS, n_layers=LAYERS)),
        objective=Objective,
        draw=lambda generator, _done: batch_of(draw_digits(generator, job.recipe.batch, "train")),
        validate=lambda model: 1 - accuracy(right(model, held_out), held_out),
    )


def measure(asked: FigureRequest[Task]) -> Measurement:
    """Measure the share of right digits on held-out inputs, and by length."""
    rows = draw_digits(np.random.default_rng(1), 2_000, asked.split)
    found = right(asked.shipped.model, rows)
    length = (rows != NONE).sum(1)
    figure: dict[str, Any] = {
        "metric": "digit accuracy",
        "split": asked.split,
        "value": round(accuracy(found, rows), 4),
        "n": len(rows),
        "by_length": {
            str(n): round(accuracy(found[length == n], rows[length == n]), 4)
            for n in range(SHORTEST, LONGEST + 1)
        },
    }
    return Measurement(
        figure,
        f"{figure['value']:.4f} of digits right on {len(rows):,} inputs of {asked.split}",
        higher=True,
    )


LAB = LabModels(SLUG, VARIANTS, read, plan, measure, rates=(3e-3, 1e-2, 3e-2))
train, evaluate = LAB.train, LAB.evaluate
