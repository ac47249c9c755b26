"""One driver for all labs: the learning rate is searched for, a network trained, its figure measured, and all of it written beside it."""

from __future__ import annotations

import dataclasses
import json
import math
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np
import torch
from torch import nn

from models import checkpoint, folders, training
from models.own import Own
from models.training import Schedule, Trained

BatchT = TypeVar("BatchT")
TaskT = TypeVar("TaskT", bound="Task")


class OutOfTime(ValueError):
    """The minutes of a training are over before there is anything to publish; what was done so far is kept."""


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
class Recipe:
    """How a network is trained: what the recipe of every lab holds, and model.json records."""

    schedule: Schedule
    round: int = field(default=100, kw_only=True)  # batches between two looks at what is held out
    rate: float | None = field(default=None, kw_only=True)  # the largest learning rate; None: the best of a search


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a variant learns, and beside which figure it stands."""

    recipe: Any  # a `Recipe`
    config: Any = None  # of its network, where that alone tells one variant from another
    data: str  # in words, with its origin
    licence: str
    metric: str = ""
    protocol: str = ""  # how its figure is measured
    published: dict[str, Any] | None = None
    chosen: str = "val"  # the split that learning rates, and all else, are chosen on
    reported: str = "test"  # the split of its figure in README
    target: float | None = None  # what its figure must reach
    dtype: torch.dtype = torch.float16  # in which its parameters are shipped; see `checkpoint.save`
    own: str = ""  # which data of somebody's own it can learn from instead (`models.own.KINDS`)

    def on(self, device: torch.device) -> Self:
        """The same for a device, where networks are as large as it can train."""
        return self

    def facts(self, slug: str, variant: str) -> dict[str, Any]:
        """What model.json says of it, whoever trained the model."""
        said = {"data": self.data, "licence": self.licence, "published": self.published}
        return {"slug": slug, "variant": variant, "chosen_on": self.chosen, **said}


def published(value: float, source: str, en: str, zh: str, *, comparable: bool = False, **more: Any) -> dict[str, Any]:
    """A figure in print, and whether and why ours may, or may not, stand beside it. more: what else is told of it."""
    return {"value": value, "source": source, "comparable": comparable, "why": {"en": en, "zh": zh}, **more}


@dataclass(frozen=True)
class Plan(Generic[BatchT]):
    """How one model learns."""

    build: Callable[[], nn.Module]  # the network, nothing learned yet
    objective: Callable[[nn.Module], nn.Module]  # what training minimises
    validate: Callable[[Any], float]  # of a network on held-out inputs, lower is better
    optimizers: Callable[[nn.Module, Schedule], list[torch.optim.Optimizer]] = training.adam
    draw: Callable[[np.random.Generator, float], BatchT] | None = None  # see `Drawn`
    epoch: Callable[[int, int], Sequence[BatchT]] | None = None  # or, by its number, a round of at most so many batches of a corpus
    trial: float = training.TRIAL  # share of the run's steps after which rates are compared
    compare: Callable[[Any], float] | None = None  # what rates are compared by, where that is not `validate`
    sized: Callable[[Any], nn.Module] | None = None  # the network of another config, where its class alone does not make it
    finish: Callable[[Path], None] = lambda _where: None  # what else is done in the folder of the assets


@dataclass(frozen=True)
class Job(Generic[TaskT]):
    """A training that is asked for. run: the folder of its state. task, recipe: those of the variant, for this device."""

    task: TaskT
    variant: str
    recipe: Any
    data: Path
    run: Path


@dataclass(frozen=True)
class Asked(Generic[TaskT]):
    """A figure that is asked for. shipped: what the lab reads of a checkpoint, with `model`; where: its folder."""

    task: TaskT
    variant: str
    shipped: Any
    where: Path
    data: Path
    split: str
    seed: int
    record: bool


@dataclass(frozen=True)
class Measured:
    """What a measurement gives.

    figure: metric, split, value and what else model.json keeps. said: the same in words. key: what model.json calls it, None: not kept,
    and `refused` says why. alike: what another seed's figure must share to be listed. facts: what else is recorded, made when it is.
    beside: what else `evaluate` returns. higher: is a larger value better?
    """

    figure: dict[str, Any]
    said: str
    key: str | None = "figure"
    refused: str = ""
    alike: tuple[str, ...] = ("split",)
    facts: Callable[[], dict[str, Any]] = dict
    beside: Mapping[str, Any] = field(default_factory=dict)
    higher: bool = False


@dataclass
class Lab(Generic[TaskT]):
    """The models of a lab: how they learn and what is measured is declared here, the rest is the same for all.

    variants: the one that is meant where none is named comes first. read: a checkpoint's folder and a device -> what `measure` is given.
    measure: of an `Asked`, and of every option by its name. rates: where the search for the largest learning rate begins, for every variant
    alike. options: what `evaluate` can be asked beside what every lab knows, name -> what argparse is told. also: a split whose figure
    model.json keeps as `validation`.
    """

    slug: str
    variants: dict[str, TaskT]
    read: Callable[[Path, str], Any]
    plan: Callable[[Job[TaskT]], Plan[Any]]
    measure: Callable[..., Measured]
    rates: tuple[float, ...] = ()
    options: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    also: str = ""

    def task_of(self, variant: str) -> TaskT:
        """The task of a variant; ValueError for an unknown one."""
        if variant not in self.variants:
            kinds = "variants" if len(self.variants) > 1 else "variant"
            raise ValueError(f"{self.slug} has the {kinds} {', '.join(self.variants)}, not {variant}")
        return self.variants[variant]

    def train(
        self,
        data: Path,
        runs: Path,
        variant: str = "",
        *,
        seed: int = 1,
        device: torch.device,
        minutes: float | None = None,
        resume: bool = False,
        devices: int = 1,
        recipe: Any = None,
        own: Own | None = None,
    ) -> Path:
        """Choose the learning rate, train, write the assets; returns their folder.

        minutes: of all of it; a search that they cut short goes on where it was. `resume` with `minutes` 0 publishes what a run has so far.
        devices: that share the batches, a process each: so many times fewer steps see as many examples, the first process alone publishes,
        and the others end here. ValueError for an unknown variant and where the run was begun with other data or values, OutOfTime where
        the search alone took all minutes.
        """
        variant = variant or next(iter(self.variants))
        task = self.task_of(variant).on(device)
        recipe = (recipe or task.recipe) if own is None else own.recipe(recipe or task.recipe)
        recipe = dataclasses.replace(recipe, schedule=dataclasses.replace(recipe.schedule, seed=seed))
        run = runs / self.slug / variant / str(seed)
        run.mkdir(parents=True, exist_ok=True)
        if own is not None:
            own.claim(run)
        plan = self.plan(Job(task, variant, recipe, data, run))
        plan = plan if own is None else resized(plan, own, recipe)
        begin = time.monotonic()

        def left() -> float | None:
            rest = minutes and minutes - (time.monotonic() - begin) / 60
            if rest is not None and rest < 0:
                raise OutOfTime(f"{minutes:g} minutes are over and nothing is trained yet; the same command goes on with the search")
            return rest

        rates: dict[str, float] = {}
        if not recipe.rate:
            rates = training.swept(lambda rate: _tried(plan, recipe, rate, run, variant, device, left), self.rates, run / "rates.json")
        schedule = dataclasses.replace(recipe.schedule, peak=recipe.rate or training.best_rate(rates))
        model, result = _trained(plan, schedule, run, recipe.round, device=device, minutes=left(), resume=resume, devices=devices)
        if result.rank:
            raise SystemExit(0)
        facts = {
            **task.facts(self.slug, variant),
            **({"own": True, "published": None} if own else {}),
            **({"data": own.said, "licence": "yours"} if own and own.said else {}),
            "config": dataclasses.asdict(model.config),  # type: ignore[call-overload]
            "recipe": dataclasses.asdict(dataclasses.replace(recipe, schedule=schedule)),
            "rates": rates,
            "seed": seed,
            "finished": result.finished,
            "steps": result.steps,
            "training_seconds": round(result.seconds),
            "training_device": result.device,
        }
        where = own.assets / self.slug / variant if own else checkpoint.folder(self.slug, variant, seed)
        small = seed > 1 and own is None  # another seed stands for its figure alone
        dtype, most = torch.int8 if small else task.dtype, math.inf if own else checkpoint.LARGEST
        checkpoint.save(where, result.state, facts, dtype, most=most)
        (where / "training.json").write_text(json.dumps(result.log) + "\n", encoding="utf-8")
        plan.finish(where)
        return where

    def evaluate(
        self,
        data: Path,
        variant: str = "",
        *,
        seed: int = 1,
        split: str = "",
        device: torch.device,
        record: bool = False,
        **options: Any,
    ) -> dict[str, Any]:
        """Measure a model on a split, by default the reported one, and say it; the other seeds' figures beside.

        `record` writes the figure into model.json. ValueError for an unknown variant or split, or for a figure that is not kept.
        """
        variant = variant or next(iter(self.variants))
        task = self.task_of(variant)
        split = split or task.reported
        where = checkpoint.folder(self.slug, variant, seed)
        asked = Asked(task, variant, self.read(where, str(device)), where, data, split, seed, record)
        begin = time.perf_counter()
        found = self.measure(asked, **{name: options.get(name, told.get("default", False)) for name, told in self.options.items()})
        seconds, figure = time.perf_counter() - begin, found.figure
        if record:
            kept = {task.reported: found.key} | ({self.also: "validation"} if self.also else {})
            if found.key is None:
                raise ValueError(f"model.json keeps the figure of {task.reported} {found.refused}")
            if (key := kept.get(split)) is None:
                raise ValueError(f"model.json keeps the figure of {' and of '.join(kept)}, not of {split}")
            facts = checkpoint.with_figure(checkpoint.read_facts(where), figure, task.protocol, key)
            checkpoint.write_facts(where, facts | found.facts())
        print(f"{found.said}, in {seconds:.1f} s")
        missed = task.target is not None and (figure["value"] < task.target if found.higher else figure["value"] > task.target)
        if missed and split == task.reported and found.key == "figure" and not folders.own(self.slug):
            print(f"That misses the {task.target} that the recipe must reach.")
        told = {"seconds": round(seconds, 2), "device": str(device), "seeds": self.seeds(variant, seed, figure, found.alike)}
        return {"slug": self.slug, "variant": variant, "seed": seed, **figure, **told, **found.beside}

    def seeds(self, variant: str, seed: int, figure: Mapping[str, Any], alike: Sequence[str] = ("split",)) -> list[dict[str, Any]]:
        """A figure and those of the same variant with other seeds that were measured alike: {seed, value}, by seed."""
        found = {seed: figure["value"]}
        for path in checkpoint.folder(self.slug, variant).parent.glob(f"{variant}*/model.json"):
            facts = checkpoint.read_facts(path.parent)
            kept = facts.get("figure", {})
            if facts["variant"] == variant and facts["seed"] != seed and all(kept.get(key) == figure[key] for key in alike):
                found[int(facts["seed"])] = kept["value"]
        return [{"seed": one, "value": found[one]} for one in sorted(found)]


def resized(plan: Plan[BatchT], own: Own, recipe: Any) -> Plan[BatchT]:
    """The same with another size of its network."""

    def build() -> nn.Module:
        model: Any = plan.build()
        config = own.config(model.config, recipe)
        return model if config == model.config else (plan.sized or type(model))(config)

    return dataclasses.replace(plan, build=build)


def _tried(
    plan: Plan[Any], recipe: Any, rate: float, run: Path, name: str, device: torch.device, left: Callable[[], float | None]
) -> float:
    """A short run with this learning rate, from the same start on the same inputs: what held-out inputs cost after it."""
    schedule = training.trial_of(recipe.schedule, rate, plan.trial)
    trial = run / f"trial-{rate:g}"
    unseen = dataclasses.replace(plan, validate=lambda _model: math.nan)  # its figure is wanted at its end alone
    model, result = _trained(unseen, schedule, trial, schedule.steps, device=device, minutes=left(), resume=True)
    if not result.finished:
        raise OutOfTime(f"no more minutes: stopped at step {result.steps} of the trial with the learning rate {rate:g}")
    model.load_state_dict(result.state)
    figure = (plan.compare or plan.validate)(model.eval())
    shutil.rmtree(trial)
    print(f"{name}, learning rate {rate:g}: {figure:.4f} after {schedule.steps} steps", flush=True)
    return figure


def _trained(plan: Plan[BatchT], schedule: Schedule, run: Path, size: int, **more: Any) -> tuple[nn.Module, Trained[BatchT]]:
    torch.manual_seed(schedule.seed)
    model = plan.build()

    def batches(number: int) -> Sequence[BatchT]:
        if plan.epoch is not None:
            return plan.epoch(number, size)
        assert plan.draw is not None
        return Drawn(plan.draw, schedule.seed, number, size, schedule.steps)

    result: Trained[BatchT] = training.train(
        plan.objective(model),
        batches,
        plan.validate,
        training.trial_of(schedule, schedule.peak, 1 / more.get("devices", 1)),  # each step takes a batch for every device
        run,
        optimizers=plan.optimizers,
        **more,
    )
    return model, result
