"""How the network is made and measured: digits from a seeded generator, the answer the same digits backwards."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from models import checkpoint
from models.generated import Plan, learn
from models.hashing import belongs
from models.new_lab.model import KINDS, NONE, Config, Reverser
from models.new_lab.pretrained import SLUG
from models.new_lab.pretrained import read as read_checkpoint
from models.new_lab.records import HEADS, LAYERS, LONGEST, SHORTEST
from models.training import Schedule

Ints = NDArray[np.int64]

REPORTED = "test"  # the split of the figure in README
CHOSEN = "val"  # the split that training looks at
PROTOCOL = "2,000 inputs that the network did not learn from"
LICENCE = "Apache-2.0: the generator and these weights"


@dataclass(frozen=True)
class Recipe:
    """How the network is trained."""

    schedule: Schedule
    batch: int = 64  # inputs
    round: int = 20  # batches between two looks at held-out inputs
    rate: float | None = 1e-2  # the largest learning rate; None: the best of a search that begins with RATES


RATES = (3e-3, 1e-2, 3e-2)
RECIPE = Recipe(Schedule(steps=160, warmup=20, decay=0.0, cooldown=60, clip=1.0, average=2, every=20, precision="32-true"))


class Batch(NamedTuple):
    """digits, targets: (batch, position), NONE behind the last."""

    digits: Tensor
    targets: Tensor

    def to(self, device: torch.device) -> Batch:
        """The same batch on another device."""
        return Batch(self.digits.to(device), self.targets.to(device))


def drawn(generator: np.random.Generator, count: int, split: str) -> Ints:
    """(count, LONGEST) digits of a split, NONE behind the last; every length from SHORTEST to LONGEST is as likely as the others."""
    found: list[Ints] = []
    while sum(map(len, found)) < count:
        tries = 2 * count if split == "train" else 24 * count
        rows = generator.integers(0, KINDS, (tries, LONGEST))
        length = generator.integers(SHORTEST, LONGEST + 1, (tries, 1))
        rows[np.arange(LONGEST) >= length] = NONE
        found.append(rows[belongs(rows, split)])
    return np.concatenate(found)[:count]


def batch_of(rows: Ints) -> Batch:
    """(batch, position) digits with the answers that belong to them."""
    length = (rows != NONE).sum(1, keepdims=True)
    place = np.arange(rows.shape[1])
    targets = np.where(place < length, np.take_along_axis(rows, np.maximum(length - 1 - place, 0), 1), NONE)
    return Batch(torch.from_numpy(rows), torch.from_numpy(targets))


class Objective(nn.Module):
    """−log p of every digit of the answer."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Sum of losses in nats, number of digits."""
        loss = F.cross_entropy(self.model(batch.digits).flatten(0, 1), batch.targets.flatten(), ignore_index=NONE, reduction="sum")
        return loss, (batch.targets != NONE).sum()


@torch.no_grad()
def right(model: nn.Module, rows: Ints, gains: list[Tensor] | None = None, used: Tensor | None = None) -> NDArray[np.bool_]:
    """(batch, position) which digits of the answers are right; True where there is none. gains, used: of the network, with a batch of 1."""
    batch = batch_of(rows).to(next(model.parameters()).device)
    logits = model(batch.digits, gains, used)
    found: NDArray[np.bool_] = ((logits.argmax(-1) == batch.targets) | (batch.targets == NONE)).cpu().numpy()
    return found


def accuracy(found: NDArray[np.bool_], rows: Ints) -> float:
    """Share of right digits."""
    return float(found[rows != NONE].mean())


def train(
    data: Path,
    runs: Path,
    variant: str = "base",
    *,
    seed: int = 1,
    device: torch.device,
    minutes: float | None = None,
    resume: bool = False,
    devices: int = 1,
    recipe: Recipe = RECIPE,
) -> Path:
    """Train, write the assets; returns their folder. The generator needs no data folder. ValueError for an unknown variant."""
    if variant != "base":
        raise ValueError(f"{SLUG} has the variant base, not {variant}")
    recipe = dataclasses.replace(recipe, schedule=dataclasses.replace(recipe.schedule, seed=seed))
    held_out = drawn(np.random.default_rng(0), 500, CHOSEN)
    plan = Plan(
        build=lambda: Reverser(Config(longest=LONGEST, n_heads=HEADS, n_layers=LAYERS)),
        objective=Objective,
        draw=lambda generator, _done: batch_of(drawn(generator, recipe.batch, "train")),
        validate=lambda model: 1 - accuracy(right(model, held_out), held_out),
        schedule=recipe.schedule,
        rates=RATES,
        rate=recipe.rate,
        round=recipe.round,
    )
    facts = {
        "slug": SLUG,
        "variant": variant,
        "chosen_on": CHOSEN,
        "data": f"{SHORTEST} to {LONGEST} digits from a seeded generator; 18 of 20 inputs by their hash",
        "licence": LICENCE,
        "published": None,
    }
    where = checkpoint.folder(SLUG, variant, seed)
    return learn(
        plan, runs / SLUG / variant / str(seed), where, facts, recipe, device=device, minutes=minutes, resume=resume, devices=devices
    )


def evaluate(
    data: Path, variant: str = "base", *, seed: int = 1, split: str = REPORTED, device: torch.device, record: bool = False
) -> dict[str, Any]:
    """The share of right digits on held-out inputs, by length too; `record` writes the reported split's figure into model.json."""
    where = checkpoint.folder(SLUG, variant, seed)
    rows = drawn(np.random.default_rng(1), 2_000, split)
    found = right(read_checkpoint(where, str(device)).model, rows)
    length = (rows != NONE).sum(1)
    figure = {
        "metric": "digit accuracy",
        "split": split,
        "value": round(accuracy(found, rows), 4),
        "n": len(rows),
        "by_length": {str(n): round(accuracy(found[length == n], rows[length == n]), 4) for n in range(SHORTEST, LONGEST + 1)},
    }
    if record:
        if split != REPORTED:
            raise ValueError(f"model.json keeps the figure of {REPORTED}, not of {split}")
        checkpoint.write_facts(where, checkpoint.with_figure(checkpoint.read_facts(where), figure, PROTOCOL))
    print(f"{figure['value']:.4f} of digits right on {len(rows):,} inputs of {split}")
    return {"slug": SLUG, "variant": variant, "seed": seed, **figure, "device": str(device)}
