"""Training and measurement of the sparse models and their dense twin."""

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

from models.data.characters import Alphabet, read_books
from models.data.windows import measure_nats
from models.evaluation import bits_per_character
from models.sparse_transformer.data import (
    Batch,
    alphabet,
    characters,
    digits,
    drawn_digits,
    drawn_text,
)
from models.sparse_transformer.examples import examples as examples
from models.sparse_transformer.model import Config, SparseTransformer
from models.sparse_transformer.pretrained import SLUG, read
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


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """The settings of training."""

    batch: int = 8  # digits, or windows of text
    looked_at: int = 100  # held-out digits or windows measured during training


@dataclass(frozen=True)
class Task(driver.Task):
    """A variant's task, and the figure to compare with."""

    config: Config  # for characters, the books determine `symbols` and `letters`
    of_text: bool = False  # characters of books instead of pixels of digits


DIGITS = Task(
    # A feed-forward network of half the usual width: a pixel carries little information, and there
    # are many of them.
    config=Config(symbols=2, kind="strided", d_ff=256),
    recipe=Recipe(
        Schedule(steps=5400, warmup=225, decay=0.0, cooldown=3375, average=4, every=90),
        evaluation_interval=270,
    ),
    published=describe_published(
        81.30,
        "van den Oord et al. (2016), binarised MNIST",
        en="Digits binarised in the same way, by a network that was trained to the end.",
        zh="同样方式二值化的数字；其网络训练充分。",
        comparable=True,
        metric="nats per image",
        of="PixelCNN",
    ),
    metric="nats per image",
    protocol="whole digits, each pixel drawn once",
    data=(
        "MNIST: 59,000 digits, each pixel drawn once with P(1) = grey / 255, seed 0"
        " (github.com/rasbt/mnist-pngs)"
    ),
    licence="MIT: the copy of MNIST. Apache-2.0: these weights",
    target=82.5,
)
TEXT = Task(
    # The width of blocks is the square root of the length; a quarter of each block is summary, as
    # in the paper's pattern for text.
    config=Config(symbols=0, kind="fixed", stride=32, summary=8, length=1024, width=32),
    recipe=Recipe(
        Schedule(steps=1800, warmup=80, decay=0.0, cooldown=1000, average=4, every=30),
        looked_at=24,
    ),
    published=describe_published(
        0.99,
        "Child et al. (2019), fixed attention, enwik8",
        en="Another text, contexts twelve times as long, a network of 95 million parameters.",
        zh="文本不同，上下文长约十二倍，网络有 9500 万个参数。",
        metric="bits per byte",
    ),
    metric=bits_per_character.METRIC,
    of_text=True,
    **bits_per_character.BOOKS,
)


def make_other_task(task: Task, value: float | None, source: str = "", **config: Any) -> Task:
    """Return the same task with another pattern and its published figure, if there is one."""
    found = None if value is None else {**(task.published or {}), "value": value, "source": source}
    return dataclasses.replace(
        task, config=dataclasses.replace(task.config, **config), published=found, target=None
    )


VARIANTS: dict[str, Task] = {
    "strided": DIGITS,
    "dense": make_other_task(DIGITS, None, kind="full"),
    "fixed": make_other_task(DIGITS, None, kind="fixed"),
    "text_fixed": TEXT,
    "text_strided": make_other_task(
        TEXT, 1.13, "Child et al. (2019), strided attention, enwik8", kind="strided"
    ),
}


Objective = partial(
    NextSymbol, said=lambda model, batch: (model(model.after(batch.symbols)), batch.symbols)
)


@torch.no_grad()
def costs(
    model: SparseTransformer, symbols: NDArray[np.uint8], size: int = 20
) -> NDArray[np.float64]:
    """Return −log p in nats of every symbol, (sequence, position) like `symbols`; `size` sequences
    are read at once."""
    device = model.readout.weight.device
    model.eval()
    found = []
    for begin in range(0, len(symbols), size):
        part = torch.from_numpy(symbols[begin : begin + size].astype(np.int64)).to(device)
        found.append(measure_nats(model(model.after(part)), part).astype(np.float64))
    return np.concatenate(found)


def nats_per_image(model: SparseTransformer, pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the nats of whole digits, (digit,).

    pixels: (digit, row, column).
    """
    found: NDArray[np.float64] = costs(model, pixels.reshape(len(pixels), -1)).sum(1)
    return found


def read_in_windows(model: SparseTransformer, text: NDArray[np.uint8]) -> bits_per_character.Text:
    """Return a reader of a text in windows, without a memory between them."""
    return bits_per_character.Text(
        len(text), lambda begins, length: costs(model, text[begins[:, None] + np.arange(length)])
    )


def nats_per_character(model: SparseTransformer, text: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the nats of each character, (character,), read in windows as long as those of training
    that overlap by half."""
    return bits_per_character.measure_costs(read_in_windows(model, text), model.config.length)[
        "half_overlap"
    ]


def plan(job: Job[Task]) -> Plan[Batch]:
    """Plan a training on digits or windows of the books."""
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
        cost = (
            nats_per_character(model, held_out) / math.log(2)
            if task.of_text
            else nats_per_image(model, held_out)
        )
        return float(cost.mean())

    return Plan(lambda: SparseTransformer(config), Objective, validate, loop.make_muon, draw)


def measure_split(model: SparseTransformer, task: Task, data: Path, split: str) -> dict[str, Any]:
    """Return the nats per image over all digits of a split, or the bits per character over its
    books."""
    if task.of_text:
        alphabet_ = Alphabet(model.config.letters)
        texts = [
            read_in_windows(model, alphabet_.encode(book.text)) for book in read_books(data, split)
        ]
        return bits_per_character.build_figure(
            split,
            texts,
            min(bits_per_character.WINDOW, model.config.length),
            lambda nats: by_place(nats, model.config.stride),
        )
    cost = nats_per_image(model, digits(data, split).pixels)
    return {
        "metric": task.metric,
        "split": split,
        "value": round(float(cost.mean()), 4),
        "n": len(cost),
    }


def by_place(nats: Sequence[NDArray[np.float64]], block: int) -> dict[str, Any]:
    """Return the bits per character in each quarter of a block, whose places the windows preserve:
    at its beginning, a fixed pattern sees few near positions."""
    whole = np.concatenate([one[: len(one) // block * block].reshape(-1, block) for one in nats])
    quarters = [part.mean() / math.log(2) for part in np.array_split(whole, 4, axis=1)]
    return {"by_block": {"block": block, "quarters": [round(float(one), 4) for one in quarters]}}


def surprising_above(model: SparseTransformer, task: Task, data: Path) -> float:
    """Return the nats per symbol below which 99 of 100 held-out digits, or windows of a held-out
    book, stay."""
    if task.of_text:
        cost = nats_per_character(model, characters(data, "valid", model.config.letters)[:65_536])
        size = min(256, len(cost))
        means = cost[: len(cost) // size * size].reshape(-1, size).mean(1)
    else:
        pixels = digits(data, "val").pixels
        means = nats_per_image(model, pixels) / pixels[0].size
    return round(float(np.quantile(means, 0.99)), 5)


def measure(asked: FigureRequest[Task]) -> Measurement:
    """Measure the nats per image or bits per character, and the threshold that 99 of 100 held-out
    inputs stay below."""
    task, model = asked.task, asked.shipped.model
    figure = measure_split(model, task, asked.data, asked.split)
    said = (
        bits_per_character.describe_figure(figure)
        if task.of_text
        else f"{figure['value']:.4f} {task.metric} on the {figure['n']:,} digits of {asked.split}"
    )
    return Measurement(
        figure, said, facts=lambda: {"surprising_above": surprising_above(model, task, asked.data)}
    )


LAB = LabModels(SLUG, VARIANTS, read, plan, measure, rates=(1.5e-3, 3e-3, 6e-3))
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
