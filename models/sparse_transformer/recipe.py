"""How the sparse models and their dense twin are made and measured."""

from __future__ import annotations

import argparse
import dataclasses
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from models import bits, checkpoint, training
from models.characters import Alphabet, books
from models.generated import Plan, learn
from models.layers.patterns import KINDS, Pattern
from models.sparse_transformer.data import Batch, alphabet, characters, digits, drawn_digits, drawn_text
from models.sparse_transformer.model import Config, SparseTransformer
from models.sparse_transformer.pretrained import SLUG
from models.sparse_transformer.pretrained import read as read_checkpoint
from models.training import Schedule

REPORTED = "test"  # the split of the figure in README
RATES = (1.5e-3, 3e-3, 6e-3)  # where the search for the largest learning rate begins, for every variant alike


@dataclass(frozen=True)
class Recipe:
    """How a network is trained."""

    schedule: Schedule
    batch: int = 8  # digits, or windows of text
    round: int = 100  # batches between two looks at what is held out
    looked_at: int = 100  # held-out digits or windows of those looks
    rate: float | None = None  # the largest learning rate; None: the best of a search that begins with RATES


@dataclass(frozen=True)
class Task:
    """What a variant learns, and beside which figure it stands."""

    config: Config  # of characters: `symbols` and `letters` are found in the books
    recipe: Recipe
    published: dict[str, Any] | None
    metric: str
    data: str  # in words, with its origin
    licence: str
    of_text: bool = False  # characters of books, else pixels of digits
    target: float | None = None  # what it must reach

    @property
    def chosen(self) -> str:
        """The split that learning rates, and all else, are chosen on."""
        return "valid" if self.of_text else "val"

    @property
    def protocol(self) -> str:
        """How its figure is measured."""
        if self.of_text:
            return bits.PROTOCOL
        return "whole digits, each pixel drawn once"


def published(value: float, metric: str, source: str, en: str, zh: str) -> dict[str, Any]:
    """A figure in print, what it measures, and why ours may not stand beside it."""
    return {"value": value, "metric": metric, "source": source, "comparable": False, "why": {"en": en, "zh": zh}}


DIGITS = Task(
    # A feed-forward network of half the usual width: a pixel says little, and there are many of them.
    config=Config(symbols=2, kind="strided", d_ff=256),
    recipe=Recipe(
        Schedule(steps=2400, warmup=100, decay=0.0, cooldown=1500, clip=1.0, average=4, every=40, precision="bf16-mixed"), round=150
    ),
    published=published(
        2.80,
        "bits per dimension",
        "Child et al. (2019), strided attention, CIFAR-10",
        "Photographs in colour, not digits in two colours, and a network of 128 layers.",
        "所用的是彩色照片而非双色数字，网络有 128 层。",
    ),
    metric="nats per image",
    data="MNIST: 59,000 digits, each pixel drawn once with P(1) = grey / 255, seed 0 (github.com/rasbt/mnist-pngs)",
    licence="MIT: the copy of MNIST. Apache-2.0: these weights",
    target=90.0,
)
TEXT = Task(
    # The width of blocks is the square root of the length; a quarter of each block is summary, as in the paper's pattern for text.
    config=Config(symbols=0, kind="fixed", stride=32, summary=8, length=1024, width=32),
    recipe=Recipe(
        Schedule(steps=1800, warmup=80, decay=0.0, cooldown=1000, clip=1.0, average=4, every=30, precision="bf16-mixed"),
        looked_at=24,
    ),
    published=published(
        0.99,
        "bits per byte",
        "Child et al. (2019), fixed attention, enwik8",
        "Another text, contexts twelve times as long, a network of 95 million parameters.",
        "文本不同，上下文长约十二倍，网络有 9500 万个参数。",
    ),
    metric=bits.METRIC,
    data="17 books in the public domain, 12.8 million characters (github.com/teropa/nlp, github.com/GITenberg)",
    licence="the books are in the public domain. Apache-2.0: these weights",
    of_text=True,
)


def other(task: Task, value: float | None, source: str = "", **config: Any) -> Task:
    """The same task for another pattern, beside its own figure in print, where there is one."""
    found = None if value is None else {**(task.published or {}), "value": value, "source": source}
    return dataclasses.replace(task, config=dataclasses.replace(task.config, **config), published=found, target=None)


VARIANTS: dict[str, Task] = {
    "strided": DIGITS,
    "dense": other(DIGITS, None, kind="full"),
    "fixed": other(DIGITS, None, kind="fixed"),
    "text_fixed": TEXT,
    "text_strided": other(TEXT, 1.13, "Child et al. (2019), strided attention, enwik8", kind="strided"),
}


def task_of(variant: str) -> Task:
    """The task of a variant; ValueError for an unknown one."""
    if variant not in VARIANTS:
        raise ValueError(f"{SLUG} has the variants {', '.join(VARIANTS)}, not {variant}")
    return VARIANTS[variant]


class Objective(nn.Module):
    """What training minimises: −log p of every symbol."""

    def __init__(self, model: SparseTransformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Sum of losses in nats, number of symbols."""
        logits = self.model(self.model.after(batch.symbols))
        loss = F.cross_entropy(logits.float().flatten(0, 1), batch.symbols.flatten(), reduction="sum")
        return loss, torch.tensor(batch.symbols.numel(), device=loss.device)


@torch.no_grad()
def costs(model: SparseTransformer, symbols: NDArray[np.uint8], pattern: Pattern | None = None, size: int = 20) -> NDArray[np.float64]:
    """−log p in nats of every symbol, (sequence, position) like `symbols`; `size` sequences at once."""
    device = model.readout.weight.device
    model.eval()
    found = []
    for begin in range(0, len(symbols), size):
        part = torch.from_numpy(symbols[begin : begin + size].astype(np.int64)).to(device)
        logits = model(model.after(part), pattern=pattern).float()
        found.append(F.cross_entropy(logits.transpose(1, 2), part, reduction="none").double().cpu().numpy())
    return np.concatenate(found)


def nats_per_image(model: SparseTransformer, pixels: NDArray[np.uint8], pattern: Pattern | None = None) -> NDArray[np.float64]:
    """(digit,) nats of whole digits; pixels (digit, row, column)."""
    found: NDArray[np.float64] = costs(model, pixels.reshape(len(pixels), -1), pattern).sum(1)
    return found


def read_in_windows(model: SparseTransformer, text: NDArray[np.uint8], pattern: Pattern | None = None) -> bits.Text:
    """A text as this model reads it: in windows, carrying nothing on."""
    return bits.Text(len(text), lambda begins, length: costs(model, text[begins[:, None] + np.arange(length)], pattern))


def nats_per_character(model: SparseTransformer, text: NDArray[np.uint8]) -> NDArray[np.float64]:
    """(character,) nats of each, read in windows as long as those of training that overlap by half."""
    return bits.costs(read_in_windows(model, text), model.config.length)["half_overlap"]


def train(
    data: Path,
    runs: Path,
    variant: str = "strided",
    *,
    seed: int = 1,
    device: torch.device,
    minutes: float | None = None,
    resume: bool = False,
    devices: int = 1,
    recipe: Recipe | None = None,
    where: Path | None = None,
) -> Path:
    """Choose the learning rate, train, write the assets; returns their folder.

    `resume` with `minutes` 0 publishes what a run has so far. ValueError for an unknown variant.
    """
    task = task_of(variant)
    recipe = recipe or task.recipe
    recipe = dataclasses.replace(recipe, schedule=dataclasses.replace(recipe.schedule, seed=seed))
    config = task.config
    if task.of_text:
        letters = alphabet(data).letters
        config = dataclasses.replace(config, symbols=len(Alphabet(letters)), letters=letters)
        draw = drawn_text(characters(data, "train", letters), recipe.batch, config.length)
        held_out = characters(data, "valid", letters)[: recipe.looked_at * config.length // 2]
    else:
        draw = drawn_digits(digits(data, "train").pixels, recipe.batch)
        held_out = digits(data, "val").pixels[: recipe.looked_at]

    def validate(model: nn.Module) -> float:
        assert isinstance(model, SparseTransformer)
        cost = nats_per_character(model, held_out) / math.log(2) if task.of_text else nats_per_image(model, held_out)
        return float(cost.mean())

    def objective(model: nn.Module) -> nn.Module:
        assert isinstance(model, SparseTransformer)
        return Objective(model)

    plan = Plan(
        build=lambda: SparseTransformer(config),
        objective=objective,
        draw=draw,
        validate=validate,
        schedule=recipe.schedule,
        rates=RATES,
        rate=recipe.rate,
        round=recipe.round,
        optimizers=training.muon,
    )
    facts = {
        "slug": SLUG,
        "variant": variant,
        "chosen_on": task.chosen,
        "data": task.data,
        "licence": task.licence,
        "published": task.published,
    }
    run = runs / SLUG / variant / str(seed)
    where = where or checkpoint.folder(SLUG, variant, seed)
    return learn(plan, run, where, facts, recipe, device=device, minutes=minutes, resume=resume, devices=devices)


def measured(model: SparseTransformer, task: Task, data: Path, split: str, pattern: Pattern | None = None) -> dict[str, Any]:
    """Nats per image over all digits of a split, or bits per character over its books; under another pattern, if one is given."""
    if task.of_text:
        alphabet_ = Alphabet(model.config.letters)
        texts = [read_in_windows(model, alphabet_.encode(book.text), pattern) for book in books(data, split)]
        return bits.figure(split, texts, min(bits.WINDOW, model.config.length), lambda nats: by_place(nats, model.config.stride))
    cost = nats_per_image(model, digits(data, split).pixels, pattern)
    return {"metric": task.metric, "split": split, "value": round(float(cost.mean()), 4), "n": len(cost)}


def by_place(nats: Sequence[NDArray[np.float64]], block: int) -> dict[str, Any]:
    """Bits per character in each quarter of a block, whose places the windows keep: at its beginning a fixed pattern sees little nearby."""
    whole = np.concatenate([one[: len(one) // block * block].reshape(-1, block) for one in nats])
    quarters = [part.mean() / math.log(2) for part in np.array_split(whole, 4, axis=1)]
    return {"by_block": {"block": block, "quarters": [round(float(one), 4) for one in quarters]}}


def surprising_above(model: SparseTransformer, task: Task, data: Path) -> float:
    """Nats per symbol that 99 of 100 held-out digits, or windows of a held-out book, stay below."""
    if task.of_text:
        cost = nats_per_character(model, characters(data, "valid", model.config.letters)[:65_536])
        size = min(256, len(cost))
        means = cost[: len(cost) // size * size].reshape(-1, size).mean(1)
    else:
        pixels = digits(data, "val").pixels
        means = nats_per_image(model, pixels) / pixels[0].size
    return round(float(np.quantile(means, 0.99)), 5)


def evaluate(
    data: Path,
    variant: str = "strided",
    *,
    seed: int = 1,
    split: str = REPORTED,
    device: torch.device,
    record: bool = False,
    pattern: str | None = None,
    stride: int | None = None,
    summary: int | None = None,
) -> dict[str, Any]:
    """Read every digit or book of a split and measure what it costs.

    pattern, stride, summary: another pattern than that of training. `record` writes the figure of the reported split into model.json.
    ValueError for an unknown variant or split, or sizes that make no pattern.
    """
    task = task_of(variant)
    where = checkpoint.folder(SLUG, variant, seed)
    model = read_checkpoint(where, str(device)).model
    config = model.config
    changed = Pattern(
        config.kind if pattern is None else pattern,
        config.stride if stride is None else stride,
        config.summary if summary is None else summary,
    )
    begin = time.perf_counter()
    figure = measured(model, task, data, split, changed)
    seconds = time.perf_counter() - begin
    if record:
        if split != REPORTED or changed != config.pattern:
            raise ValueError(f"model.json keeps the figure of {REPORTED} under the pattern of training alone")
        facts = checkpoint.with_figure(checkpoint.read_facts(where), figure, task.protocol)
        facts["surprising_above"] = surprising_above(model, task, data)
        checkpoint.write_facts(where, facts)
    others = [
        {"seed": int(facts["seed"]), "value": facts["figure"]["value"]}
        for facts in (checkpoint.read_facts(path.parent) for path in sorted(where.parent.glob(f"{variant}*/model.json")))
        if facts["variant"] == variant and facts["seed"] != seed and facts.get("figure", {}).get("split") == split
    ]
    seeds = sorted([{"seed": seed, "value": figure["value"]}, *others], key=lambda one: one["seed"])
    said = bits.told(figure) if task.of_text else f"{figure['value']:.4f} {task.metric} on the {figure['n']:,} digits of {split}"
    print(f"{said}\nin {seconds:.1f} s")
    if task.target is not None and split == REPORTED and changed == config.pattern and figure["value"] > task.target:
        print(f"That misses the {task.target} that the recipe must reach.")
    attended = {"pattern": changed.kind, "stride": changed.stride, "summary": changed.summary}
    result = {"slug": SLUG, "variant": variant, "seed": seed, **figure, **attended}
    return {**result, "seconds": round(seconds, 2), "device": str(device), "seeds": seeds}


def add_options(command: argparse.ArgumentParser) -> None:
    """What `evaluate` can be asked beside what every lab knows."""
    command.add_argument("--pattern", choices=KINDS, default=None, help="another pattern than that of training")
    command.add_argument("--stride", type=int, default=None, help="another stride, in positions")
    command.add_argument("--summary", type=int, default=None, help="another width of the summary columns")


def examples() -> Path:
    """Store the first example; returns the file."""
    from models.sparse_transformer.examples import examples as store

    return store()
