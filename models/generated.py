"""Learning from what a generator makes: the learning rate searched for, batches that no run ever sees twice, the shipped files."""

from __future__ import annotations

import dataclasses
import json
import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

import numpy as np
import torch
from torch import nn

from models import checkpoint, training
from models.training import Movable, Schedule, Trained

BatchT = TypeVar("BatchT", bound=Movable)


class Drawn(Sequence[BatchT], Generic[BatchT]):
    """Some batches of a run, each drawn when it is asked for and always the same one.

    draw(generator, done) -> a batch; done in [0, 1): which share of the run lies before it, for those who begin with easy ones.
    number: counts the rounds of a run, of `size` batches each; steps: batches of the whole run.
    """

    def __init__(self, draw: Callable[[np.random.Generator, float], BatchT], seed: int, number: int, size: int, steps: int) -> None:
        self._draw, self._seed, self._first, self._size, self._steps = draw, seed, number * size, size, steps

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> BatchT: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[BatchT]: ...
    def __getitem__(self, index: int | slice) -> BatchT | Sequence[BatchT]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not 0 <= index < self._size:
            raise IndexError(f"batch {index} of {self._size}")
        step = self._first + index
        return self._draw(np.random.default_rng((self._seed, step)), min(step / self._steps, 1.0))


@dataclass(frozen=True)
class Plan(Generic[BatchT]):
    """How one model learns."""

    build: Callable[[], nn.Module]  # the network, nothing learned yet
    objective: Callable[[nn.Module], nn.Module]  # what training minimises
    validate: Callable[[nn.Module], float]  # on held-out inputs, lower is better
    schedule: Schedule
    rates: tuple[float, ...]  # where the search for the largest learning rate begins
    rate: float | None  # the largest learning rate; None: the best of a search
    optimizers: Callable[[nn.Module, Schedule], list[torch.optim.Optimizer]] = training.adam
    draw: Callable[[np.random.Generator, float], BatchT] | None = None  # see `Drawn`
    round: int = 0  # batches that are drawn between two looks at the held-out inputs
    epoch: Callable[[int], Sequence[BatchT]] | None = None  # the batches of each pass over a corpus, where nothing is drawn
    trial: float = training.TRIAL  # share of the run's steps after which rates are compared


def chosen_rate(plan: Plan[BatchT], run: Path, name: str, device: torch.device) -> dict[str, float]:
    """Short runs with each rate of `training.swept`, from the same start on the same inputs: rate -> what `validate` says."""

    def measure(rate: float) -> float:
        schedule = training.trial_of(plan.schedule, rate, plan.trial)
        trial = run / f"trial-{rate:g}"
        model, result = _trained(plan, schedule, trial, schedule.steps, device=device, resume=True)
        model.load_state_dict(result.state)
        figure = plan.validate(model.eval())
        shutil.rmtree(trial)
        print(f"{name}, learning rate {rate:g}: {figure:.4f} after {schedule.steps} steps", flush=True)
        return figure

    return training.swept(measure, plan.rates, run / "rates.json")


def _trained(plan: Plan[BatchT], schedule: Schedule, run: Path, size: int, **more: Any) -> tuple[nn.Module, Trained[BatchT]]:
    torch.manual_seed(schedule.seed)
    model = plan.build()

    def drawn(number: int) -> Sequence[BatchT]:
        assert plan.draw is not None
        return Drawn(plan.draw, schedule.seed, number, size, schedule.steps)

    result: Trained[BatchT] = training.train(
        plan.objective(model),
        plan.epoch or drawn,
        lambda model: math.nan if size == schedule.steps else plan.validate(model),
        schedule,
        run,
        optimizers=plan.optimizers,
        **more,
    )
    return model, result


def learn(
    plan: Plan[BatchT],
    run: Path,
    where: Path,
    facts: dict[str, Any],
    recipe: Any,
    *,
    device: torch.device,
    minutes: float | None = None,
    resume: bool = False,
    devices: int = 1,
) -> Path:
    """Choose the learning rate, train, write the assets into `where`; returns it.

    facts: what model.json says beside what is found out here; recipe: the frozen dataclass that it records, its field `schedule` included.
    `resume` with `minutes` 0 publishes what a run has so far.
    """
    run.mkdir(parents=True, exist_ok=True)
    rates = {} if plan.rate else chosen_rate(plan, run, str(facts["variant"]), device)
    schedule = dataclasses.replace(plan.schedule, peak=plan.rate or training.best_rate(rates))
    model, result = _trained(plan, schedule, run, plan.round, device=device, minutes=minutes, resume=resume, devices=devices)
    whole = {
        **facts,
        "config": dataclasses.asdict(model.config),  # type: ignore[call-overload]
        "recipe": dataclasses.asdict(dataclasses.replace(recipe, schedule=schedule)),
        "rates": rates,
        "seed": schedule.seed,
        "finished": result.finished,
        "steps": result.steps,
        "training_seconds": round(result.seconds),
        "training_device": result.device,
    }
    checkpoint.save(where, result.state, whole)
    (where / "training.json").write_text(json.dumps(result.log) + "\n", encoding="utf-8")
    return where
