"""What the two labs of adaptive computation time do alike: requests side by side, each with its own way to stop, and what it comes to."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from models.arrays import frozen
from models.layers.act import Stop
from models.thinking import Measured
from models.windows import NONE, moved

Array = NDArray[np.float32]
Inputs = TypeVar("Inputs", bound="Rows")


class Rows:
    """Inputs of one task side by side: a dataclass of arrays (batch, …), among them `targets`, NONE where no answer is wanted."""

    targets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, part: slice | NDArray[np.bool_]) -> Self:
        return dataclasses.replace(self, **{name: values[part] for name, values in vars(self).items()})  # type: ignore[type-var]


class PonderLoss(nn.Module):
    """What training minimises: −log p of every wanted answer, and the price of pondering (Graves, 2016, eq. 13)."""

    def __init__(self, model: nn.Module, price: float) -> None:
        """price: τ, nats that a unit of ponder cost N + R adds."""
        super().__init__()
        self.model, self.price = model, price

    def forward(self, batch: Any) -> tuple[Tensor, Tensor]:
        """Sum of losses in nats, number of answers. An answer's share of the price is the mean ponder cost of a position."""
        thought = self.model(*batch[:-1])
        wanted = batch.targets != NONE
        count = wanted.sum()
        loss = F.cross_entropy(thought.logits[wanted].float(), batch.targets[wanted], reduction="sum")
        return loss if thought.cost is None else loss + self.price * count * thought.cost.sum() / batch.alive.sum(), count


@torch.no_grad()
def answered(inputs: Any, device: torch.device, run: Callable[[Any], Any], size: int = 200) -> tuple[Tensor, Tensor | None]:
    """Which answers are right, (input, position), everywhere else True, and N + R of every position, None where all take as many steps.

    run: of a batch, `size` inputs at a time.
    """
    right, cost = [], []
    for begin in range(0, len(inputs), size):
        batch = moved(inputs[begin : begin + size].batch(), device)
        thought = run(batch)
        right.append(((thought.logits.argmax(-1) == batch.targets) | (batch.targets == NONE)).cpu())
        cost += [] if thought.cost is None else [thought.cost.cpu()]
    return torch.cat(right), torch.cat(cost) if cost else None


def share(right: Tensor, inputs: Any) -> float:
    """How many of the wanted answers are right."""
    return float(right[torch.from_numpy(inputs.targets != NONE)].double().mean())


def spread(values: Tensor) -> dict[str, float | int]:
    """How the cost of inputs is spread: {n, mean, deviation}."""
    values = values.double()
    return {"n": len(values), "mean": round(float(values.mean()), 3), "deviation": round(float(values.std(correction=0)), 3)}


@torch.no_grad()
def measured(
    request: Any, inputs: Any, model: Any, run: Callable[[Any, Stop, Tensor], Any], right: Callable[[Tensor, Tensor], Tensor], *axes: int
) -> Measured:
    """What a network does on held-out inputs, under what a request changes; what has stopped is not computed.

    run(batch, stop, told): the pass. right(what is right, where an answer is wanted), both (batch, position): of what its share is. axes:
    as of `stop_of`.
    """
    device = model.readout.weight.device
    batch, told = moved(inputs.batch(), device), torch.full((len(inputs),), float(request.told), device=device)
    stop = stop_of([request] * len(inputs), model.config.limit, device, *axes)
    begin = time.perf_counter()
    thought = run(batch, stop, told)
    milliseconds = (time.perf_counter() - begin) * 1000
    wanted = batch.targets != NONE
    share = right(thought.logits.argmax(-1) == batch.targets, wanted).double().mean()
    return Measured(float(share), float(thought.cost.sum() / batch.alive.sum()), milliseconds, len(inputs))


def joined(parts: Sequence[Inputs]) -> Inputs:
    """Inputs of one task side by side, padded to the longest: with 0, targets with NONE. parts: dataclasses of arrays, (batch, position, …)
    or (batch,)."""
    length = max(part.targets.shape[1] for part in parts)

    def padded(name: str, values: NDArray[Any]) -> NDArray[Any]:
        if values.ndim == 1:
            return values
        width = [(0, 0), (0, length - values.shape[1]), *[(0, 0)] * (values.ndim - 2)]
        return np.pad(values, width, constant_values=NONE if name == "targets" else 0)

    whole = {name: np.concatenate([padded(name, vars(one)[name]) for one in parts]) for name in vars(parts[0])}
    return dataclasses.replace(parts[0], **whole)  # type: ignore[type-var]


def stop_of(requests: Sequence[Any], limit: int, device: torch.device, *axes: int) -> Stop:
    """When positions stop, a row for each request: tensors (batch, *axes). limit: M where a request names none."""

    def column(values: Sequence[float]) -> torch.Tensor:
        return torch.tensor(values, device=device).view(-1, *axes)

    forced = column([one.forced for one in requests])
    epsilon, bias = (column([float(getattr(one, name)) for one in requests]) for name in ("epsilon", "bias"))
    return Stop(epsilon, column([one.limit or limit for one in requests]), bias, forced if bool(forced.any()) else None)


@dataclass(frozen=True)
class Asked:
    """A request that can be answered. inputs: of one row."""

    request: Any
    inputs: Any

    @property
    def wanted(self) -> list[int]:
        """Where the answer is read."""
        return [i for i, target in enumerate(self.inputs.targets[0]) if target != NONE]


def earlier(one: Any, most: int, run: Callable[[list[Any]], Any], said: Callable[[Tensor], str]) -> tuple[str, ...]:
    """For each n up to `most`, the answer if every position stopped at its n-th step at the latest: all of them in one pass, `run`."""
    name = "forced" if one.request.forced else "limit"
    rows = [dataclasses.replace(one, request=dataclasses.replace(one.request, **{name: n})) for n in range(1, most + 1)]
    return tuple(map(said, run(rows).logits))


def thinking(one: Asked, limit: int, steps: Tensor, remainder: Tensor, logits: Tensor, halting: Array, weights: Array) -> dict[str, Any]:
    """What an explanation tells of every run, by the names of the fields of `models.thinking.Thinking`, but for answers and distances.

    limit: M as trained. steps, remainder: (position,) N and R; logits: (position, kind); halting, weights: (step, position).
    """
    taken = frozen(steps, np.int64)
    gone = np.arange(1, len(halting) + 1)[:, None] >= taken  # (step, position): from N on
    return {
        "wanted": tuple(one.wanted),
        "probability": frozen(logits.softmax(-1).amax(-1)[one.wanted]),
        "steps": taken,
        "remainder": frozen(remainder),
        "halting": frozen(halting),
        "weights": frozen(weights),
        "totals": frozen(np.where(gone, 1.0, np.minimum(halting.cumsum(0), 1.0))),
        "threshold": 1 - float(one.request.epsilon),
        "limit": one.request.limit or limit,
        "ponder": float((steps + remainder).mean()),
        "difficulty": int(one.inputs.difficulty[0]),
    }
