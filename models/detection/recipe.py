"""Training and measurement of the detector.

Training has three stages in one run. First the backbone alone classifies its cells. Then the whole
network learns sets of boxes, at a constant rate that falls to 0 in the end, while ∅ counts little.
Last, ∅ counts as much as any class, so that queries stop answering twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.data.windows import NONE
from models.detection.boxes import count_duplicates, suppress_neighbours
from models.detection.loss import find_corners, measure_losses
from models.detection.model import Config, Detections, Detector, Gains
from models.detection.pretrained import SLUG, read
from models.detection.records import STROKES
from models.detection.scenes import (
    KINDS,
    MOST,
    SIDE,
    Pool,
    Scene,
    draw_ground,
    draw_scene,
    load_pool,
)
from models.evaluation.average_precision import Boxes, measure_average_precision
from models.training import driver
from models.training.driver import FigureRequest, Job, LabModels, Measurement, Plan, Task
from models.training.loop import Schedule

DRAW = 2026  # the draw of held-out scenes that the published figure is measured on
COUNT = 1_000  # held-out scenes
STORED = 400  # of them, in which the answers of the queries are stored
CLASSES = 64  # scenes of a batch of the first stage
SAMPLES, GROUNDS = 12, 12  # samples of each kind, and grounds, that the page composes scenes of
SURE = 0.5  # a query answers from this score on


@dataclass(frozen=True)
class Stages(Schedule):
    """The learning rate over the three stages, in steps."""

    cells: int = 400  # of the first stage: a rise and a fall
    constant: int = 1_210  # of the second stage, after them the rate falls to 0
    last: int = 110  # of the third stage

    def rate_at(self, step: int) -> float:
        """Return the learning rate of a step, counted from 1."""
        rest = self.steps - self.cells - self.constant - self.last
        if step <= self.cells:  # twice the peak for the backbone, whose rate is half
            share = step / self.cells
            return 4 * self.peak * min(share / 0.3, max(0.0, (1 - share) / 0.7) + 0.001)
        step -= self.cells
        if step <= self.constant:
            return self.peak * min(1.0, step / self.warmup)
        step -= self.constant
        if step <= rest:
            return self.peak * (1 - (step - 1) / rest)
        return 0.3 * self.peak * (1 - (step - rest - 1) / self.last)


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """The settings of training."""

    batch: int = 32  # scenes of a batch of the second and third stage
    none: float = 0.2  # weight of ∅ before the third stage


class Batch(NamedTuple):
    """Scenes as tensors.

    pictures: levels, (batch, row, column). kinds: (batch, object), NONE where a scene has fewer.
    boxes: (batch, object, 4). none: the weight of ∅, or a negative number in the first stage.
    """

    pictures: Tensor
    kinds: Tensor
    boxes: Tensor
    none: float


def make_batch(scenes: Sequence[Scene], none: float = 1.0) -> Batch:
    """Return scenes as tensors."""
    kinds = torch.full((len(scenes), MOST), NONE)
    boxes = torch.full((len(scenes), MOST, 4), 0.5)
    for i, scene in enumerate(scenes):
        kinds[i, : len(scene.kinds)] = torch.from_numpy(scene.kinds)
        boxes[i, : len(scene.kinds)] = torch.from_numpy(scene.boxes)
    pictures = torch.from_numpy(np.stack([scene.picture for scene in scenes])).float()
    return Batch(pictures, kinds, boxes, none)


def label_cells(kinds: Tensor, boxes: Tensor, side: int, none: int) -> Tensor:
    """Return the class of each cell of a square grid, (batch, cell): that of the last object whose
    box holds the middle of the cell, or `none`."""
    middle = (torch.arange(side) + 0.5) / side
    corners = find_corners(boxes)[:, :, None, None]  # (batch, object, 1, 1, 4)
    rows, columns = middle[:, None], middle
    inside = (
        (corners[..., 0] <= columns)
        & (columns <= corners[..., 2])
        & (corners[..., 1] <= rows)
        & (rows <= corners[..., 3])
        & (kinds != NONE)[..., None, None]
    )
    labels = torch.full((len(kinds), side, side), none)
    for thing in range(kinds.shape[1]):  # a later object lies on top
        labels = torch.where(inside[:, thing], kinds[:, thing, None, None], labels)
    return labels.flatten(1)


class SetLoss(nn.Module):
    """The loss of a batch: of the cells' classes in the first stage, then of sets of boxes."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the loss, and 1 as the number by which training divides it."""
        model: Any = self.model
        config = model.config
        if batch.none < 0:
            logits = model.classify_cells(batch.pictures).float()
            side = config.side // config.stride
            targets = label_cells(batch.kinds, batch.boxes, side, config.kinds)
            weights = torch.ones(config.kinds + 1)
            weights[-1] = -batch.none
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), weights)
        else:
            losses = measure_losses(model(batch.pictures), batch.kinds, batch.boxes, batch.none)
            loss = losses.classes + losses.distance + losses.overlap
        return loss, torch.ones((), dtype=torch.long)


class SlowBackbone(torch.optim.AdamW):
    """AdamW that gives each group of parameters its own share of the learning rate."""

    def step(self, closure: Any = None) -> Any:
        """Take one step, as `torch.optim.AdamW.step` does."""
        for group in self.param_groups:
            group["lr"] = group["lr"] * group["share"]
        return super().step(closure)


def make_optimizers(objective: nn.Module, schedule: Schedule) -> list[torch.optim.Optimizer]:
    """Return AdamW (Loshchilov and Hutter, 2019); the backbone learns at half the rate."""
    model: Any = objective.model
    slow = [*model.backbone.parameters(), *model.cells.parameters()]
    known = {id(entry) for entry in slow}
    rest = [entry for entry in model.parameters() if id(entry) not in known]
    groups = [{"params": slow, "share": 0.5}, {"params": rest, "share": 1.0}]
    return [SlowBackbone(groups, lr=schedule.peak, weight_decay=1e-4)]


def plan(job: Job[Task]) -> Plan[Batch]:
    """Plan a training on fresh scenes: no two batches show the same one."""
    recipe: Recipe = job.recipe
    stages: Stages = recipe.schedule  # type: ignore[assignment]

    @cache
    def pool(split: str) -> Pool:
        return load_pool(job.data, split)

    def draw(generator: np.random.Generator, done: float) -> Batch:
        step = round(done * stages.steps)
        first, last = step < stages.cells, step >= stages.steps - stages.last
        none = -recipe.none if first else 1.0 if last else recipe.none
        count = CLASSES if first else recipe.batch
        return make_batch([draw_scene(generator, pool("train")) for _ in range(count)], none)

    def validate(model: Detector) -> float:
        scenes = draw_scenes(pool("val"), 1, 200)
        return 1 - float(measure_scenes(detect(model, scenes), scenes)["value"])

    return Plan(
        lambda: Detector(job.task.config),
        SetLoss,
        validate,
        optimizers=make_optimizers,
        draw=draw,
        finish=lambda where: store_beside(where, pool("test")),
    )


def store_beside(where: Path, pool: Pool) -> None:
    """Store what the page needs beside a network: held-out samples and grounds to compose scenes
    of, and where each object query answers on held-out scenes.

    They are the first samples of each kind and grounds of the first seeds, none chosen by eye.
    """
    generator = np.random.default_rng(DRAW)
    samples = np.zeros((len(KINDS), SAMPLES, STROKES, STROKES), np.uint8)
    for kind, some in enumerate(pool.samples):
        for number, sample in enumerate(some[:SAMPLES]):
            levels = sample.cover if sample.levels is None else sample.levels
            samples[kind, number, : levels.shape[0], : levels.shape[1]] = levels
    grounds = [
        draw_ground(generator, pool.grounds[i % len(pool.grounds) :][:1]) for i in range(GROUNDS)
    ]
    folder = where.parent
    np.savez_compressed(
        folder / "pool.npz", samples=samples, grounds=np.rint(grounds).astype(np.uint8)
    )
    detections = detect(read(where).model, draw_scenes(pool, DRAW, STORED))
    scores, kinds = detections.logits[-1].softmax(-1)[..., :-1].max(-1)
    scene, query = (scores >= SURE).nonzero(as_tuple=True)
    np.savez_compressed(
        folder / "territories.npz",
        query=query.numpy().astype(np.uint8),
        kind=kinds[scene, query].numpy().astype(np.uint8),
        box=detections.boxes[-1][scene, query].numpy().astype(np.float16),
        scenes=np.array(STORED),
    )


def draw_scenes(pool: Pool, seed: int, count: int) -> list[Scene]:
    """Draw `count` scenes, the same ones for the same seed."""
    return [draw_scene(np.random.default_rng((seed, i)), pool) for i in range(count)]


@torch.no_grad()
def detect(
    model: Detector, scenes: Sequence[Scene], gains: Sequence[Tensor | None] = (None, None, None)
) -> Detections:
    """Return what the network finds in scenes, (layer, scene, query, …).

    gains: the factors on the heads of the encoder and of both attentions of the decoder, (layer,
    head) each.
    """
    was_training, parts = model.training, []
    model.eval()
    for begin in range(0, len(scenes), 50):
        pictures = make_batch(scenes[begin : begin + 50]).pictures
        each = (
            None if entry is None else entry[:, None].expand(-1, len(pictures), -1)
            for entry in gains
        )
        parts.append(model(pictures.to(model.place.device), Gains(*each)))
    model.train(was_training)
    return Detections(*(torch.cat(part, 1).float().cpu() for part in zip(*parts, strict=True)))


def measure_scenes(
    detections: Detections, scenes: Sequence[Scene], layer: int = -1, suppress: bool = False
) -> dict[str, Any]:
    """Measure the answers after one layer of the decoder.

    AP counts all queries, each with its best class other than ∅ as its score. A duplicate is an
    answer of at least SURE that overlaps a surer one of its class by at least half. suppress:
    whether such answers are left out first.
    """
    scores, kinds = detections.logits[layer].softmax(-1)[..., :-1].max(-1)
    corners = find_corners(detections.boxes[layer]) * SIDE
    given, true, duplicates, right = [], [], 0, 0
    for row, scene in enumerate(scenes):
        mine = Boxes(
            corners[row].double().numpy(), kinds[row].numpy(), scores[row].double().numpy()
        )
        sure = scores[row].numpy() >= SURE
        duplicates += count_duplicates(mine, SURE)
        right += int(sure.sum()) == len(scene.kinds)
        given.append(suppress_neighbours(mine) if suppress else mine)
        there = find_corners(torch.from_numpy(scene.boxes)).double().numpy() * SIDE
        true.append(Boxes(there, scene.kinds))
    each = measure_average_precision(given, true, detections.logits.shape[-1] - 1)
    return {
        "value": round(float(np.nanmean(each[0])), 4),
        "ap": round(float(np.nanmean(each)), 4),
        "ap75": round(float(np.nanmean(each[5])), 4),
        "duplicates": round(duplicates / len(scenes), 4),
        "count_right": round(right / len(scenes), 4),
    }


def digest_scenes(scenes: Sequence[Scene]) -> str:
    """Return the first 12 digits of the SHA-256 of all pictures and boxes."""
    digest = hashlib.sha256()
    for scene in scenes:
        digest.update(scene.picture.tobytes() + scene.kinds.tobytes() + scene.boxes.tobytes())
    return digest.hexdigest()[:12]


def silence_queries(model: Detector) -> tuple[None, Tensor, None]:
    """Return the factors that switch the attention among the object queries off."""
    return None, torch.zeros(model.config.n_layers, model.config.n_heads), None


def measure(asked: FigureRequest[Task], draw: int) -> Measurement:
    """Measure the detector on held-out scenes, as it is, after each layer, with suppression, and
    without attention among the object queries."""
    model, scenes = (
        asked.shipped.model,
        draw_scenes(load_pool(asked.data, asked.split), draw, COUNT),
    )
    detections = detect(model, scenes)
    figure = {"metric": "AP50", "split": asked.split, **measure_scenes(detections, scenes)}
    figure |= {"n": len(scenes), "draw": draw, "scenes": digest_scenes(scenes)}
    alone = detect(model, scenes, silence_queries(model))
    figure |= {
        "suppressed": measure_scenes(detections, scenes, suppress=True),
        "layers": [measure_scenes(detections, scenes, i) for i in range(len(detections.boxes))],
        "queries_alone": measure_scenes(alone, scenes),
        "queries_alone_suppressed": measure_scenes(alone, scenes, suppress=True),
    }
    said = (
        f"AP50 {figure['value']:.3f}, AP {figure['ap']:.3f}, {figure['duplicates']:.2f} duplicates"
        f" per scene on {len(scenes):,} scenes of {asked.split}, draw {draw}; without attention"
        f" among the queries {figure['queries_alone']['duplicates']:.2f} duplicates"
    )
    refused = f"of draw {DRAW}"
    return Measurement(figure, said, "figure" if draw == DRAW else None, refused, higher=True)


_SCHEDULE = Stages(
    steps=2_300,
    peak=1e-3,
    warmup=150,
    clip=0.1,
    constant=1_100,
    last=90,
    average=1,
    every=100,
    precision="bf16-mixed",
)
TASK = Task(
    config=Config(),
    recipe=Recipe(_SCHEDULE, evaluation_interval=200, rate=1e-3),
    data="scenes of MNIST digits and Fashion-MNIST clothes on parts of three paintings and three"
    " textures, made by a seeded generator",
    licence="Apache-2.0: the generator and these weights; MNIST CC BY-SA 3.0, Fashion-MNIST MIT",
    protocol="1,000 scenes of test pictures on parts of the grounds that no network learned from",
    target=0.88,
)
VARIANTS = {"base": TASK}
OPTIONS = {"draw": {"type": int, "default": DRAW, "help": "another draw of held-out scenes"}}
LAB = LabModels(SLUG, VARIANTS, read, plan, measure, options=OPTIONS)
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
