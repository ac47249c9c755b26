"""How the models with attention by hashing are made and measured."""

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

from models import bits, driver
from models.characters import Alphabet, books
from models.driver import Asked, Job, Lab, Measured, Plan
from models.layers.lsh import LSHSelfAttention, hash_vectors, met, shared_weights, sort_by_bucket
from models.layers.positional import sinusoids
from models.reformer.data import LENGTH, VOCABULARY, Batch, Curriculum, drawn_words, said_twice, windows, words
from models.reformer.examples import examples as examples
from models.reformer.letters import WORD
from models.reformer.model import FULL, Config, Layer, Reformer
from models.reformer.pretrained import SLUG, read
from models.training import NextSymbol, Schedule, adam, muon
from models.windows import NONE, moved

MEASURED = (FULL, 1, 2, 4, 8)  # rounds that words are measured with, as published
MOST_ROUNDS = 64  # of hashing that are measured: beyond, full attention is cheaper
TEXT = "text"


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """How a network is trained."""

    curriculum: Curriculum = field(default_factory=Curriculum)  # of words; books are read in windows from the start
    batch: int = 4  # windows of books


@dataclass(frozen=True)
class Task(driver.Task):
    """What a variant learns."""

    config: Config  # for text, its alphabet is found in the books

    @property
    def of_text(self) -> bool:
        """Books; else words said twice."""
        return self.config.vocabulary == 0

    @property
    def usual(self) -> int:
        """Rounds of hashing with which its figure is measured, or FULL: more than in training, where there was any hashing."""
        return FULL if self.config.rounds == FULL else 4 if self.of_text else 8


def _printed(*percent: float) -> dict[str, Any]:
    """The accuracies in print of a model trained with so many rounds, by rounds of evaluation."""
    values = {name: round(value / 100, 3) for name, value in zip(("full", "8", "4", "2", "1"), percent, strict=True)}
    return driver.published(
        values["8"],
        "Kitaev et al. (2020), table 2",
        "Their words have 511 letters of 127 kinds, and their models were trained for 150,000 steps.",
        "他们的词有 511 个字母、127 种字母，模型训练了 150,000 步。",
        by_rounds=values,
    )


_HOW = "words that no network learned from, all letters before each given;"


WORDS = Task(
    config=Config(VOCABULARY, LENGTH, rounds=4, chunk=16, buckets=32, row=16),
    recipe=Recipe(Schedule(steps=5000, warmup=200, decay=0.0, cooldown=2000, average=3, every=50, precision="32-true")),
    metric="accuracy",
    data=f"0 w 0 w with words of {WORD} letters of {VOCABULARY - 1} kinds, made by a seeded generator; 18 of 20 by their hash",
    licence="Apache-2.0: the generator and these weights",
    protocol=f"{_HOW} 8 rounds of hashing",
    published=_printed(0.8, 100, 99.9, 99.4, 91.9),
    target=0.99,
)


def _words(rounds: int, *percent: float, **more: Any) -> Task:
    """The same, trained with another number of rounds."""
    config = dataclasses.replace(WORDS.config, rounds=rounds)
    return dataclasses.replace(WORDS, config=config, published=_printed(*percent), target=None, **more)


VARIANTS: dict[str, Task] = {
    "lsh_4": WORDS,
    "full": _words(FULL, 100, 94.8, 92.5, 76.9, 52.5, protocol=f"{_HOW} full attention"),
    "lsh_2": _words(2, 0.8, 100, 99.9, 98.1, 86.8),
    "lsh_1": _words(1, 0.8, 99.9, 99.6, 94.8, 77.9),
    TEXT: Task(
        config=Config(0, 1024, rounds=2, chunk=64, buckets=32, row=1024, d_ff=512, n_layers=4, ff_chunks=4),
        recipe=Recipe(Schedule(steps=4000, warmup=100, decay=0.0, cooldown=2000, average=4, every=40, precision="32-true")),
        metric=bits.METRIC,
        data="classics19: 17 books in the public domain to learn from, one to validate, one to test (Project Gutenberg)",
        licence="the books are in the public domain; Apache-2.0: these weights",
        protocol=bits.PROTOCOL,
        chosen="valid",
    ),
}


def beginner_of_books(config: Config) -> Reformer:
    """A network that has learned nothing yet and looks at its nearest past.

    A query that is its own key finds what is like itself. With positions drawn at random nothing near is like it, and what hashing brings
    together is noise; so positions begin as waves, alike where they are near, and queries long enough for weights to tell near from far.
    """
    model = Reformer(config)
    with torch.no_grad():
        places, width = model.column.weight.shape
        model.column.weight.copy_(2.0 * sinusoids(places, width, longest=32.0))
        for layer in model.layers:
            assert isinstance(layer, Layer)
            layer.attention.query.weight.mul_(8.0)
    return model


def _said(model: Any, batch: Batch) -> tuple[Tensor, Tensor]:
    rotations = model.rotations(model.config.rounds, model.config.buckets)
    return model(batch.before, rotations, batch.positions), batch.wanted


Objective = partial(NextSymbol, said=_said)


@torch.no_grad()
def costs(model: Reformer, batch: Batch, rounds: int, seed: int, size: int = 8) -> tuple[Tensor, Tensor]:
    """(batch, position) −log p in nats of each wanted token, 0 where none is; and whether the likeliest one was right.

    rounds: of hashing, or FULL; seed: of the rotations, the same for every part of `size` rows.
    """
    device = model.readout.weight.device
    rotation = model.rotations(rounds, model.config.buckets, torch.Generator().manual_seed(seed))
    nats, right = [], []
    for begin in range(0, len(batch.before), size):
        part = moved(Batch(*(one[begin : begin + size] for one in batch)), device)
        logits = model(part.before, rotation, part.positions).float()
        nats.append(F.cross_entropy(logits.transpose(1, 2), part.wanted, ignore_index=NONE, reduction="none").double().cpu())
        right.append((logits.argmax(-1) == part.wanted).cpu())
    return torch.cat(nats), torch.cat(right)


def accuracy(model: Reformer, batch: Batch, rounds: int, seed: int = 1) -> float:
    """Share of wanted tokens that are the likeliest, everything before them given."""
    _, right = costs(model, batch, rounds, seed)
    return float(right[batch.wanted != NONE].double().mean())


def cut(text: NDArray[np.uint8], length: int) -> Batch:
    """A whole text in windows, one after another: every character but the first is wanted once."""
    return windows(text, np.arange(0, len(text) - 1, length), length)


def mean_bits(model: Reformer, batch: Batch, rounds: int, seed: int = 1) -> float:
    """Bits per wanted character, each window read from its own beginning."""
    nats, _ = costs(model, batch, rounds, seed)
    return float(nats.sum() / (batch.wanted != NONE).sum()) / math.log(2)


def _reformer(model: nn.Module) -> Reformer:
    assert isinstance(model, Reformer)
    return model


def _of_words(task: Task, recipe: Recipe) -> tuple[Config, Callable[[np.random.Generator, float], Batch], Callable[[nn.Module], float]]:
    held_out = said_twice(words(np.random.default_rng(0), 20, WORD, "val"))
    return (
        task.config,
        lambda generator, done: drawn_words(generator, done, recipe.curriculum),
        lambda model: 1 - accuracy(_reformer(model), held_out, task.config.rounds),
    )


def _of_books(
    task: Task, recipe: Recipe, data: Path
) -> tuple[Config, Callable[[np.random.Generator, float], Batch], Callable[[nn.Module], float]]:
    read = books(data, "train")
    alphabet = Alphabet.of(book.text for book in read)
    text = np.concatenate([alphabet.encode(book.text) for book in read])
    config = dataclasses.replace(task.config, vocabulary=len(alphabet), letters=alphabet.letters)
    valid = alphabet.encode(books(data, "valid")[0].text)
    held_out = cut(valid, config.length)
    held_out = Batch(*(one[:: max(1, len(held_out.before) // 12)] for one in held_out))
    last = max(1, len(text) - config.length)
    return (
        config,
        lambda generator, done: windows(text, generator.integers(0, last, recipe.batch), config.length),
        lambda model: mean_bits(_reformer(model), held_out, config.rounds),
    )


def plan(job: Job[Task]) -> Plan[Batch]:
    """Words, which need no data folder, or windows of books."""
    of_text = job.task.of_text
    config, draw, validate = _of_books(job.task, job.recipe, job.data) if of_text else _of_words(job.task, job.recipe)
    build = partial(beginner_of_books if of_text else Reformer, config)
    return Plan(build, Objective, validate, muon if of_text else adam, draw)


def named(rounds: int) -> str:
    """Rounds as figures name them."""
    return "full" if rounds == FULL else str(rounds)


def asked_rounds(text: str | None, usual: int) -> int:
    """Rounds of hashing as a command line gives them: a number, or "full". ValueError for what can be neither."""
    if text is None:
        return usual
    if text == "full":
        return FULL
    if not text.isdecimal() or not 1 <= int(text) <= MOST_ROUNDS:
        raise ValueError(f"{text} rounds of hashing: expected 1 to {MOST_ROUNDS}, or “full” for attention without hashing")
    return int(text)


def measured_words(model: Reformer, split: str, rounds: int, count: int) -> dict[str, Any]:
    """Accuracy on the second half of `count` sequences, the first half and all before a letter given; other rounds of MEASURED beside."""
    batch = said_twice(words(np.random.default_rng(1), count, WORD, split))
    by_rounds = {named(one): round(accuracy(model, batch, one), 5) for one in sorted({*MEASURED, rounds})}
    hashed = [by_rounds[named(one)] for one in sorted({*MEASURED, rounds} - {FULL})]
    hidden = {} if model.config.rounds == FULL else {"unhashed": unhashed(model, Batch(*(one[:20] for one in batch)))}
    return {
        "metric": "accuracy",
        "split": split,
        "value": by_rounds[named(rounds)],
        "n": int((batch.wanted != NONE).sum()),
        "rounds": rounds,
        "by_rounds": by_rounds,
        "falls_with_rounds": any(a > b for a, b in itertools.pairwise(hashed)),
        **hidden,
    }


@torch.no_grad()
def unhashed(model: Reformer, batch: Batch) -> dict[str, float]:
    """What its first layer, trained by hashing, does with keys that hashing hides. batch: whole words said twice.

    met: share of the pairs before a position that its own rounds compare; elsewhere: of the pairs that one round compares, those of two
    buckets; right_key: mean weight that attention to everything gives to the first saying of the letter that is wanted.
    """
    first = model.layers[0]
    assert isinstance(first, Layer) and isinstance(first.attention, LSHSelfAttention)
    attention = first.attention
    query = attention.split(attention.query(first.norm(model.embedded(batch.before, batch.positions))))
    (rotation, *_), past = model.rotations(model.config.rounds, model.config.buckets, torch.Generator().manual_seed(1)), query.shape[2]
    assert rotation is not None
    buckets = hash_vectors(query, rotation)
    pairs = torch.ones(past, past, dtype=torch.bool).tril(-1)
    compared = met(sort_by_bucket(buckets), attention.chunk) & pairs  # (batch, head, round, query, key)
    apart = compared & (buckets[..., :, None] != buckets[..., None, :])
    rows = torch.arange(past)[(batch.wanted != NONE).all(0)]
    right = shared_weights(query)[:, :, rows, rows - WORD]
    return {
        "met": round(float(compared.any(2).double().sum((-2, -1)).mean() / pairs.sum()), 4),
        "elsewhere": round(float(apart.sum() / compared.sum()), 4),
        "right_key": round(float(right.mean()), 4),
    }


def measured_text(model: Reformer, data: Path, split: str, rounds: int) -> dict[str, Any]:
    """Bits per character of the books of a split, each without its first character, before which nothing can stand."""

    def read_by_hashing(text: NDArray[np.uint8]) -> bits.Text:
        return bits.Text(len(text) - 1, lambda begins, length: costs(model, windows(text, begins, length), rounds, 1)[0].numpy())

    alphabet = Alphabet(model.config.letters)
    texts = [read_by_hashing(alphabet.encode(book.text)) for book in books(data, split)]
    return {**bits.figure(split, texts, min(bits.WINDOW, model.config.length)), "rounds": rounds}


def measure(asked: Asked[Task], rounds: str | None, count: int) -> Measured:
    """Measure what a model says of words, or of books, that nothing was learned from.

    rounds: of hashing; by default 8 for words, the 4 of text, and full attention where there was no hashing in training. ValueError for
    rounds that there cannot be.
    """
    task, model = asked.task, asked.shipped.model
    turns = asked_rounds(rounds, task.usual)
    if task.of_text:
        figure = measured_text(model, asked.data, asked.split, turns)
        said = bits.told(figure)
    else:
        figure = measured_words(model, asked.split, turns, count)
        said = f"{figure['value']:.4f} {figure['metric']} on {asked.split}, {figure['n']:,} wanted"
    said += "".join(f"\n  evaluated with {name}: {value:.4f}" for name, value in figure.get("by_rounds", {}).items())
    if task.target is not None and figure["falls_with_rounds"]:
        said += "\nIt falls with more rounds."
    refused = f"with {named(task.usual)} rounds, not with {named(turns)}"
    key = "figure" if turns == task.usual else None
    return Measured(figure, f"{said}\nrounds: {named(turns)}", key, refused, ("split", "rounds"), higher=not task.of_text)


LAB = Lab(
    SLUG,
    VARIANTS,
    read,
    plan,
    measure,
    rates=(1e-3, 2e-3, 4e-3),
    options={
        "rounds": {"default": None, "help": "of hashing, 1 to 64, or full; by default 8 for words, 4 for text"},
        "count": {"type": int, "default": 100, "help": "sequences of words to answer"},
    },
)
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
