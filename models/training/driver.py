"""One driver for all labs: it searches for the learning rate, trains a network, measures its
figure, and writes all of it beside the network."""

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

from models.checkpoints import checkpoint, folders
from models.training import loop
from models.training.loop import Schedule, Trained
from models.training.user_data import UserTraining

BatchT = TypeVar("BatchT")
TaskT = TypeVar("TaskT", bound="Task")


class OutOfTime(ValueError):
    """The minutes of a training are over before there is anything to publish; the work so far is
    kept."""


class SeededBatches(Sequence[BatchT], Generic[BatchT]):
    """Some batches of a run, each drawn when it is needed and always the same one.

    draw(generator, done): a batch; done in [0, 1) is the share of the run that lies before it, for
        labs that begin with easy ones.
    number: counts the rounds of a run, of `size` batches each.
    steps: batches of the whole run.
    """

    def __init__(
        self,
        draw: Callable[[np.random.Generator, float], BatchT],
        seed: int,
        number: int,
        size: int,
        steps: int,
    ) -> None:
        self._draw, self._seed, self._first, self._size, self._steps = (
            draw,
            seed,
            number * size,
            size,
            steps,
        )

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
    """The training of a network: the part common to the recipes of all labs, which model.json
    records."""

    schedule: Schedule
    evaluation_interval: int = field(
        default=100, kw_only=True
    )  # batches between held-out evaluations
    # the largest learning rate; None: the best of a search
    rate: float | None = field(default=None, kw_only=True)


@dataclass(frozen=True, kw_only=True)
class Task:
    """The task that a variant learns, with the figure that it is compared with."""

    recipe: Any  # a `Recipe`
    config: Any = None  # of its network, where variants differ in it alone
    data: str  # in words, with its origin
    licence: str
    metric: str = ""
    protocol: str = ""  # how its figure is measured
    published: dict[str, Any] | None = None
    chosen: str = "val"  # the split that learning rates, and all else, are chosen on
    reported: str = "test"  # the split of its figure in README
    target: float | None = None  # the bound that its figure must reach
    dtype: torch.dtype = torch.float16  # of the shipped parameters; see `save_checkpoint`
    # the kind of user data it can learn from instead (`models.training.user_data.KINDS`)
    own: str = ""

    def on_device(self, device: torch.device) -> Self:
        """Return the same task for a device, where networks are as large as it can train."""
        return self

    def facts(self, slug: str, variant: str) -> dict[str, Any]:
        """Return the entries of model.json about the task, whoever trained the model."""
        said = {"data": self.data, "licence": self.licence, "published": self.published}
        return {"slug": slug, "variant": variant, "chosen_on": self.chosen, **said}


def describe_published(
    value: float, source: str, en: str, zh: str, *, comparable: bool = False, **more: Any
) -> dict[str, Any]:
    """Describe a published figure, and whether and why ours may, or may not, stand beside it. more:
    further entries about it."""
    return {
        "value": value,
        "source": source,
        "comparable": comparable,
        "why": {"en": en, "zh": zh},
        **more,
    }


@dataclass(frozen=True)
class Plan(Generic[BatchT]):
    """The plan by which one model learns."""

    build: Callable[[], nn.Module]  # the untrained network
    objective: Callable[[nn.Module], nn.Module]  # the loss that training minimises
    validate: Callable[[Any], float]  # of a network on held-out inputs, lower is better
    optimizers: Callable[[nn.Module, Schedule], list[torch.optim.Optimizer]] = loop.make_adam
    draw: Callable[[np.random.Generator, float], BatchT] | None = None  # see `SeededBatches`
    # in place of `draw`: by its number, a round of at most so many batches of a corpus
    epoch: Callable[[int, int], Sequence[BatchT]] | None = None
    trial: float = loop.TRIAL  # share of the run's steps after which rates are compared
    # the figure by which rates are compared, where that is not `validate`
    compare: Callable[[Any], float] | None = None
    # the network of another config, where its class alone does not make it
    sized: Callable[[Any], nn.Module] | None = None
    # further work in the folder of the assets
    finish: Callable[[Path], None] = lambda _where: None


@dataclass(frozen=True)
class Job(Generic[TaskT]):
    """A training to be done. run: the folder of its state. task, recipe: those of the variant, for
    this device."""

    task: TaskT
    variant: str
    recipe: Any
    data: Path
    run: Path


@dataclass(frozen=True)
class FigureRequest(Generic[TaskT]):
    """A figure to be measured. shipped: a checkpoint as the lab reads it, with `model`; where: its
    folder."""

    task: TaskT
    variant: str
    shipped: Any
    where: Path
    data: Path
    split: str
    seed: int
    record: bool


@dataclass(frozen=True)
class Measurement:
    """The result of a measurement.

    figure: metric, split, value and the other entries that model.json keeps.
    said: the same in words.
    key: its name in model.json, None: not kept, and `refused` says why.
    alike: the entries in which another seed's figure must agree to be listed.
    facts: further entries to record, computed when they are recorded.
    beside: further entries that `evaluate` returns.
    higher: whether a larger value is better.
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
class LabModels(Generic[TaskT]):
    """The models of a lab. How they learn and what is measured is declared here; the rest is the
    same for all labs.

    variants: the default comes first.
    read: a checkpoint's folder and a device -> the argument of `measure`.
    measure: of a `FigureRequest`, and of every option by its name.
    rates: where the search for the largest learning rate begins, for every variant alike.
    options: options of `evaluate` beside those of every lab, name -> arguments of argparse.
    also: a split whose figure model.json keeps as `validation`.
    """

    slug: str
    variants: dict[str, TaskT]
    read: Callable[[Path, str], Any]
    plan: Callable[[Job[TaskT]], Plan[Any]]
    measure: Callable[..., Measurement]
    rates: tuple[float, ...] = ()
    options: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    also: str = ""

    def task_of(self, variant: str) -> TaskT:
        """Return the task of a variant. Raise ValueError for an unknown one."""
        if variant not in self.variants:
            kinds = "variants" if len(self.variants) > 1 else "variant"
            raise ValueError(
                f"{self.slug} has the {kinds} {', '.join(self.variants)}, not {variant}"
            )
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
        own: UserTraining | None = None,
    ) -> Path:
        """Choose the learning rate, train, write the assets; return their folder.

        minutes: of all of it; a search that they cut short goes on where it was. `resume` with
            `minutes` 0 publishes the state of a run so far.
        devices: that share the batches, a process each: so many times fewer steps see as many
            examples, the first process alone publishes, and the others end here.

        Raise ValueError for an unknown variant and where the run was begun with other data or
        values, OutOfTime where the search alone took all minutes.
        """
        variant = variant or next(iter(self.variants))
        task = self.task_of(variant).on_device(device)
        recipe = (
            (recipe or task.recipe) if own is None else own.change_recipe(recipe or task.recipe)
        )
        recipe = dataclasses.replace(
            recipe, schedule=dataclasses.replace(recipe.schedule, seed=seed)
        )
        run = runs / self.slug / variant / str(seed)
        run.mkdir(parents=True, exist_ok=True)
        if own is not None:
            own.claim(run)
        plan = self.plan(Job(task, variant, recipe, data, run))
        plan = plan if own is None else resize_network(plan, own, recipe)
        begin = time.monotonic()

        def minutes_left() -> float | None:
            rest = minutes and minutes - (time.monotonic() - begin) / 60
            if rest is not None and rest < 0:
                raise OutOfTime(
                    f"{minutes:g} minutes are over and nothing is trained yet; run the same command"
                    " to continue the search"
                )
            return rest

        rates: dict[str, float] = {}
        if not recipe.rate:
            rates = loop.sweep_rates(
                lambda rate: _try_rate(plan, recipe, rate, run, variant, device, minutes_left),
                self.rates,
                run / "rates.json",
            )
        schedule = dataclasses.replace(
            recipe.schedule, peak=recipe.rate or loop.find_best_rate(rates)
        )
        model, result = _train_network(
            plan,
            schedule,
            run,
            recipe.evaluation_interval,
            device=device,
            minutes=minutes_left(),
            resume=resume,
            devices=devices,
        )
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
        where = (
            own.assets / self.slug / variant
            if own
            else checkpoint.find_folder(self.slug, variant, seed)
        )
        small = seed > 1 and own is None  # another seed is kept for its figure alone
        dtype, most = torch.int8 if small else task.dtype, math.inf if own else checkpoint.LARGEST
        checkpoint.save_checkpoint(where, result.state, facts, dtype, most=most)
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
        """Measure a model on a split, by default the reported one, and print it, with the other
        seeds' figures beside it.

        `record` writes the figure into model.json. Raise ValueError for an unknown variant or
        split, or for a figure that is not kept.
        """
        variant = variant or next(iter(self.variants))
        task = self.task_of(variant)
        split = split or task.reported
        where = checkpoint.find_folder(self.slug, variant, seed)
        asked = FigureRequest(
            task, variant, self.read(where, str(device)), where, data, split, seed, record
        )
        begin = time.perf_counter()
        found = self.measure(
            asked,
            **{
                name: options.get(name, told.get("default", False))
                for name, told in self.options.items()
            },
        )
        seconds, figure = time.perf_counter() - begin, found.figure
        if record:
            kept = {task.reported: found.key} | ({self.also: "validation"} if self.also else {})
            if found.key is None:
                raise ValueError(f"model.json keeps the figure of {task.reported} {found.refused}")
            if (key := kept.get(split)) is None:
                raise ValueError(
                    f"model.json keeps the figure of {' and of '.join(kept)}, not of {split}"
                )
            facts = checkpoint.add_figure(checkpoint.read_facts(where), figure, task.protocol, key)
            checkpoint.write_facts(where, facts | found.facts())
        print(f"{found.said}, in {seconds:.1f} s")
        missed = task.target is not None and (
            figure["value"] < task.target if found.higher else figure["value"] > task.target
        )
        if (
            missed
            and split == task.reported
            and found.key == "figure"
            and not folders.find_user_folder(self.slug)
        ):
            print(f"That misses the {task.target} that the recipe must reach.")
        told = {
            "seconds": round(seconds, 2),
            "device": str(device),
            "seeds": self.list_seed_figures(variant, seed, figure, found.alike),
        }
        return {
            "slug": self.slug,
            "variant": variant,
            "seed": seed,
            **figure,
            **told,
            **found.beside,
        }

    def list_seed_figures(
        self, variant: str, seed: int, figure: Mapping[str, Any], alike: Sequence[str] = ("split",)
    ) -> list[dict[str, Any]]:
        """Return a figure and those of the same variant with other seeds that were measured alike:
        {seed, value}, by seed."""
        found = {seed: figure["value"]}
        for path in checkpoint.find_folder(self.slug, variant).parent.glob(
            f"{variant}*/model.json"
        ):
            facts = checkpoint.read_facts(path.parent)
            kept = facts.get("figure", {})
            if (
                facts["variant"] == variant
                and facts["seed"] != seed
                and all(kept.get(key) == figure[key] for key in alike)
            ):
                found[int(facts["seed"])] = kept["value"]
        return [{"seed": one, "value": found[one]} for one in sorted(found)]


def resize_network(plan: Plan[BatchT], own: UserTraining, recipe: Any) -> Plan[BatchT]:
    """Return the same plan with another size of its network."""

    def build() -> nn.Module:
        model: Any = plan.build()
        config = own.change_config(model.config, recipe)
        return model if config == model.config else (plan.sized or type(model))(config)

    return dataclasses.replace(plan, build=build)


def _try_rate(
    plan: Plan[Any],
    recipe: Any,
    rate: float,
    run: Path,
    name: str,
    device: torch.device,
    left: Callable[[], float | None],
) -> float:
    """Train briefly with this learning rate, from the same start on the same inputs, and return the
    held-out loss after it."""
    schedule = loop.make_trial_schedule(recipe.schedule, rate, plan.trial)
    trial = run / f"trial-{rate:g}"
    # its figure is needed only at its end
    unseen = dataclasses.replace(plan, validate=lambda _model: math.nan)
    model, result = _train_network(
        unseen, schedule, trial, schedule.steps, device=device, minutes=left(), resume=True
    )
    if not result.finished:
        raise OutOfTime(
            f"the time is over: stopped at step {result.steps} of the trial with the learning rate"
            f" {rate:g}"
        )
    model.load_state_dict(result.state)
    figure = (plan.compare or plan.validate)(model.eval())
    shutil.rmtree(trial)
    print(f"{name}, learning rate {rate:g}: {figure:.4f} after {schedule.steps} steps", flush=True)
    return figure


def _train_network(
    plan: Plan[BatchT], schedule: Schedule, run: Path, size: int, **more: Any
) -> tuple[nn.Module, Trained[BatchT]]:
    torch.manual_seed(schedule.seed)
    model = plan.build()

    def batches(number: int) -> Sequence[BatchT]:
        if plan.epoch is not None:
            return plan.epoch(number, size)
        assert plan.draw is not None
        return SeededBatches(plan.draw, schedule.seed, number, size, schedule.steps)

    result: Trained[BatchT] = loop.train(
        plan.objective(model),
        batches,
        plan.validate,
        # each step takes a batch for every device
        loop.make_trial_schedule(schedule, schedule.peak, 1 / more.get("devices", 1)),
        run,
        optimizers=plan.optimizers,
        **more,
    )
    return model, result
