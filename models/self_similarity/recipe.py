"""Training and measurement of the denoising networks, and the measurement of non-local means."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from models.checkpoints import checkpoint
from models.checkpoints.pretrained import store_first
from models.self_similarity import data as pictures
from models.self_similarity.data import Array, Crops, draw_crops
from models.self_similarity.model import Config, Denoiser
from models.self_similarity.nonlocal_means import measure_psnr, nonlocal_means
from models.self_similarity.pretrained import read
from models.self_similarity.records import EXAMPLES, PICTURES, REACH, SIGMA, SLUG
from models.training import driver
from models.training.driver import FigureRequest, Job, LabModels, Measurement, Plan
from models.training.loop import Schedule

MEANS = "nlm"  # the variant in which nothing is trained
WITHOUT = "block_without"
SEEDS = (1, 2, 3)
SOFTNESSES = (0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0)  # h over σ, from which the best is taken
NOISE = SIGMA / 255


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """The settings of training."""

    batch: int = 8  # crops
    side: int = 48  # rows and columns of a crop


@dataclass(frozen=True, kw_only=True)
class Task(driver.Task):
    """A variant's task: to remove noise from grey pictures."""

    config: Config

    def build(self) -> Denoiser:
        """Return an untrained network."""
        return Denoiser(self.config)


class SquaredError(nn.Module):
    """The loss that training minimises: the square of what is left of the noise."""

    def __init__(self, model: Denoiser) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Crops) -> tuple[Tensor, Tensor]:
        """Return the sum of squared errors, in squares of σ, and the number of pixels."""
        error = self.model(batch.noisy, batch.average) - batch.clean
        return error.square().sum() / NOISE**2, torch.tensor(error.numel())


def _task(block: bool) -> Task:
    return Task(
        recipe=Recipe(
            Schedule(
                steps=1_000,
                warmup=100,
                decay=0.0,
                cooldown=500,
                average=3,
                every=50,
                precision="32-true",
            )
        ),
        config=Config(block=block),
        data="left halves of three paintings and three textures, 512 pixels a side, in grey, under"
        f" Gaussian noise of σ = {SIGMA} of 255 levels",
        licence="pictures in the public domain (CC0 the textures); Apache-2.0: these weights",
        protocol="mean PSNR of one 192 × 192 crop of the right half of each picture",
        metric="dB",
    )


VARIANTS = {"block": _task(True), WITHOUT: _task(False)}


def measure_model(model: Denoiser, clean: Array, noisy: Array, gain: float = 1) -> list[float]:
    """Return the PSNR of every picture, decibels. gain: of the block's output."""
    device = next(model.parameters()).device
    with torch.no_grad():
        given = torch.from_numpy(noisy).to(device)
        restored = model(given, gain=torch.full((len(given),), float(gain), device=device)).cpu()
    return [measure_psnr(torch.from_numpy(a), b) for a, b in zip(clean, restored, strict=True)]


def plan(job: Job[Task]) -> Plan[Crops]:
    """Plan a training on crops of the left halves; their last rows choose the learning rate."""
    whole, recipe = pictures.prepare_training(job.data), job.recipe
    clean, noisy = draw_crops(job.data, "val")

    def draw(generator: np.random.Generator, _done: float) -> Crops:
        parts = []
        for picture in generator.integers(0, len(whole), recipe.batch):
            noises, rows, columns = whole[picture].noisy.shape
            place = [int(generator.integers(size)) for size in (noises, rows, columns)]
            top, left = (
                min(at, size - recipe.side)
                for at, size in zip(place[1:], (rows, columns), strict=True)
            )
            view = np.s_[place[0], top : top + recipe.side, left : left + recipe.side]
            parts.append([array[view] for array in whole[picture]])
        return Crops(*(torch.stack(crops) for crops in zip(*parts, strict=True)))

    return Plan(
        job.task.build,
        SquaredError,  # type: ignore[arg-type]
        lambda model: -float(np.mean(measure_model(model, clean, noisy))),
        draw=draw,
    )


def summarise(each: list[float], split: str, draw: int) -> dict[str, Any]:
    """Return the figure of one PSNR per picture: their mean, and each by its name."""
    by = {name: round(value, 3) for name, value in zip(PICTURES, each, strict=True)}
    value = round(float(np.mean(each)), 4)
    return {
        "metric": "dB",
        "split": split,
        "draw": draw,
        "value": value,
        "n": len(each),
        "by_picture": by,
    }


def measure(asked: FigureRequest[Task], draw: int) -> Measurement:
    """Measure a network on crops of the right halves, and the same with its block silenced."""
    clean, noisy = draw_crops(asked.data, asked.split, draw)
    figure = summarise(measure_model(asked.shipped.model, clean, noisy), asked.split, draw)
    if asked.task.config.block:
        silent = measure_model(asked.shipped.model, clean, noisy, gain=0)
        figure["silenced"] = round(float(np.mean(silent)), 4)
    said = f"{figure['value']:.2f} dB on {figure['n']} crops of {asked.split}"
    return Measurement(figure, said, alike=("split", "draw"), higher=True)


OPTIONS = {"draw": {"type": int, "default": 0, "help": "number of the set of crops and noise"}}
LAB = LabModels(SLUG, VARIANTS, read, plan, measure, rates=(4e-3, 8e-3, 1.6e-2), options=OPTIONS)
task_of = LAB.task_of


def train(data: Path, runs: Path, variant: str = "", **options: Any) -> Path:
    """Train a network as `LabModels.train` does. Raise ValueError for non-local means."""
    if variant == MEANS:
        raise ValueError(f"{MEANS} is a formula: there is nothing to train")
    return LAB.train(data, runs, variant, **options)


def evaluate(
    data: Path,
    variant: str = "",
    *,
    seed: int = 1,
    split: str = "",
    device: torch.device,
    record: bool = False,
    draw: int = 0,
) -> dict[str, Any]:
    """Measure non-local means, or a network with those without a block beside it.

    `value`, of the network `seed`; `seeds`, of all that are shipped; of the block's: `without` and
    `without_seeds`, of the networks trained without one, and `gain`, the difference of both means.
    Raise as `LabModels.evaluate` does.
    """
    if variant == MEANS:
        if record:
            raise ValueError(f"{MEANS} has no model.json to keep its figure")
        return measure_means(data, split or "test", draw)
    how: dict[str, Any] = {"split": split, "device": device, "draw": draw}
    figure = LAB.evaluate(data, variant, seed=seed, record=record, **how)
    if record or figure["variant"] != "block":
        return figure
    for name, key in (("block", "seeds"), (WITHOUT, "without_seeds")):
        figure[key] = [
            {"seed": number, "value": LAB.evaluate(data, name, seed=number, **how)["value"]}
            for number in SEEDS
        ]
    values, others = ([each["value"] for each in figure[key]] for key in ("seeds", "without_seeds"))
    gain = round(float(np.mean(values) - np.mean(others)), 4)
    return figure | {"without": others[SEEDS.index(seed)], "gain": gain}


# ---- non-local means


Restore = Callable[[Array, float], Any]  # a noisy picture and h -> the picture without noise


def find_peer() -> Restore | None:
    """Return the classic non-local means of scikit-image with the same patches, window and σ; None
    where it is not installed: the app and training do without."""
    try:
        restoration = importlib.import_module("skimage.restoration")
    except ImportError:
        return None
    more = {"patch_size": 7, "patch_distance": REACH, "fast_mode": False, "sigma": NOISE}
    return lambda noisy, h: torch.from_numpy(restoration.denoise_nl_means(noisy, h=h, **more))


def measure_pictures(
    crops: tuple[Array, Array], softness: float, restore: Restore | None = None
) -> list[float]:
    """Return the PSNR of every picture, decibels. restore: by default our own non-local means."""

    def restore_by_ours(noisy: Array, h: float) -> Tensor:
        return nonlocal_means(torch.from_numpy(noisy), h, NOISE)

    return [
        measure_psnr(torch.from_numpy(clean), (restore or restore_by_ours)(noisy, softness * NOISE))
        for clean, noisy in zip(*crops, strict=True)
    ]


def choose_softness(data: Path) -> float:
    """Return the h over σ that restores crops of the left halves best."""
    crops = draw_crops(data, "val")
    return max(SOFTNESSES, key=lambda softness: float(np.mean(measure_pictures(crops, softness))))


def measure_means(data: Path, split: str, draw: int) -> dict[str, Any]:
    """Measure non-local means under three draws of crops and noise, scikit-image's beside them with
    the same h, which the left halves choose."""
    softness, peer = choose_softness(data), find_peer()
    sets = [draw_crops(data, split, len(SEEDS) * draw + seed - 1) for seed in SEEDS]
    figure = summarise(measure_pictures(sets[0], softness), split, draw)
    for key, restore in (("seeds", None), ("skimage_seeds", peer)):
        figure[key] = [
            {"seed": seed, "value": round(float(np.mean(each)), 4)}
            for seed, crops in zip(SEEDS, sets, strict=True)
            for each in [measure_pictures(crops, softness, restore)]
            if restore or key == "seeds"
        ]
    theirs = figure["skimage_seeds"][0]["value"] if peer else None
    print(f"{figure['value']:.2f} dB on {figure['n']} crops of {split}, h = {softness} σ")
    about = {"slug": SLUG, "variant": MEANS, "softness": softness, "skimage_psnr": theirs}
    return {**about, **figure}


# ---- what the page needs


def examples() -> Path:
    """Store the first example's explanation with its time; return the file. The page's pictures are
    chosen first, from the data in $EXPLORER_DATA, where they are missing."""
    import os

    from models.self_similarity.explain import explain

    path = checkpoint.ASSETS / SLUG / "examples.npz"
    if not path.is_file():
        pictures.write_examples(Path(os.environ.get("EXPLORER_DATA", "data")), path)
    return store_first(SLUG, explain, EXAMPLES[0])
