"""How the two models of long texts are made and measured."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from models import bits, driver, training
from models.characters import Alphabet, books
from models.driver import Asked, Job, Lab, Measured, Plan, published
from models.training import NextSymbol, Schedule
from models.transformer_xl import absolute, model
from models.transformer_xl.absolute import AbsoluteTransformer
from models.transformer_xl.data import STRANGE, costs, numbers, windowed
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import SLUG, Network, read
from models.windows import Batch, drawn_windows

WATCHED = 32_768  # characters of the held-out book that training looks at


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """How a network is trained."""

    lanes: int = 4  # stretches of text in a batch
    segments: int = 6  # of a stretch: the first is read without a memory, the last ones with the longest


@dataclass(frozen=True)
class Task(driver.Task):
    """What a variant learns."""

    build: Callable[[str], Network]  # letters -> the network, nothing learned yet


# As many characters as one core reads in two hours, none of them more than twice, so nothing needs dropping out.
RECIPE = Recipe(Schedule(steps=7600, warmup=440, decay=0.0, cooldown=4700, average=3, every=40), round=760)
PUBLISHED = published(
    0.99,
    "Dai et al. (2019), enwik8, 277 M parameters",
    en="Another text (Wikipedia, with its markup, byte by byte) and a network some three hundred times as large.",
    zh="文本不同（维基百科及其标记，逐字节），网络约大三百倍。",
)
XL = Task(
    lambda letters: TransformerXL(model.Config(letters)),
    recipe=RECIPE,
    published=PUBLISHED,
    target=1.7,
    own="text",
    **bits.BOOKS,
)
VARIANTS: dict[str, Task] = {
    "xl": XL,
    "absolute": dataclasses.replace(XL, build=lambda letters: AbsoluteTransformer(absolute.Config(letters)), target=None),
}


Objective = partial(NextSymbol, said=lambda model, batch: (model.stretch(batch.before), batch.wanted))  # read from an empty memory


def mean_bits(model: Network, text: NDArray[np.uint8]) -> float:
    """Bits per character of a text, read with the memory of training."""
    return float(costs(model, text).mean(dtype=np.float64)) / math.log(2)


def plan(job: Job[Task]) -> Plan[Batch]:
    """Stretches of the books, each read from an empty memory."""
    task, recipe = job.task, job.recipe
    alphabet = Alphabet.of(book.text for book in books(job.data, "train"))
    texts = numbers(job.data, "train", alphabet)
    held_out = np.concatenate(numbers(job.data, task.chosen, alphabet))[:WATCHED]
    length = recipe.segments * task.build(alphabet.letters).config.segment
    return Plan(
        lambda: task.build(alphabet.letters),
        Objective,
        lambda network: mean_bits(network, held_out),
        training.muon,
        lambda generator, done: drawn_windows(texts, recipe.lanes, length, STRANGE, generator),
    )


def measure(asked: Asked[Task], memory: int | None) -> Measured:
    """Bits per character of the books of a split, segment by segment; where there is a memory, it goes on from segment to segment, within a
    window or, read in one go, through the whole book.

    memory: states that each layer remembers, by default as in training. ValueError for a memory where there is none.
    """
    network: Network = asked.shipped.model
    segment, held = network.config.segment, network.memory if memory is None else memory
    remembers = isinstance(network, TransformerXL)
    texts = [
        bits.Text(len(text), windowed(network, text, held), partial(costs, network, text, held) if remembers else None)
        for text in numbers(asked.data, asked.split, network.alphabet)
    ]
    window = bits.WINDOW if remembers else segment  # what stands before a segment is lost to the other
    figure = {**bits.figure(asked.split, texts, window), "books": len(texts), "segment": segment, "memory": held}
    key = "figure" if held == network.memory else None
    refused = f"with the memory of training, {network.memory}"
    return Measured(figure, f"{bits.told(figure)}\na memory of {held}", key, refused, ("split", "memory", "window"))


LAB = Lab(
    SLUG,
    VARIANTS,
    read,
    plan,
    measure,
    rates=(6e-3, 1.2e-2, 2.4e-2),
    options={"memory": {"type": int, "default": None, "help": "states that each layer remembers; by default as in training"}},
)
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
