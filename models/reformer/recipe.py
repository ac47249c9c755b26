"""Training and measurement of the models with attention by hashing."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from models.data.characters import Alphabet, read_books
from models.data.windows import NONE, move_batch
from models.evaluation import bits_per_character
from models.layers.lsh import (
    LSHSelfAttention,
    hash_vectors,
    mark_meetings,
    shared_weights,
    sort_by_bucket,
)
from models.layers.positional import sinusoids
from models.reformer.data import (
    LENGTH,
    VOCABULARY,
    Batch,
    Curriculum,
    drawn_words,
    said_twice,
    windows,
    words,
)
from models.reformer.examples import examples as examples
from models.reformer.letters import WORD
from models.reformer.model import FULL, Config, Layer, Reformer
from models.reformer.pretrained import SLUG, read
from models.training import driver
from models.training.driver import FigureRequest, Job, LabModels, Measurement, Plan
from models.training.loop import NextSymbol, Schedule, make_adam, make_muon

MEASURED = (FULL, 1, 2, 4, 8)  # rounds at which words are measured, as published
MOST_ROUNDS = 64  # the most measured rounds: beyond them, full attention is cheaper
TEXT = "text"


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """The settings of training."""

    # For words; books are read in windows from the start.
    curriculum: Curriculum = field(default_factory=Curriculum)
    batch: int = 4  # windows of books


@dataclass(frozen=True)
class Task(driver.Task):
    """A variant's task."""

    config: Config  # for text, the books determine its alphabet

    @property
    def of_text(self) -> bool:
        """Whether the task has books instead of repeated words."""
        return self.config.vocabulary == 0

    @property
    def usual(self) -> int:
        """The rounds of hashing of its figure: more than in training, or FULL without any."""
        return FULL if self.config.rounds == FULL else 4 if self.of_text else 8


def _list_published(*percent: float) -> dict[str, Any]:
    """Return the published accuracies of a model trained with this many rounds, by rounds of
    evaluation."""
    values = {
        name: round(value / 100, 3)
        for name, value in zip(("full", "8", "4", "2", "1"), percent, strict=True)
    }
    return driver.describe_published(
        values["8"],
        "Kitaev et al. (2020), table 2",
        "Their words have 511 letters of 127 kinds, and their models were trained for 150,000"
        " steps.",
        "他们的词有 511 个字母、127 种字母，模型训练了 150,000 步。",
        by_rounds=values,
    )


_HOW = "words that no network learned from, all letters before each given;"


WORDS = Task(
    config=Config(VOCABULARY, LENGTH, rounds=4, chunk=16, buckets=32, row=16),
    recipe=Recipe(
        Schedule(
            steps=5000,
            warmup=200,
            decay=0.0,
            cooldown=2000,
            average=3,
            every=50,
            precision="32-true",
        )
    ),
    metric="accuracy",
    data=(
        f"0 w 0 w with words of {WORD} letters of {VOCABULARY - 1} kinds, made by a seeded"
        " generator; 18 of 20 by their hash"
    ),
    licence="Apache-2.0: the generator and these weights",
    protocol=f"{_HOW} 8 rounds of hashing",
    published=_list_published(0.8, 100, 99.9, 99.4, 91.9),
    target=0.99,
)


def _words(rounds: int, *percent: float, **more: Any) -> Task:
    """Return the same task with another number of rounds in training."""
    config = dataclasses.replace(WORDS.config, rounds=rounds)
    return dataclasses.replace(
        WORDS, config=config, published=_list_published(*percent), target=None, **more
    )


VARIANTS: dict[str, Task] = {
    "lsh_4": WORDS,
    "full": _words(FULL, 100, 94.8, 92.5, 76.9, 52.5, protocol=f"{_HOW} full attention"),
    "lsh_2": _words(2, 0.8, 100, 99.9, 98.1, 86.8),
    "lsh_1": _words(1, 0.8, 99.9, 99.6, 94.8, 77.9),
    TEXT: Task(
        config=Config(
            0, 1024, rounds=2, chunk=64, buckets=32, row=1024, d_ff=512, n_layers=4, ff_chunks=4
        ),
        recipe=Recipe(
            Schedule(
                steps=4000,
                warmup=100,
                decay=0.0,
                cooldown=2000,
                average=4,
                every=40,
                precision="32-true",
            )
        ),
        metric=bits_per_character.METRIC,
        data=(
            "classics19: 17 books in the public domain to learn from, one to validate, one to test"
            " (Project Gutenberg)"
        ),
        licence="the books are in the public domain; Apache-2.0: these weights",
        protocol=bits_per_character.PROTOCOL,
        chosen="valid",
    ),
}


def beginner_of_books(config: Config) -> Reformer:
    """Return an untrained network that attends to its nearest past.

    A query that is its own key finds similar positions. If positions start at random, no near
    position is similar, and hashing collects noise. Positions therefore start as waves, which are
    similar when near, with queries long enough for weights to separate near from far.
    """
    model = Reformer(config)
    with torch.no_grad():
        places, width = model.column.weight.shape
        model.column.weight.copy_(2.0 * sinusoids(places, width, longest=32.0))
        for layer in model.layers:
            assert isinstance(layer, Layer)
            layer.attention.query.weight.mul_(8.0)
    return model


def _predict(model: Any, batch: Batch) -> tuple[Tensor, Tensor]:
    rotations = model.rotations(model.config.rounds, model.config.buckets)
    return model(batch.before, rotations, batch.positions), batch.wanted


Objective = partial(NextSymbol, said=_predict)


@torch.no_grad()
def costs(
    model: Reformer, batch: Batch, rounds: int, seed: int, size: int = 8
) -> tuple[Tensor, Tensor]:
    """Return −log p of each target in nats, 0 where there is none, and whether the likeliest token
    is right, (batch, position) each.

    rounds: of hashing, or FULL. seed: of the rotations, the same for every part of `size` rows.
    """
    device = model.readout.weight.device
    rotation = model.rotations(rounds, model.config.buckets, torch.Generator().manual_seed(seed))
    nats, right = [], []
    for begin in range(0, len(batch.before), size):
        part = move_batch(Batch(*(one[begin : begin + size] for one in batch)), device)
        logits = model(part.before, rotation, part.positions).float()
        nats.append(
            F.cross_entropy(
                logits.transpose(1, 2), part.wanted, ignore_index=NONE, reduction="none"
            )
            .double()
            .cpu()
        )
        right.append((logits.argmax(-1) == part.wanted).cpu())
    return torch.cat(nats), torch.cat(right)


def accuracy(model: Reformer, batch: Batch, rounds: int, seed: int = 1) -> float:
    """Return the share of targets that are the likeliest token, given everything before them."""
    _, right = costs(model, batch, rounds, seed)
    return float(right[batch.wanted != NONE].double().mean())


def cut(text: NDArray[np.uint8], length: int) -> Batch:
    """Cut a whole text into consecutive windows; every character but the first is a target once."""
    return windows(text, np.arange(0, len(text) - 1, length), length)


def mean_bits(model: Reformer, batch: Batch, rounds: int, seed: int = 1) -> float:
    """Return the bits per target character, each window read from its own beginning."""
    nats, _ = costs(model, batch, rounds, seed)
    return float(nats.sum() / (batch.wanted != NONE).sum()) / math.log(2)


def _reformer(model: nn.Module) -> Reformer:
    assert isinstance(model, Reformer)
    return model


def _of_words(
    task: Task, recipe: Recipe
) -> tuple[Config, Callable[[np.random.Generator, float], Batch], Callable[[nn.Module], float]]:
    held_out = said_twice(words(np.random.default_rng(0), 20, WORD, "val"))
    return (
        task.config,
        lambda generator, done: drawn_words(generator, done, recipe.curriculum),
        lambda model: 1 - accuracy(_reformer(model), held_out, task.config.rounds),
    )


def _of_books(
    task: Task, recipe: Recipe, data: Path
) -> tuple[Config, Callable[[np.random.Generator, float], Batch], Callable[[nn.Module], float]]:
    read = read_books(data, "train")
    alphabet = Alphabet.from_texts(book.text for book in read)
    text = np.concatenate([alphabet.encode(book.text) for book in read])
    config = dataclasses.replace(task.config, vocabulary=len(alphabet), letters=alphabet.letters)
    valid = alphabet.encode(read_books(data, "valid")[0].text)
    held_out = cut(valid, config.length)
    held_out = Batch(*(one[:: max(1, len(held_out.before) // 12)] for one in held_out))
    last = max(1, len(text) - config.length)
    return (
        config,
        lambda generator, done: windows(
            text, generator.integers(0, last, recipe.batch), config.length
        ),
        lambda model: mean_bits(_reformer(model), held_out, config.rounds),
    )


def plan(job: Job[Task]) -> Plan[Batch]:
    """Plan a training on words, which need no data folder, or on windows of books."""
    of_text = job.task.of_text
    config, draw, validate = (
        _of_books(job.task, job.recipe, job.data) if of_text else _of_words(job.task, job.recipe)
    )
    build = partial(beginner_of_books if of_text else Reformer, config)
    return Plan(build, Objective, validate, make_muon if of_text else make_adam, draw)


def name_rounds(rounds: int) -> str:
    """Return the name of a number of rounds in figures."""
    return "full" if rounds == FULL else str(rounds)


def asked_rounds(text: str | None, usual: int) -> int:
    """Return the rounds of hashing from a command line: a number, or "full".

    Raise ValueError for other values.
    """
    if text is None:
        return usual
    if text == "full":
        return FULL
    if not text.isdecimal() or not 1 <= int(text) <= MOST_ROUNDS:
        raise ValueError(
            f"{text} rounds of hashing: expected 1 to {MOST_ROUNDS}, or “full” for attention"
            " without hashing"
        )
    return int(text)


def measured_words(model: Reformer, split: str, rounds: int, count: int) -> dict[str, Any]:
    """Return the accuracy on the second half of `count` sequences, given the first half and all
    letters before, and for the other rounds of MEASURED."""
    batch = said_twice(words(np.random.default_rng(1), count, WORD, split))
    by_rounds = {
        name_rounds(one): round(accuracy(model, batch, one), 5)
        for one in sorted({*MEASURED, rounds})
    }
    hashed = [by_rounds[name_rounds(one)] for one in sorted({*MEASURED, rounds} - {FULL})]
    hidden = (
        {}
        if model.config.rounds == FULL
        else {"unhashed": measure_unhashed(model, Batch(*(one[:20] for one in batch)))}
    )
    return {
        "metric": "accuracy",
        "split": split,
        "value": by_rounds[name_rounds(rounds)],
        "n": int((batch.wanted != NONE).sum()),
        "rounds": rounds,
        "by_rounds": by_rounds,
        "falls_with_rounds": any(a > b for a, b in itertools.pairwise(hashed)),
        **hidden,
    }


@torch.no_grad()
def measure_unhashed(model: Reformer, batch: Batch) -> dict[str, float]:
    """Measure the first layer of a model trained with hashing on keys that hashing hides.

    batch: whole repeated words. met: the share of earlier pairs that its own rounds compare.
    elsewhere: among the pairs that one round compares, the share from two buckets. right_key: the
    mean weight that full attention gives to the first occurrence of the target letter.
    """
    first = model.layers[0]
    assert isinstance(first, Layer) and isinstance(first.attention, LSHSelfAttention)
    attention = first.attention
    query = attention.split_heads(
        attention.query(first.norm(model.embed_tokens(batch.before, batch.positions)))
    )
    (rotation, *_), past = (
        model.rotations(
            model.config.rounds, model.config.buckets, torch.Generator().manual_seed(1)
        ),
        query.shape[2],
    )
    assert rotation is not None
    buckets = hash_vectors(query, rotation)
    pairs = torch.ones(past, past, dtype=torch.bool).tril(-1)
    # (batch, head, round, query, key)
    compared = mark_meetings(sort_by_bucket(buckets), attention.chunk) & pairs
    apart = compared & (buckets[..., :, None] != buckets[..., None, :])
    rows = torch.arange(past)[(batch.wanted != NONE).all(0)]
    right = shared_weights(query)[:, :, rows, rows - WORD]
    return {
        "met": round(float(compared.any(2).double().sum((-2, -1)).mean() / pairs.sum()), 4),
        "elsewhere": round(float(apart.sum() / compared.sum()), 4),
        "right_key": round(float(right.mean()), 4),
    }


def measured_text(model: Reformer, data: Path, split: str, rounds: int) -> dict[str, Any]:
    """Return the bits per character of a split's books, each without its first character, which has
    no past."""

    def read_by_hashing(text: NDArray[np.uint8]) -> bits_per_character.Text:
        return bits_per_character.Text(
            len(text) - 1,
            lambda begins, length: costs(model, windows(text, begins, length), rounds, 1)[
                0
            ].numpy(),
        )

    alphabet = Alphabet(model.config.letters)
    texts = [read_by_hashing(alphabet.encode(book.text)) for book in read_books(data, split)]
    return {
        **bits_per_character.build_figure(
            split, texts, min(bits_per_character.WINDOW, model.config.length)
        ),
        "rounds": rounds,
    }


def measure(asked: FigureRequest[Task], rounds: str | None, count: int) -> Measurement:
    """Measure a model on words, or books, outside training.

    rounds: of hashing; by default 8 for words, the 4 of text, and full attention if training had no
    hashing. Raise ValueError for an invalid number of rounds.
    """
    task, model = asked.task, asked.shipped.model
    turns = asked_rounds(rounds, task.usual)
    if task.of_text:
        figure = measured_text(model, asked.data, asked.split, turns)
        said = bits_per_character.describe_figure(figure)
    else:
        figure = measured_words(model, asked.split, turns, count)
        said = f"{figure['value']:.4f} {figure['metric']} on {asked.split}, {figure['n']:,} wanted"
    said += "".join(
        f"\n  evaluated with {name}: {value:.4f}"
        for name, value in figure.get("by_rounds", {}).items()
    )
    if task.target is not None and figure["falls_with_rounds"]:
        said += "\nIt falls with more rounds."
    refused = f"with {name_rounds(task.usual)} rounds, not with {name_rounds(turns)}"
    key = "figure" if turns == task.usual else None
    return Measurement(
        figure,
        f"{said}\nrounds: {name_rounds(turns)}",
        key,
        refused,
        ("split", "rounds"),
        higher=not task.of_text,
    )


LAB = LabModels(
    SLUG,
    VARIANTS,
    read,
    plan,
    measure,
    rates=(1e-3, 2e-3, 4e-3),
    options={
        "rounds": {
            "default": None,
            "help": "of hashing, 1 to 64, or full; by default 8 for words, 4 for text",
        },
        "count": {"type": int, "default": 100, "help": "sequences of words to answer"},
    },
)
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
