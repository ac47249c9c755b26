"""The common part of the two labs of adaptive computation time: requests side by side, each with
its own rule to stop, and their results."""

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

from models.adaptive_computation.records import MeasuredSample
from models.data.windows import NONE, move_batch
from models.explaining.arrays import freeze
from models.layers.act import Stop

Array = NDArray[np.float32]
Inputs = TypeVar("Inputs", bound="InputRows")


class InputRows:
    """Inputs of one task side by side: a dataclass of arrays (batch, …), among them `targets`, NONE
    where no answer is wanted."""

    targets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, part: slice | NDArray[np.bool_]) -> Self:
        return dataclasses.replace(
            self, **{name: values[part] for name, values in vars(self).items()}
        )  # type: ignore[type-var]


class PonderLoss(nn.Module):
    """The loss that training minimises: −log p of every wanted answer, and the price of pondering
    (Graves, 2016, eq. 13)."""

    def __init__(self, model: nn.Module, price: float) -> None:
        """Build the loss. price: τ, nats that a unit of ponder cost N + R adds."""
        super().__init__()
        self.model, self.price = model, price

    def forward(self, batch: Any) -> tuple[Tensor, Tensor]:
        """Return the sum of losses in nats and the number of answers. An answer's share of the
        price is the mean ponder cost of a position."""
        thought = self.model(*batch[:-1])
        wanted = batch.targets != NONE
        count = wanted.sum()
        loss = F.cross_entropy(
            thought.logits[wanted].float(), batch.targets[wanted], reduction="sum"
        )
        return (
            loss
            if thought.cost is None
            else loss + self.price * count * thought.cost.sum() / batch.alive.sum(),
            count,
        )


@torch.no_grad()
def mark_right_answers(
    inputs: Any, device: torch.device, run: Callable[[Any], Any], size: int = 200
) -> tuple[Tensor, Tensor | None]:
    """Return which answers are right, (input, position), everywhere else True, and N + R of every
    position, None where all take as many steps.

    run: the pass of a batch, `size` inputs at a time.
    """
    right, cost = [], []
    for begin in range(0, len(inputs), size):
        batch = move_batch(inputs[begin : begin + size].batch(), device)
        thought = run(batch)
        right.append(((thought.logits.argmax(-1) == batch.targets) | (batch.targets == NONE)).cpu())
        cost += [] if thought.cost is None else [thought.cost.cpu()]
    return torch.cat(right), torch.cat(cost) if cost else None


def measure_share_right(right: Tensor, inputs: Any) -> float:
    """Return the share of the wanted answers that are right."""
    return float(right[torch.from_numpy(inputs.targets != NONE)].double().mean())


def summarise_cost(values: Tensor) -> dict[str, float | int]:
    """Return the spread of the cost of inputs: {n, mean, deviation}."""
    values = values.double()
    return {
        "n": len(values),
        "mean": round(float(values.mean()), 3),
        "deviation": round(float(values.std(correction=0)), 3),
    }


@torch.no_grad()
def measure_request(
    request: Any,
    inputs: Any,
    model: Any,
    run: Callable[[Any, Stop, Tensor], Any],
    right: Callable[[Tensor, Tensor], Tensor],
    *axes: int,
) -> MeasuredSample:
    """Measure a network on held-out inputs under the changes of a request; stopped positions are
    not computed.

    run(batch, stop, step_signal): the pass.
    right(correct, wanted): the flags whose share is measured, from those of the answers that are
        correct and those that are wanted, both (batch, position).
    axes: as in `build_stop`.
    """
    device = model.readout.weight.device
    batch, step_signal = (
        move_batch(inputs.batch(), device),
        torch.full((len(inputs),), float(request.step_signal), device=device),
    )
    stop = build_stop([request] * len(inputs), model.config.limit, device, *axes)
    begin = time.perf_counter()
    thought = run(batch, stop, step_signal)
    milliseconds = (time.perf_counter() - begin) * 1000
    wanted = batch.targets != NONE
    share = right(thought.logits.argmax(-1) == batch.targets, wanted).double().mean()
    return MeasuredSample(
        float(share), float(thought.cost.sum() / batch.alive.sum()), milliseconds, len(inputs)
    )


def join_inputs(parts: Sequence[Inputs]) -> Inputs:
    """Join inputs of one task side by side, padded to the longest: with 0, targets with NONE.
    parts: dataclasses of arrays, (batch, position, …) or (batch,)."""
    length = max(part.targets.shape[1] for part in parts)

    def pad_array(name: str, values: NDArray[Any]) -> NDArray[Any]:
        if values.ndim == 1:
            return values
        width = [(0, 0), (0, length - values.shape[1]), *[(0, 0)] * (values.ndim - 2)]
        return np.pad(values, width, constant_values=NONE if name == "targets" else 0)

    whole = {
        name: np.concatenate([pad_array(name, vars(one)[name]) for one in parts])
        for name in vars(parts[0])
    }
    return dataclasses.replace(parts[0], **whole)  # type: ignore[type-var]


def build_stop(requests: Sequence[Any], limit: int, device: torch.device, *axes: int) -> Stop:
    """Return the rule by which positions stop, a row for each request: tensors (batch, *axes).
    limit: M where a request names none."""

    def column(values: Sequence[float]) -> torch.Tensor:
        return torch.tensor(values, device=device).view(-1, *axes)

    forced = column([one.forced for one in requests])
    epsilon, bias = (
        column([float(getattr(one, name)) for one in requests]) for name in ("epsilon", "bias")
    )
    return Stop(
        epsilon,
        column([one.limit or limit for one in requests]),
        bias,
        forced if bool(forced.any()) else None,
    )


@dataclass(frozen=True)
class ReadableRequest:
    """A request that can be answered. inputs: of one row."""

    request: Any
    inputs: Any

    @property
    def answer_positions(self) -> list[int]:
        """The positions where the answer is read."""
        return [i for i, target in enumerate(self.inputs.targets[0]) if target != NONE]


def list_earlier_answers(
    one: Any, most: int, run: Callable[[list[Any]], Any], said: Callable[[Tensor], str]
) -> tuple[str, ...]:
    """Return, for each n up to `most`, the answer if every position stopped at its n-th step at the
    latest: all of them in one pass, `run`."""
    name = "forced" if one.request.forced else "limit"
    rows = [
        dataclasses.replace(one, request=dataclasses.replace(one.request, **{name: n}))
        for n in range(1, most + 1)
    ]
    return tuple(map(said, run(rows).logits))


def describe_computation(
    one: ReadableRequest,
    limit: int,
    steps: Tensor,
    remainder: Tensor,
    logits: Tensor,
    halting: Array,
    weights: Array,
) -> dict[str, Any]:
    """Return the facts of every run for an explanation, by the names of the fields of
    `models.adaptive_computation.records.Thinking`, except answers and distances.

    limit: M as trained.
    steps, remainder: N and R, (position,).
    logits: (position, kind).
    halting, weights: (step, position).
    """
    taken = freeze(steps, np.int64)
    gone = np.arange(1, len(halting) + 1)[:, None] >= taken  # (step, position): from N on
    return {
        "wanted": tuple(one.answer_positions),
        "probability": freeze(logits.softmax(-1).amax(-1)[one.answer_positions]),
        "steps": taken,
        "remainder": freeze(remainder),
        "halting": freeze(halting),
        "weights": freeze(weights),
        "totals": freeze(np.where(gone, 1.0, np.minimum(halting.cumsum(0), 1.0))),
        "threshold": 1 - float(one.request.epsilon),
        "limit": one.request.limit or limit,
        "ponder": float((steps + remainder).mean()),
        "difficulty": int(one.inputs.difficulty[0]),
    }
