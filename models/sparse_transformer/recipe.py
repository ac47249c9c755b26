"""How the sparse models and their dense twin are made and measured."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from models import bits, driver, training
from models.characters import Alphabet, books
from models.driver import Asked, Job, Lab, Measured, Plan, published
from models.sparse_transformer.data import Batch, alphabet, characters, digits, drawn_digits, drawn_text
from models.sparse_transformer.examples import examples as examples
from models.sparse_transformer.model import Config, SparseTransformer
from models.sparse_transformer.pretrained import SLUG, read
from models.training import NextSymbol, Schedule
from models.windows import nats


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """How a network is trained."""

    batch: int = 8  # digits, or windows of text
    looked_at: int = 100  # held-out digits or windows that training looks at


@dataclass(frozen=True)
class Task(driver.Task):
    """What a variant learns, and beside which figure it stands."""

    config: Config  # of characters: `symbols` and `letters` are found in the books
    of_text: bool = False  # characters of books, else pixels of digits


DIGITS = Task(
    # A feed-forward network of half the usual width: a pixel says little, and there are many of them.
    config=Config(symbols=2, kind="strided", d_ff=256),
    recipe=Recipe(Schedule(steps=5400, warmup=225, decay=0.0, cooldown=3375, average=4, every=90), round=270),
    published=published(
        2.80,
        "Child et al. (2019), strided attention, CIFAR-10",
        en="Photographs in colour, not digits in two colours, and a network of 128 layers.",
        zh="所用的是彩色照片而非双色数字，网络有 128 层。",
        metric="bits per dimension",
    ),
    metric="nats per image",
    protocol="whole digits, each pixel drawn once",
    data="MNIST: 59,000 digits, each pixel drawn once with P(1) = grey / 255, seed 0 (github.com/rasbt/mnist-pngs)",
    licence="MIT: the copy of MNIST. Apache-2.0: these weights",
    target=82.5,
)
TEXT = Task(
    # The width of blocks is the square root of the length; a quarter of each block is summary, as in the paper's pattern for text.
    config=Config(symbols=0, kind="fixed", stride=32, summary=8, length=1024, width=32),
    recipe=Recipe(
        Schedule(steps=1800, warmup=80, decay=0.0, cooldown=1000, average=4, every=30),
        looked_at=24,
    ),
    published=published(
        0.99,
        "Child et al. (2019), fixed attention, enwik8",
        en="Another text, contexts twelve times as long, a network of 95 million parameters.",
        zh="文本不同，上下文长约十二倍，网络有 9500 万个参数。",
        metric="bits per byte",
    ),
    metric=bits.METRIC,
    of_text=True,
    **bits.BOOKS,
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


Objective = partial(NextSymbol, said=lambda model, batch: (model(model.after(batch.symbols)), batch.symbols))


@torch.no_grad()
def costs(model: SparseTransformer, symbols: NDArray[np.uint8], size: int = 20) -> NDArray[np.float64]:
    """−log p in nats of every symbol, (sequence, position) like `symbols`; `size` sequences at once."""
    device = model.readout.weight.device
    model.eval()
    found = []
    for begin in range(0, len(symbols), size):
        part = torch.from_numpy(symbols[begin : begin + size].astype(np.int64)).to(device)
        found.append(nats(model(model.after(part)), part).astype(np.float64))
    return np.concatenate(found)


def nats_per_image(model: SparseTransformer, pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """(digit,) nats of whole digits; pixels (digit, row, column)."""
    found: NDArray[np.float64] = costs(model, pixels.reshape(len(pixels), -1)).sum(1)
    return found


def read_in_windows(model: SparseTransformer, text: NDArray[np.uint8]) -> bits.Text:
    """A text as this model reads it: in windows, carrying nothing on."""
    return bits.Text(len(text), lambda begins, length: costs(model, text[begins[:, None] + np.arange(length)]))


def nats_per_character(model: SparseTransformer, text: NDArray[np.uint8]) -> NDArray[np.float64]:
    """(character,) nats of each, read in windows as long as those of training that overlap by half."""
    return bits.costs(read_in_windows(model, text), model.config.length)["half_overlap"]


def plan(job: Job[Task]) -> Plan[Batch]:
    """Digits, or windows of the books."""
    task, recipe, config = job.task, job.recipe, job.task.config
    if task.of_text:
        letters = alphabet(job.data).letters
        config = dataclasses.replace(config, symbols=len(Alphabet(letters)), letters=letters)
        draw = drawn_text(characters(job.data, "train", letters), recipe.batch, config.length)
        held_out = characters(job.data, "valid", letters)[: recipe.looked_at * config.length // 2]
    else:
        draw = drawn_digits(digits(job.data, "train").pixels, recipe.batch)
        held_out = digits(job.data, "val").pixels[: recipe.looked_at]

    def validate(model: SparseTransformer) -> float:
        cost = nats_per_character(model, held_out) / math.log(2) if task.of_text else nats_per_image(model, held_out)
        return float(cost.mean())

    return Plan(lambda: SparseTransformer(config), Objective, validate, training.muon, draw)


def measured(model: SparseTransformer, task: Task, data: Path, split: str) -> dict[str, Any]:
    """Nats per image over all digits of a split, or bits per character over its books."""
    if task.of_text:
        alphabet_ = Alphabet(model.config.letters)
        texts = [read_in_windows(model, alphabet_.encode(book.text)) for book in books(data, split)]
        return bits.figure(split, texts, min(bits.WINDOW, model.config.length), lambda nats: by_place(nats, model.config.stride))
    cost = nats_per_image(model, digits(data, split).pixels)
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


def measure(asked: Asked[Task]) -> Measured:
    """Nats per image or bits per character; beside it, above what 99 of 100 held-out inputs lie."""
    task, model = asked.task, asked.shipped.model
    figure = measured(model, task, asked.data, asked.split)
    said = bits.told(figure) if task.of_text else f"{figure['value']:.4f} {task.metric} on the {figure['n']:,} digits of {asked.split}"
    return Measured(figure, said, facts=lambda: {"surprising_above": surprising_above(model, task, asked.data)})


LAB = Lab(SLUG, VARIANTS, read, plan, measure, rates=(1.5e-3, 3e-3, 6e-3))
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
