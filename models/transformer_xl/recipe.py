"""Training and measurement of the two models of long texts."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from models.data.characters import Alphabet, read_books
from models.data.windows import SymbolBatch, draw_character_windows
from models.evaluation import bits_per_character
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
from models.transformer_xl import absolute, model
from models.transformer_xl.absolute import AbsoluteTransformer
from models.transformer_xl.data import STRANGE, costs, make_window_reader, numbers
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import SLUG, Network, read

WATCHED = 32_768  # characters of the held-out book that are measured during training


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """The settings of training."""

    lanes: int = 4  # stretches of text in a batch
    # Segments of a stretch: the first is read without a memory, the last ones with the longest.
    segments: int = 6


@dataclass(frozen=True)
class Task(driver.Task):
    """A variant's task."""

    build: Callable[[str], Network]  # letters -> an untrained network


# The number of characters that one core reads in two hours; none repeats more than twice, so
# dropout is not needed.
RECIPE = Recipe(
    Schedule(steps=7600, warmup=440, decay=0.0, cooldown=4700, average=3, every=40),
    evaluation_interval=760,
)
PUBLISHED = describe_published(
    0.99,
    "Dai et al. (2019), enwik8, 277 M parameters",
    en=(
        "Another text (Wikipedia, with its markup, byte by byte) and a network some three hundred"
        " times as large."
    ),
    zh="文本不同（维基百科及其标记，逐字节），网络约大三百倍。",
)
XL = Task(
    lambda letters: TransformerXL(model.Config(letters)),
    recipe=RECIPE,
    published=PUBLISHED,
    target=1.7,
    own="text",
    **bits_per_character.BOOKS,
)
VARIANTS: dict[str, Task] = {
    "xl": XL,
    "absolute": dataclasses.replace(
        XL, build=lambda letters: AbsoluteTransformer(absolute.Config(letters)), target=None
    ),
}


# Read from an empty memory.
Objective = partial(
    NextSymbol, said=lambda model, batch: (model.stretch(batch.before), batch.wanted)
)


def mean_bits(model: Network, text: NDArray[np.uint8]) -> float:
    """Return the bits per character of a text, read with the memory of training."""
    return float(costs(model, text).mean(dtype=np.float64)) / math.log(2)


def plan(job: Job[Task]) -> Plan[SymbolBatch]:
    """Plan a training on stretches of the books, each read from an empty memory."""
    task, recipe = job.task, job.recipe
    alphabet = Alphabet.from_texts(book.text for book in read_books(job.data, "train"))
    texts = numbers(job.data, "train", alphabet)
    held_out = np.concatenate(numbers(job.data, task.chosen, alphabet))[:WATCHED]
    length = recipe.segments * task.build(alphabet.letters).config.segment
    return Plan(
        lambda: task.build(alphabet.letters),
        Objective,
        lambda network: mean_bits(network, held_out),
        loop.make_muon,
        lambda generator, done: draw_character_windows(
            texts, recipe.lanes, length, STRANGE, generator
        ),
    )


def measure(asked: FigureRequest[Task], memory: int | None) -> Measurement:
    """Measure the bits per character of a split's books, segment by segment.

    A memory continues from segment to segment, within a window or, in one go, through the whole
    book. memory: states that each layer remembers, by default as in training. Raise ValueError if
    the model has no memory.
    """
    network: Network = asked.shipped.model
    segment, held = network.config.segment, network.memory if memory is None else memory
    remembers = isinstance(network, TransformerXL)
    texts = [
        bits_per_character.Text(
            len(text),
            make_window_reader(network, text, held),
            partial(costs, network, text, held) if remembers else None,
        )
        for text in numbers(asked.data, asked.split, network.alphabet)
    ]
    # The model without a memory cannot use what precedes a segment.
    window = bits_per_character.WINDOW if remembers else segment
    figure = {
        **bits_per_character.build_figure(asked.split, texts, window),
        "books": len(texts),
        "segment": segment,
        "memory": held,
    }
    key = "figure" if held == network.memory else None
    refused = f"with the memory of training, {network.memory}"
    return Measurement(
        figure,
        f"{bits_per_character.describe_figure(figure)}\na memory of {held}",
        key,
        refused,
        ("split", "memory", "window"),
    )


LAB = LabModels(
    SLUG,
    VARIANTS,
    read,
    plan,
    measure,
    rates=(6e-3, 1.2e-2, 2.4e-2),
    options={
        "memory": {
            "type": int,
            "default": None,
            "help": "states that each layer remembers; by default as in training",
        }
    },
)
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
