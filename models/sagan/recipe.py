"""Training and measurement of the generators, their discriminators and the classifier."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from models.checkpoints import checkpoint
from models.checkpoints.checkpoint import CheckpointError
from models.evaluation.frechet import measure_frechet_distance, measure_moments
from models.evaluation.likeness import measure_corners
from models.evaluation.picture_classifier import Classifier, ClassifierConfig, read_features
from models.sagan.data import ROOM, Levels, draw_twins, load_clothes, load_digits, to_tensor
from models.sagan.model import AdversarialPair, Config, Generator
from models.sagan.pretrained import CLASSIFIER, SLUG, load, read
from models.sagan.training import Draw, Game, draw_noise, paint, play
from models.training import driver
from models.training.driver import FigureRequest, Job, LabModels, Measurement, Plan, Task
from models.training.loop import NextSymbol, Schedule

SAMPLES = 10_000  # generated pictures of a figure
WATCHED = 2_000  # generated pictures of a point of the curve, or twins of a figure
ATTENTION, CONTROL, TWINS, TWINS_CONTROL = "attention", "residual", "twins", "twins_control"
_CLOTHES = "Fashion-MNIST, 28 × 28 in a black edge of 2; the last 1,000 of train are held out"
_DIGITS = "MNIST reduced to 8 × 8, the same digit in two corners"
Labelled = tuple[Tensor, Tensor]
"""Pictures and their classes."""
PROTOCOL = "noise from a seed that no training used, classes in turn, against the test pictures"
LICENCE = "MIT: Fashion-MNIST (Zalando SE); the weights Apache-2.0"


@dataclass(frozen=True)
class PairRecipe(driver.Recipe):
    """The settings of training."""

    game: Game | None = None  # of a pair; None: of the classifier
    batch: int = 128  # pictures, of the classifier


def _declare_pair(config: Config, steps: int, **more: Any) -> Task:
    recipe = PairRecipe(Schedule(steps=steps), game=Game(steps=steps))
    data = _CLOTHES if config.classes > 1 else _DIGITS
    return Task(recipe=recipe, config=config, data=data, licence=LICENCE, protocol=PROTOCOL, **more)


_SMALL = Config(1, 64, (64, 32, 16, 8), (16, 64, 64), "none", "attention")
PAIRS: dict[str, Task] = {
    ATTENTION: _declare_pair(Config(), 3_000, target=30.0),
    CONTROL: _declare_pair(Config(generator_block=CONTROL, discriminator_block=CONTROL), 3_000),
    TWINS: _declare_pair(_SMALL, 1_500),
    TWINS_CONTROL: _declare_pair(
        dataclasses.replace(_SMALL, discriminator_block="pointwise"), 1_500
    ),
}
_judge = PairRecipe(
    Schedule(
        steps=3_000, peak=1e-3, warmup=100, decay=0.0, cooldown=1_500, average=2, every=100,
        precision="32-true",
    ),
    evaluation_interval=300,
    rate=1e-3,
)  # fmt: skip
VARIANTS: dict[str, Task] = PAIRS | {
    CLASSIFIER: Task(
        recipe=_judge,
        config=ClassifierConfig(),
        data=_CLOTHES,
        licence=LICENCE,
        protocol="10,000 test pictures",
        target=0.88,
    )
}


def plan(job: Job[Task]) -> Plan[Labelled]:
    """Plan the training of the classifier: pictures moved by up to two pixels and mirrored."""
    levels, kinds = load_clothes(job.data, "train")
    held, held_kinds = load_clothes(job.data, "val")

    def draw(generator: np.random.Generator, _done: float) -> Labelled:
        chosen = generator.integers(len(levels), size=job.recipe.batch)
        row, column = generator.integers(-2, 3, size=2)
        some = np.roll(levels[chosen], (row, column), (1, 2))
        some = some[:, :, ::-1] if generator.integers(2) else some
        return to_tensor(some), torch.from_numpy(kinds[chosen])

    def validate(model: Classifier) -> float:
        _, named = read_features(model, to_tensor(held))
        return float((named.numpy() != held_kinds).mean())

    return Plan(
        lambda: Classifier(job.task.config),
        lambda model: NextSymbol(model, lambda net, batch: (net(batch[0]), batch[1])),
        validate,
        draw=draw,
        finish=lambda where: store_test_pictures(job.data, where),
    )


def store_test_pictures(data: Path, where: Path) -> None:
    """Store what the page needs of the test pictures: mean and covariance of their features in the
    classifier's folder, and beside it the first three of each class."""
    levels, kinds = load_clothes(data, "test")
    features, _ = read_features(read(where).model, to_tensor(levels))
    mean, covariance = measure_moments(features.numpy())
    np.savez_compressed(
        where / "reference.npz", mean=mean.astype("f4"), covariance=covariance.astype("f4")
    )
    chosen = np.concatenate([np.flatnonzero(kinds == kind)[:3] for kind in range(10)])
    np.savez_compressed(
        where.parent / "examples.npz", pictures=levels[chosen, 2:-2, 2:-2], kinds=kinds[chosen]
    )


def open_data(data: Path, task: Task) -> Draw:
    """Return the function that draws training pictures."""
    if task.config.classes == 1:
        digits = load_digits(data, "train")
        return lambda generator, count: (
            draw_twins(digits, count, generator),
            np.zeros(count, np.int64),
        )
    levels, kinds = load_clothes(data, "train")

    def draw(generator: np.random.Generator, count: int) -> tuple[Any, Any]:
        chosen = generator.integers(len(levels), size=count)
        return levels[chosen], kinds[chosen]

    return draw


class AdversarialLab(LabModels[Task]):
    """The models of this lab: the classifier learns as all networks do, a pair plays its game."""

    def train(
        self, data: Path, runs: Path, variant: str = "", *, seed: int = 1, **how: Any
    ) -> Path:
        """Train a variant and write its assets; return their folder. how: as in `LabModels.train`.

        `resume` with `minutes` 0 publishes the state of a run so far.
        """
        variant = variant or next(iter(self.variants))
        task = self.task_of(variant)
        recipe = how.get("recipe") or task.recipe
        if recipe.game is None:
            return super().train(data, runs, variant, seed=seed, **how)
        if how.get("own") is not None:
            raise ValueError(f"{self.slug} learns from its own data alone")
        folder = runs / self.slug / variant / str(seed)
        folder.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(seed)
        pair = AdversarialPair(task.config)
        times: Any = {name: how[name] for name in ("minutes", "resume") if name in how}
        draw, watch = open_data(data, task), watch_figures(data, task)
        record = play(pair, recipe.game, draw, watch, folder, seed=seed, **times)
        where = checkpoint.find_folder(self.slug, variant, seed)
        facts = {
            **task.facts(self.slug, variant),
            "config": dataclasses.asdict(task.config),
            "recipe": dataclasses.asdict(recipe.game),
            "seed": seed,
            "finished": record["step"] >= recipe.game.steps,
            "steps": record["step"],
            "training_seconds": round(record["seconds"]),
            "training_device": f"cpu, {torch.get_num_threads()} threads",
        }
        checkpoint.save_checkpoint(where, pair.state_dict(), facts)
        (where / "training.json").write_text(json.dumps(record["log"]) + "\n", encoding="utf-8")
        if seed == 1:
            frames, steps = torch.stack(record["frames"]).numpy(), record["frame_steps"]
            np.savez_compressed(where / "frames.npz", frames=frames, steps=steps)
        return where


def watch_figures(data: Path, task: Task) -> Any:
    """Return the function that measures a generator for the log: the Fréchet distance of 2,000
    pictures to 10,000 of training, or the likeness of twins."""
    if task.config.classes == 1:
        return lambda generator: {"twins": _likeness(generator, 500, 5)}
    known = read_cloud(load_clothes(data, "train")[0][:SAMPLES])

    def watch(generator: Generator) -> dict[str, float]:
        distance, kept, _ = compare_clothes(generator, WATCHED, 5, known)
        return {"distance": round(distance, 2), "class_kept": round(kept, 4)}

    return watch


def read_cloud(levels: Levels) -> Tensor:
    """Return the classifier's features of pictures, (picture, feature)."""
    return read_features(load(CLASSIFIER).model, to_tensor(levels))[0]


def compare_clothes(
    generator: Generator, count: int, seed: int, known: Tensor
) -> tuple[float, float, Tensor]:
    """Return the Fréchet distance of generated pictures to a known cloud of features, the share of
    pictures whose class the classifier sees, and their features, class by class in turn."""
    noise, kind = draw_noise(generator.config, count, seed)
    features, named = read_features(load(CLASSIFIER).model, paint(generator, noise, kind))
    distance = measure_frechet_distance(features.numpy(), known.numpy())
    return distance, float((named == kind).float().mean()), features


def _likeness(generator: Generator, count: int, seed: int) -> float:
    """Return the mean correlation of the two corners of generated twins."""
    pictures = paint(generator, *draw_noise(generator.config, count, seed))
    return round(float(measure_corners(pictures.numpy(), ROOM).mean()), 4)


def measure(asked: FigureRequest[Task], draw: int) -> Measurement:
    """Measure a variant on noise from a seed of its own, against the test pictures."""
    model = asked.shipped.model
    if asked.variant == CLASSIFIER:
        levels, kinds = load_clothes(asked.data, asked.split)
        _, named = read_features(model, to_tensor(levels))
        value = round(float((named.numpy() == kinds).mean()), 4)
        figure = {"metric": "accuracy", "split": asked.split, "value": value, "n": len(kinds)}
        return Measurement(figure, f"{value:.4f} of {len(kinds):,} pictures right", higher=True)
    if asked.task.config.classes == 1:
        return _measure_pairs(asked, draw)
    return _measure_clothes(asked, draw)


def _measure_clothes(asked: FigureRequest[Task], draw: int) -> Measurement:
    """Measure the Fréchet distance, the share of pictures whose class is kept, and the spread of
    features within a class as a share of the real one."""
    pair: AdversarialPair = asked.shipped.model
    levels, kinds = load_clothes(asked.data, asked.split)
    known = read_cloud(levels)
    distance, kept, cloud = compare_clothes(pair.generator, SAMPLES, 1_000_000 + draw, known)

    def spread(cloud: Tensor, kind: Any) -> float:
        return float(torch.stack([cloud[kind == k].std(0).mean() for k in range(10)]).mean())

    values = {
        "value": distance,
        "class_kept": kept,
        "spread": spread(cloud, torch.arange(SAMPLES) % 10) / spread(known, kinds),
        "gamma_g": pair.generator.block.gamma.item(),
        "gamma_d": pair.discriminator.block.gamma.item(),
    }
    figure = {"metric": "Fréchet distance", "split": asked.split, "n": SAMPLES, "draw": draw}
    figure |= {name: round(value, 4) for name, value in values.items()}
    figure["steps"] = asked.shipped.facts["steps"]
    said = f"Fréchet distance {figure['value']}, class kept {figure['class_kept']}"
    return Measurement(figure, said, alike=("split", "n", "draw", "steps"))


def _measure_pairs(asked: FigureRequest[Task], draw: int) -> Measurement:
    """Measure how alike the twins of all shipped seeds are, with attention in the discriminator and
    with the control in its place, at equal steps."""
    likeness: dict[str, list[float]] = {TWINS: [], TWINS_CONTROL: []}
    steps: set[int] = set()
    for variant, each in likeness.items():
        for seed in (1, 2, 3):
            with contextlib.suppress(CheckpointError):  # a seed that is not shipped
                shipped = load(variant, seed)
                steps.add(shipped.facts["steps"])
                each.append(_likeness(shipped.model.generator, WATCHED, 1_000_000 + draw))
    if len(steps) != 1:
        raise ValueError(f"networks of {sorted(steps)} steps are not compared")
    digits = load_digits(asked.data, asked.split)
    real = draw_twins(digits, WATCHED, np.random.default_rng(1))
    means = {name: round(float(np.mean(each)), 4) for name, each in likeness.items()}
    value, control = means[asked.variant], means[TWINS_CONTROL]
    figure = {"metric": "correlation of the twins", "split": asked.split, "n": WATCHED}
    figure |= {"value": value, "control": control, "draw": draw, "steps": steps.pop()}
    figure |= {"each": likeness[TWINS], "control_each": likeness[TWINS_CONTROL]}
    figure["real"] = round(float(measure_corners(real, ROOM).mean()), 4)
    figure["gamma_d"] = round(asked.shipped.model.discriminator.block.gamma.item(), 4)
    return Measurement(
        figure, f"twins {means[TWINS]} with attention, {control} without", higher=True
    )


OPTIONS = {"draw": {"type": int, "default": 0, "help": "seed of the noise that is measured"}}
LAB = AdversarialLab(SLUG, VARIANTS, read, plan, measure, options=OPTIONS)
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
