"""How the language models are made and measured."""

from __future__ import annotations

import dataclasses
import math
import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from models import bits, checkpoint, driver, folders, polarity, training, windows
from models.characters import Alphabet, books
from models.corpus import corpus, unwrapped
from models.driver import Asked, Job, Lab, Measured, Plan, published
from models.language_model import induction
from models.language_model import polarity as labels
from models.language_model.model import Config, LanguageModel
from models.language_model.pieces import VOCABULARY, Pieces
from models.language_model.pretrained import PIECES, SLUG, read
from models.language_model.records import EXAMPLES, LEARN, LEARNED
from models.pretrained import store_first
from models.training import Schedule
from models.windows import drawn_windows

WATCHED = 32_768  # characters of the held-out book that training looks at
HIDDEN = 1 / 4096  # share of characters that training hides behind UNKNOWN, so that unknown ones can be read
LETTERS = string.ascii_letters + string.digits  # the symbols of random sequences
AHEAD = 0.5  # what the symbol after next counts (Al-Rfou et al., 2019, §3.3)


class Batch(NamedTuple):
    """before, wanted, after: (batch, position). Position t reads before[t], is to say wanted[t] next and after[t] after it.

    done: the share of the training that lies behind this batch.
    """

    before: Tensor
    wanted: Tensor
    after: Tensor
    done: float = 0.0


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """How a network is trained."""

    batch: int = 16  # windows


@dataclass(frozen=True)
class Task(driver.Task):
    """What a variant learns."""

    config: Config
    everywhere: bool = True  # does every position of a window predict, or the last one alone?


# As many characters as one core reads in a quarter of an hour, hardly any of them twice, so nothing needs dropping out.
RECIPE = Recipe(
    Schedule(steps=3000, warmup=150, decay=0.0, cooldown=1800, clip=1.0, average=3, every=20, precision="bf16-mixed"), round=300
)
PLAIN = Task(
    config=Config(),
    recipe=RECIPE,
    published=published(
        1.06,
        "Al-Rfou et al. (2019), enwik8, 64 layers, 235 M parameters",
        en="Another text (Wikipedia, with its markup, byte by byte) and a network some 250 times as large.",
        zh="文本不同（维基百科及其标记，逐字节），网络约大 250 倍。",
    ),
    target=2.0,
    own="text",
    **bits.BOOKS,
)


def _variant(everywhere: bool = True, exits: bool = False, ahead: bool = False) -> Task:
    config = dataclasses.replace(PLAIN.config, exits=exits, ahead=ahead)
    return dataclasses.replace(PLAIN, config=config, everywhere=everywhere, published=None, target=None, own="")


# Two layers of attention alone, and one: what copies takes two. One head each: of two in the last layer, both come to do the same.
INDUCTION = dataclasses.replace(
    PLAIN,
    config=Config(LETTERS, window=96, d_model=64, d_ff=0, n_heads=1, n_layers=2),
    recipe=Recipe(
        Schedule(steps=1000, warmup=100, decay=0.0, cooldown=500, clip=1.0, average=3, every=20, precision="bf16-mixed"),
        batch=32,
        round=100,
    ),
    data="random sequences of 8 to 40 different symbols, each said again and again",
    licence="Apache-2.0: the generator and these weights",
    protocol="sequences that nobody has learned; from their second time on, without the first symbol of each time",
    published=None,
    chosen="generated",
    reported="generated, other seed",
    target=0.8,
    own="",
)
# Three passes over the text as pieces; each is met three times, so that something is dropped out.
WORDS = dataclasses.replace(
    PLAIN,
    config=Config(pieces=VOCABULARY, d_model=192, d_ff=768, n_layers=4, dropout=0.1),
    recipe=Recipe(
        Schedule(steps=2700, warmup=150, decay=0.0, cooldown=1600, clip=1.0, average=3, every=20, precision="bf16-mixed"), round=300
    ),
    data=f"{PLAIN.data}; the sentences of 8,530 film reviews (Pang and Lee, 2005) without their labels",
    protocol="windows of 256 pieces that overlap by half, the second half counts; a paragraph is one line; bits of pieces over characters",
    published=None,
    target=2.1,
    own="",
)


VARIANTS: dict[str, Task] = {
    "plain": PLAIN,
    "last_only": _variant(everywhere=False),
    "layers": _variant(exits=True),
    "targets": _variant(ahead=True),
    "all": _variant(exits=True, ahead=True),
    "words": WORDS,
    "induction": INDUCTION,
    "one_layer": dataclasses.replace(INDUCTION, config=dataclasses.replace(INDUCTION.config, n_layers=1), target=None),
}


class Objective(nn.Module):
    """What training minimises: −log p of the next symbol, and of all that the variant predicts besides, summed (Al-Rfou et al., §3).

    Layer l of n, counted from 1, stops to predict once l / 2n of the training is over, so that the lowest stops first.
    """

    def __init__(self, model: nn.Module, everywhere: bool) -> None:
        super().__init__()
        assert isinstance(model, LanguageModel)
        self.model = model
        self._positions = slice(None) if everywhere else slice(-1, None)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Sum of losses in nats, number of next symbols."""
        layers, here = self.model.config.n_layers, self._positions
        total = torch.zeros((), device=batch.before.device)
        for layer, following, after in self.model.predictions(batch.before):
            if layer < layers - 1 and batch.done > (layer + 1) / (2 * layers):
                continue
            total = total + _nats(following[:, here], batch.wanted[:, here])
            if after is not None:
                total = total + AHEAD * _nats(after[:, here], batch.after[:, here])
        return total, torch.tensor(batch.wanted[:, here].numel(), device=total.device)


def _nats(logits: Tensor, wanted: Tensor) -> Tensor:
    return F.cross_entropy(logits.float().flatten(0, 1), wanted.flatten(), reduction="sum")


def drawn(texts: Sequence[NDArray[Any]], count: int, window: int, generator: np.random.Generator, done: float) -> Batch:
    """`count` windows as `models.windows.drawn_windows` cuts them, each with the symbol after next too."""
    before, wanted = drawn_windows(texts, count, window + 1, HIDDEN, generator)
    return Batch(before[:, :-1].contiguous(), wanted[:, :-1].contiguous(), wanted[:, 1:].contiguous(), done)


def windowed(model: LanguageModel, text: NDArray[Any]) -> bits.Read:
    """What reads windows of a text, each from an empty beginning (`models.bits`)."""
    device = model.readout.weight.device
    return windows.windowed(text, model.start, lambda before, wanted: windows.nats(model(before.to(device)), wanted))


def mean_bits(model: LanguageModel, text: NDArray[np.uint8], everywhere: bool = True) -> float:
    """Bits per character of a text in windows that overlap by half; or, where only the last position has learned to predict, its own."""
    read, window = windowed(model, text), model.config.window
    if everywhere:
        return float(bits.figure("", [bits.Text(len(text), read)], window)["value"])
    return last_bits(read, len(text), window)


def last_bits(read: bits.Read, length: int, window: int, step: int = 61) -> float:
    """Bits per character of every `step`-th character that has a whole window before it, predicted from the window's last position."""
    begins = np.arange(0, length - window, step)
    nats = [read(begins[i : i + bits.TOGETHER], window)[:, -1] for i in range(0, len(begins), bits.TOGETHER)]
    return float(np.concatenate(nats).mean(dtype=np.float64) / np.log(2))


def plan(job: Job[Task]) -> Plan[Batch]:
    """Windows of the books of training, as characters or as pieces."""
    task, recipe = job.task, job.recipe
    if task.config.pieces:
        return _plan_of_pieces(job)
    if not task.config.d_ff:
        return _plan_of_copying(job)
    shelf = [book.text for book in books(job.data, "train")]
    config = dataclasses.replace(task.config, letters=Alphabet.of(shelf).letters)
    alphabet = Alphabet(config.letters)
    texts = [alphabet.encode(text) for text in shelf]
    held_out = np.concatenate([alphabet.encode(book.text) for book in books(job.data, task.chosen)])[:WATCHED]
    return Plan(
        lambda: LanguageModel(config),
        lambda model: Objective(model, task.everywhere),
        lambda model: mean_bits(model, held_out, task.everywhere),
        training.muon,
        lambda generator, done: drawn(texts, recipe.batch, config.window, generator, done),
    )


def _plan_of_pieces(job: Job[Task]) -> Plan[Batch]:
    config, learned = job.task.config, corpus(job.data)
    pieces = Pieces.train(learned, config.pieces)
    texts = pieces.encode_all(learned)
    held_out = "\n".join(unwrapped(book.text) for book in books(job.data, job.task.chosen))[:WATCHED]
    return Plan(
        lambda: LanguageModel(config),
        lambda model: Objective(model, True),
        lambda model: bits_of_pieces(model, pieces, "", [held_out])["value"],
        training.muon,
        lambda generator, done: drawn(texts, job.recipe.batch, config.window, generator, done),
        finish=lambda where: pieces.save(where / PIECES),
        trial=0.08,  # 15 % of so long a run, for each rate, would take as long as the run
    )


def _plan_of_copying(job: Job[Task]) -> Plan[Batch]:
    config = job.task.config

    def draw(generator: np.random.Generator, done: float) -> Batch:
        values = torch.from_numpy(induction.sequences(len(config.letters), job.recipe.batch, config.window + 2, generator)[0])
        return Batch(values[:, :-2].contiguous(), values[:, 1:-1].contiguous(), values[:, 2:].contiguous(), done)

    return Plan(
        lambda: LanguageModel(config),
        lambda model: Objective(model, True),
        lambda model: 1 - induction.measured(model, seed=1)["value"],
        training.muon,
        draw,
    )


def bits_of_pieces(model: LanguageModel, pieces: Pieces, split: str, texts: Sequence[str]) -> dict[str, Any]:
    """As `bits.figure`, in bits per character of the texts, whose pieces hold several characters each."""
    numbers = pieces.encode_all(texts)
    figure = bits.figure(split, [bits.Text(len(one), windowed(model, one)) for one in numbers], model.config.window)
    characters = sum(map(len, texts))
    share = figure["n"] / characters
    by = {way: round(value * share, 4) for way, value in figure["by_reading"].items()}
    more = {"pieces": figure["n"], "bits_per_piece": figure["value"]}
    return {**figure, "value": round(figure["value"] * share, 4), "n": characters, "by_reading": by, **more}


def measure(asked: Asked[Task]) -> Measured:
    """Bits per character of the books of a split; `last_position`: of a sample of characters, each read with a whole window before it."""
    model: LanguageModel = asked.shipped.model
    window = model.config.window
    if not model.config.d_ff:
        figure = induction.measured(model) | {"split": asked.split}
        if asked.variant == "induction":
            figure["one_layer"] = induction.measured(read(checkpoint.folder(SLUG, "one_layer")).model)["value"]
        layer, head = figure["head"]
        said = f"{figure['value']:.1%} copied; without head {layer + 1}·{head + 1}, {figure['silenced']:.1%}"
        return Measured(figure, said, higher=True)
    if model.config.pieces:
        texts = [unwrapped(book.text) for book in books(asked.data, asked.split)]
        figure = bits_of_pieces(model, Pieces.load(asked.where / PIECES), asked.split, texts)
        return Measured(figure, bits.told(figure))
    numbers = [model.alphabet.encode(book.text) for book in books(asked.data, asked.split)]
    figure = bits.figure(asked.split, [bits.Text(len(text), windowed(model, text)) for text in numbers], window)
    last = float(np.mean([last_bits(windowed(model, text), len(text), window) for text in numbers]))
    figure |= {"last_position": round(last, 4), "used_parameters": model.used}
    return Measured(figure, f"{bits.told(figure)}\n  {last:.4f} at the last position of a whole window")


LAB = Lab(SLUG, VARIANTS, read, plan, measure, rates=(6e-3, 1.2e-2, 2.4e-2))
task_of = LAB.task_of


def train(data: Path, runs: Path, variant: str = "", **how: Any) -> Path:
    """As `Lab.train`; of `polarity`, which is not one model, every training of its curve."""
    return labels.curve(data, runs) if variant == "polarity" else LAB.train(data, runs, variant, **how)


def evaluate(data: Path, variant: str = "", **how: Any) -> dict[str, Any]:
    """As `Lab.evaluate`; of `polarity`, the accuracy with each number of labels."""
    return polarity.figures(SLUG) if variant == "polarity" else LAB.evaluate(data, variant, **how)


def examples() -> Path:
    """Store the first example's explanation, and a fine-tuning beside it, however long it takes; returns the first file."""
    from models.language_model.explain import explain

    if (folders.lab(SLUG) / "words" / "model.json").is_file():  # who trains a model of their own has no such one
        store_first(SLUG, lambda asked: labels.live(asked[0], math.inf), LEARN, LEARNED)
    return store_first(SLUG, explain, EXAMPLES[0])
