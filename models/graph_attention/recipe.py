"""Training and measurement of the networks over graphs."""

from __future__ import annotations

import dataclasses
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.checkpoints.folders import list_trained
from models.data.windows import NONE, move_batch
from models.explaining.trace import Trace
from models.graph_attention.data import (
    CLASSES,
    COLOURS,
    FILE,
    PAIRS,
    SPLITS,
    draw_coloured,
    draw_dictionaries,
    read_papers,
    take_tensors,
)
from models.graph_attention.model import AS_TRAINED, Change, Config, build_network
from models.graph_attention.pretrained import SLUG, read
from models.training import driver, loop
from models.training.driver import (
    FigureRequest,
    Job,
    LabModels,
    Measurement,
    Plan,
    describe_published,
)
from models.training.loop import NextSymbol, Schedule

GENERATED = "Apache-2.0: the generator and these weights"
CORA = "MIT: the graph (T. Kipf, 2016); Apache-2.0: these weights"
HELD_OUT = 400  # graphs that measure a network
DRAWS: dict[str, Callable[..., Any]] = {
    "dictionary": draw_dictionaries,
    "distance": draw_coloured,
}


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """The settings of training."""

    batch: int = 64  # graphs; Cora is one
    penalty: float = 0.0  # L2, of all parameters


@dataclass(frozen=True)
class Task(driver.Task):
    """A variant's task. config: its network."""

    config: Config


def _make_optimizer(penalty: float) -> Callable[..., list[torch.optim.Optimizer]]:
    def make(objective: nn.Module, schedule: Schedule) -> list[torch.optim.Optimizer]:
        return [
            torch.optim.Adam(
                objective.parameters(), lr=schedule.peak, weight_decay=penalty, fused=True
            )
        ]

    return make


def _schedule(steps: int, **more: Any) -> Schedule:
    return Schedule(steps=steps, decay=0.0, precision="32-true", **more)


CITATIONS = Recipe(
    _schedule(600, warmup=1, cooldown=1, clip=1e9, average=10, every=10),
    evaluation_interval=50,
    penalty=5e-4,
)
LOOKUPS = Recipe(_schedule(600, warmup=50, cooldown=200, average=3, every=20), batch=32)
DISTANCES = Recipe(_schedule(600, warmup=50, cooldown=200, average=3, every=20))


def _cite(kind: str, published: dict[str, Any] | None) -> Task:
    return Task(
        recipe=CITATIONS,
        config=Config("cora", kind, 1433, CLASSES, dropout=0.6),
        data="Cora: 2,708 papers in 7 classes, 1,433 words, 5,278 citations; the Planetoid split"
        " with 140 labels",
        licence=CORA,
        metric="accuracy",
        protocol="the 1,000 test papers of the Planetoid split",
        published=published,
        target=0.815,
    )


def _look_up(kind: str, target: float | None) -> Task:
    return Task(
        recipe=LOOKUPS,
        config=Config("dictionary", kind, PAIRS, PAIRS, heads=4, d_head=16, n_layers=1),
        data=f"dictionaries of {PAIRS} pairs, made by a seeded generator",
        licence=GENERATED,
        metric="accuracy",
        protocol=f"{HELD_OUT} new dictionaries, {HELD_OUT * PAIRS:,} lookups",
        target=target,
    )


def _find_colour(kind: str, target: float | None) -> Task:
    return Task(
        recipe=DISTANCES,
        config=Config("distance", kind, COLOURS, COLOURS, heads=4),
        data="trees of 16 nodes with three more edges, each node in one of four colours, made by a"
        " seeded generator",
        licence=GENERATED,
        metric="accuracy",
        protocol=f"{HELD_OUT} new graphs; nodes whose answer is a tie are not asked",
        target=target,
    )


PUBLISHED = describe_published(
    0.830,
    "Veličković et al., 2018, table 2: mean of 100 runs",
    "The same split; the paper stops by a patience of 100 epochs, and ours averages the last ten"
    " checkpoints of 600 epochs.",
    "划分相同；论文以 100 轮的耐心早停，我们取 600 轮训练中最后十个检查点的平均。",
    comparable=True,
)
VARIANTS = {
    "cora": _cite("gat", PUBLISHED),
    "cora_gatv2": _cite("gatv2", None),
    "dictionary": _look_up("gatv2", 0.95),
    "dictionary_gat": _look_up("gat", None),
    "dictionary_dot": _look_up("dot", None),
    "distance": _find_colour("bias", 0.95),
    "distance_blind": _find_colour("blind", None),
}


def run_network(model: Any, batch: Any) -> tuple[Tensor, Tensor]:
    """Return the logits of a batch of any task, and what is asked for."""
    return model(*take_tensors(batch)), batch.wanted


@torch.no_grad()
def mark_answers(model: Any, batch: Any, change: Change = AS_TRAINED) -> tuple[Tensor, Tensor]:
    """Return the answers that are asked for, and whether each is right, (answer,)."""
    batch = move_batch(batch, next(model.parameters()).device)
    answers = model(*take_tensors(batch), change).argmax(-1)
    asked = batch.wanted != NONE
    return answers[asked].cpu(), (answers == batch.wanted)[asked].cpu()


def measure_share(model: Any, batch: Any, change: Change = AS_TRAINED) -> float:
    """Return the share of right answers."""
    return round(float(mark_answers(model, batch, change)[1].double().mean()), 4)


def read_batch(task: str, split: str, data: Path, draw: int = 0, **how: Any) -> Any:
    """Return the inputs that measure a network on a split: papers, or graphs of a generator.

    draw: counts the further held-out sets that a generator can make. how: options of
        `draw_coloured`.
    """
    if split not in SPLITS:
        raise ValueError(f"there are the splits {', '.join(SPLITS)}, not {split}")
    if task == "cora":
        return read_papers(data / FILE).batch(split)
    generator = np.random.default_rng((SPLITS.index(split) + 1, draw))
    return DRAWS[task](generator, HELD_OUT, **how)


def plan(job: Job[Task]) -> Plan[Any]:
    """Plan a training: on the whole graph of Cora at every step, or on new graphs each time."""
    config, recipe = job.task.config, job.recipe
    held_out = read_batch(config.task, "val", job.data)
    if config.task == "cora":
        papers = read_papers(job.data / FILE).batch("train")

    def draw(generator: np.random.Generator, _done: float) -> Any:
        if config.task == "cora":
            return papers
        return DRAWS[config.task](generator, recipe.batch)

    def validate(model: Any) -> float:
        logits, targets = run_network(model, held_out)
        return float(F.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=NONE))

    return Plan(
        lambda: build_network(config),
        lambda model: NextSymbol(model, run_network),
        torch.no_grad()(validate),
        optimizers=_make_optimizer(recipe.penalty),
        draw=draw,
        trial=1.0,
    )


def train_anew(task: Task, data: Path, rate: float, seed: int, device: torch.device) -> Any:
    """Return a network of the same recipe from another seed; nothing is kept on disk."""
    schedule = dataclasses.replace(task.recipe.schedule, peak=rate, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        training = plan(Job(task, "", task.recipe, data, path))
        torch.manual_seed(seed)
        model = training.build()
        assert training.draw is not None
        batches = driver.SeededBatches(training.draw, seed, 0, schedule.steps, schedule.steps)
        trained = loop.train(
            training.objective(model),
            lambda _number: batches,
            training.validate,
            schedule,
            path,
            device=device,
            optimizers=training.optimizers,
        )
    model.load_state_dict(trained.state)
    return model.to(device).eval()


def measure_entropy(model: Any, batch: Any) -> list[float]:
    """Return the mean entropy of α by layer, over that of the uniform α of the same node."""
    trace = Trace("layer/*/weights")
    with torch.no_grad():
        model(*take_tensors(batch), trace=trace)
    starts = batch.edges.starts.numpy()
    result = []
    for name in trace.names():
        (weights,) = trace.stack(name)
        nats = -np.add.reduceat(weights * np.log(np.maximum(weights, 1e-30)), starts[:-1])
        most = np.log(np.diff(starts))[:, None]
        result.append(round(float((nats / most)[most[:, 0] > 0].mean()), 4))
    return result


def _measure_changes(model: Any, batch: Any) -> dict[str, Any]:
    """Return what uniform α and silenced heads do to the answers on Cora."""
    uniform = Change(sharpness=(0.0, 0.0))
    before, _ = mark_answers(model, batch)
    after, right = mark_answers(model, batch, uniform)
    heads = model.config.heads
    silenced = [measure_share(model, batch, Change(gain=(g,))) for g in 1 - torch.eye(heads)]
    return {
        "uniform": round(float(right.double().mean()), 4),
        "uniform_flips": round(float((before != after).double().mean()), 4),
        "worst_head_silenced": min(silenced),
        "entropy": measure_entropy(model, batch),
    }


def measure(asked: FigureRequest[Task], seeds: int, draw: int) -> Measurement:
    """Measure the answers of a network on a split.

    seeds: on Cora, train so many networks anew and return their mean. draw: the number of the
        held-out set that a generator makes; only set 0 is recorded.
    """
    task, model = asked.task.config.task, asked.shipped.model
    device = next(model.parameters()).device
    batch = read_batch(task, asked.split, asked.data, draw)
    figure: dict[str, Any] = {
        "metric": asked.task.metric,
        "split": asked.split,
        "value": measure_share(model, batch),
        "n": int((batch.wanted != NONE).sum()),
    }
    beside: dict[str, Any] = {"draw": draw}
    if task == "cora":
        figure |= _measure_changes(model, batch)
        beside |= _measure_seeds(asked, seeds, device) if seeds else {}
    else:
        beside["others"] = _measure_others(asked, batch)
    if task == "distance":
        figure["larger"] = measure_share(
            model, read_batch(task, asked.split, asked.data, draw, nodes=32)
        )
        figure["path"] = measure_share(
            model, read_batch(task, asked.split, asked.data, draw, kind="path")
        )
    if task == "dictionary":
        figure["uniform"] = measure_share(model, batch, Change(sharpness=(0.0,)))
    said = f"{beside.get('value', figure['value']):.4f} {figure['metric']} on {asked.split}"
    kept = {"seeds_anew": {key: beside[key] for key in ("value", "sd", "each")}} if seeds else {}
    return Measurement(
        figure,
        said + (f", mean of {seeds} seeds, sd {beside['sd']:.4f}" if seeds else ""),
        None if draw else "figure",
        "on the first held-out set",
        facts=lambda: kept,
        beside=beside,
        higher=True,
    )


def _measure_others(asked: FigureRequest[Task], batch: Any) -> dict[str, float]:
    """Return the figures of the other networks of a task on the same inputs."""
    task = asked.task.config.task
    result = {}
    for name in list_trained(SLUG, VARIANTS):
        if VARIANTS[name].config.task == task and name != asked.variant:
            result[name] = measure_share(read(asked.where.parent / name).model, batch)
    return result


def _measure_seeds(asked: FigureRequest[Task], seeds: int, device: torch.device) -> dict[str, Any]:
    """Return the mean, the deviation and each figure of networks that are trained anew, from the
    seed that was asked for on."""
    if seeds < 2:
        raise ValueError(f"--seeds {seeds}: at least 2 are needed")
    rate = asked.shipped.facts["recipe"]["schedule"]["peak"]
    batch = read_batch("cora", asked.split, asked.data)
    each = [
        measure_share(train_anew(asked.task, asked.data, rate, asked.seed + at, device), batch)
        for at in range(seeds)
    ]
    mean = statistics.mean(each)
    return {"value": round(mean, 4), "sd": round(statistics.stdev(each), 4), "each": each}


OPTIONS: dict[str, dict[str, Any]] = {
    "seeds": {"type": int, "default": 0, "help": "train so many networks on Cora anew"},
    "draw": {"type": int, "default": 0, "help": "another held-out set of the generator"},
}
LAB = LabModels(SLUG, VARIANTS, read, plan, measure, rates=(2.5e-3, 5e-3, 1e-2), options=OPTIONS)
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
