"""Training and measurement of the language models."""

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

from models.checkpoints import checkpoint, folders
from models.checkpoints.pretrained import store_first
from models.data import windows
from models.data.characters import UNKNOWN, Alphabet, read_books
from models.data.corpus import join_broken_lines, read_corpus
from models.data.windows import draw_character_windows
from models.evaluation import bits_per_character, polarity
from models.language_model import induction
from models.language_model import polarity as labels
from models.language_model.model import Config, LanguageModel
from models.language_model.pieces import VOCABULARY, Pieces
from models.language_model.pretrained import PIECES, SLUG, read
from models.language_model.records import EXAMPLES, LEARN, LEARNED
from models.training import driver, loop
from models.training.driver import (
    FigureRequest,
    Job,
    LabModels,
    Measurement,
    Plan,
    describe_published,
)
from models.training.loop import Schedule

WATCHED = 32_768  # characters of the held-out book that are measured during training
# Share of characters that training replaces by UNKNOWN, so that the model can read unknown
# characters.
HIDDEN = 1 / 4096
LETTERS = string.ascii_letters + string.digits  # the symbols of random sequences
AHEAD = 0.5  # the weight of the symbol after next (Al-Rfou et al., 2019, §3.3)


class Batch(NamedTuple):
    """A batch: position t reads before[t] and predicts wanted[t], the next symbol, and after[t],
    the one after it.

    before, wanted, after: (batch, position). done: the share of training before this batch.
    """

    before: Tensor
    wanted: Tensor
    after: Tensor
    done: float = 0.0


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """The settings of training."""

    batch: int = 16  # windows


@dataclass(frozen=True)
class Task(driver.Task):
    """A variant's task."""

    config: Config
    everywhere: bool = True  # whether every position of a window predicts, or the last one alone


# The number of characters that one core reads in a quarter of an hour; hardly any repeats, so
# dropout is not needed.
RECIPE = Recipe(
    Schedule(
        steps=3000,
        warmup=150,
        decay=0.0,
        cooldown=1800,
        clip=1.0,
        average=3,
        every=20,
        precision="bf16-mixed",
    ),
    evaluation_interval=300,
)
PLAIN = Task(
    config=Config(),
    recipe=RECIPE,
    published=describe_published(
        1.06,
        "Al-Rfou et al. (2019), enwik8, 64 layers, 235 M parameters",
        en=(
            "Another text (Wikipedia, with its markup, byte by byte) and a network some 250 times"
            " as large."
        ),
        zh="文本不同（维基百科及其标记，逐字节），网络约大 250 倍。",
    ),
    target=2.0,
    own="text",
    **bits_per_character.BOOKS,
)


def _variant(everywhere: bool = True, exits: bool = False, ahead: bool = False) -> Task:
    config = dataclasses.replace(PLAIN.config, exits=exits, ahead=ahead)
    return dataclasses.replace(
        PLAIN, config=config, everywhere=everywhere, published=None, target=None, own=""
    )


# Two layers of attention alone, and one: copying needs two. There is one head per layer, because
# two heads in the last layer would learn the same.
INDUCTION = dataclasses.replace(
    PLAIN,
    config=Config(LETTERS, window=96, d_model=64, d_ff=0, n_heads=1, n_layers=2),
    recipe=Recipe(
        Schedule(
            steps=1000,
            warmup=100,
            decay=0.0,
            cooldown=500,
            clip=1.0,
            average=3,
            every=20,
            precision="bf16-mixed",
        ),
        batch=32,
        evaluation_interval=100,
    ),
    data="random sequences of 8 to 40 different symbols, each said again and again",
    licence="Apache-2.0: the generator and these weights",
    protocol=(
        "sequences that nobody has learned; from their second time on, without the first symbol of"
        " each time"
    ),
    published=None,
    chosen="generated",
    reported="generated, other seed",
    target=0.8,
    own="",
)
# Three passes over the text as pieces; because each piece repeats three times, there is dropout.
WORDS = dataclasses.replace(
    PLAIN,
    config=Config(pieces=VOCABULARY, d_model=192, d_ff=768, n_layers=4, dropout=0.1),
    recipe=Recipe(
        Schedule(
            steps=2700,
            warmup=150,
            decay=0.0,
            cooldown=1600,
            clip=1.0,
            average=3,
            every=20,
            precision="bf16-mixed",
        ),
        evaluation_interval=300,
    ),
    data=(
        f"{PLAIN.data}; the sentences of 8,530 film reviews (Pang and Lee, 2005) without their"
        " labels"
    ),
    protocol=(
        "windows of 256 pieces that overlap by half, the second half counts; a paragraph is one"
        " line; bits of pieces over characters"
    ),
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
    "one_layer": dataclasses.replace(
        INDUCTION, config=dataclasses.replace(INDUCTION.config, n_layers=1), target=None
    ),
}


class Objective(nn.Module):
    """The training objective: −log p of the next symbol, plus the losses of all auxiliary
    predictions (Al-Rfou et al., §3).

    Layer l of n, from 1, stops predicting after l / 2n of the training, so the lowest stops first.
    """

    def __init__(self, model: nn.Module, everywhere: bool) -> None:
        super().__init__()
        assert isinstance(model, LanguageModel)
        self.model = model
        self._positions = slice(None) if everywhere else slice(-1, None)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the sum of losses in nats and the number of next symbols."""
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


def draw_windows(
    texts: Sequence[NDArray[Any]],
    count: int,
    window: int,
    generator: np.random.Generator,
    done: float,
) -> Batch:
    """Draw `count` windows as `models.data.windows.draw_character_windows` does, each with the
    symbol after next."""
    before, wanted = draw_character_windows(texts, count, window + 1, HIDDEN, generator)
    return Batch(
        before[:, :-1].contiguous(), wanted[:, :-1].contiguous(), wanted[:, 1:].contiguous(), done
    )


def make_window_reader(model: LanguageModel, text: NDArray[Any]) -> bits_per_character.Read:
    """Return a reader of windows of a text, each without a past
    (`models.evaluation.bits_per_character`)."""
    device = model.readout.weight.device
    return windows.make_window_reader(
        text,
        model.start,
        lambda before, wanted: windows.measure_nats(model(before.to(device)), wanted),
    )


def mean_bits(model: LanguageModel, text: NDArray[np.uint8], everywhere: bool = True) -> float:
    """Return the bits per character of a text in windows that overlap by half.

    If only the last position is trained to predict, use the last position of each window.
    """
    read, window = make_window_reader(model, text), model.config.window
    if everywhere:
        return float(
            bits_per_character.build_figure("", [bits_per_character.Text(len(text), read)], window)[
                "value"
            ]
        )
    return last_bits(read, len(text), window)


def last_bits(read: bits_per_character.Read, length: int, window: int, step: int = 61) -> float:
    """Return the bits per character of every `step`-th character with a whole window before it,
    predicted from the window's last position."""
    begins = np.arange(0, length - window, step)
    nats = [
        read(begins[i : i + bits_per_character.TOGETHER], window)[:, -1]
        for i in range(0, len(begins), bits_per_character.TOGETHER)
    ]
    return float(np.concatenate(nats).mean(dtype=np.float64) / np.log(2))


def plan(job: Job[Task]) -> Plan[Batch]:
    """Plan a training on windows of the training books, as characters or as pieces."""
    task, recipe = job.task, job.recipe
    if task.config.pieces:
        return _plan_of_pieces(job)
    if not task.config.d_ff:
        return _plan_of_copying(job)
    shelf = [book.text for book in read_books(job.data, "train")]
    config = dataclasses.replace(task.config, letters=Alphabet.from_texts(shelf).letters)
    alphabet = Alphabet(config.letters)
    texts = [alphabet.encode(text) for text in shelf]
    held_out = np.concatenate(
        [alphabet.encode(book.text) for book in read_books(job.data, task.chosen)]
    )[:WATCHED]
    return Plan(
        lambda: LanguageModel(config),
        lambda model: Objective(model, task.everywhere),
        lambda model: mean_bits(model, held_out, task.everywhere),
        loop.make_muon,
        lambda generator, done: draw_windows(texts, recipe.batch, config.window, generator, done),
    )


def _plan_of_pieces(job: Job[Task]) -> Plan[Batch]:
    config, learned = job.task.config, read_corpus(job.data)
    pieces = Pieces.train(learned, config.pieces)
    texts = pieces.encode_all(learned)
    held_out = "\n".join(
        join_broken_lines(book.text) for book in read_books(job.data, job.task.chosen)
    )[:WATCHED]
    return Plan(
        lambda: LanguageModel(config),
        lambda model: Objective(model, True),
        lambda model: bits_of_pieces(model, pieces, "", [held_out])["value"],
        loop.make_muon,
        lambda generator, done: draw_windows(
            texts, job.recipe.batch, config.window, generator, done
        ),
        finish=lambda where: pieces.save(where / PIECES),
        trial=0.08,  # for each rate, 15 % of this long run would take as long as the run itself
    )


def _plan_of_copying(job: Job[Task]) -> Plan[Batch]:
    config = job.task.config

    def draw(generator: np.random.Generator, done: float) -> Batch:
        values = torch.from_numpy(
            induction.sequences(
                len(config.letters), job.recipe.batch, config.window + 2, generator
            )[0]
        )
        return Batch(
            values[:, :-2].contiguous(),
            values[:, 1:-1].contiguous(),
            values[:, 2:].contiguous(),
            done,
        )

    return Plan(
        lambda: LanguageModel(config),
        lambda model: Objective(model, True),
        lambda model: 1 - induction.measure_induction(model, seed=1)["value"],
        loop.make_muon,
        draw,
    )


def bits_of_pieces(
    model: LanguageModel, pieces: Pieces, split: str, texts: Sequence[str]
) -> dict[str, Any]:
    """Return the bits per character of texts whose pieces hold several characters."""
    numbers = pieces.encode_all(texts)
    figure = bits_per_character.build_figure(
        split,
        [bits_per_character.Text(len(one), make_window_reader(model, one)) for one in numbers],
        model.config.window,
    )
    characters = sum(map(len, texts))
    share = figure["n"] / characters
    by = {way: round(value * share, 4) for way, value in figure["by_reading"].items()}
    more = {"pieces": figure["n"], "bits_per_piece": figure["value"]}
    return {
        **figure,
        "value": round(figure["value"] * share, 4),
        "n": characters,
        "by_reading": by,
        **more,
    }


def bits_with_breaks_as_spaces(model: LanguageModel, texts: Sequence[str]) -> dict[str, Any]:
    """Return the bits per character if a line break inside a paragraph counts as a space, {value,
    n}.

    The model of pieces reads paragraphs of one line, so it does not predict line breaks.
    """
    numbers = [model.alphabet.encode(text) for text in texts]
    rows = [bits_per_character.Text(len(one), _blanks_joined(model, one)) for one in numbers]
    figure = bits_per_character.build_figure("", rows, model.config.window)
    return {"value": figure["value"], "n": figure["n"]}


def _blanks_joined(model: LanguageModel, text: NDArray[np.uint8]) -> bits_per_character.Read:
    """Return a reader like `make_window_reader` for which a space and a line break inside a
    paragraph are both right."""
    device = model.readout.weight.device
    space, broken = (int(one) for one in model.alphabet.encode(" \n"))
    if UNKNOWN in (space, broken):  # possible with a user's own text
        return make_window_reader(model, text)
    lines = np.pad(text == broken, 1)
    blank = (text == space) | (lines[1:-1] & ~lines[:-2] & ~lines[2:])
    before = np.concatenate(([model.start], text[:-1])).astype(np.int64)

    @torch.no_grad()
    def read(begins: NDArray[np.int64], length: int) -> NDArray[np.float32]:
        places = begins[:, None] + np.arange(length)
        logits = model(torch.from_numpy(before[places]).to(device)).float()
        wanted, either = (
            torch.from_numpy(text[places].astype(np.int64)).to(device),
            torch.from_numpy(blank[places]).to(device),
        )
        own = logits.gather(-1, wanted[..., None])[..., 0]
        said = torch.where(either, logits[..., [space, broken]].logsumexp(-1), own)
        found: NDArray[np.float32] = (logits.logsumexp(-1) - said).cpu().numpy()
        return found

    return read


def measure(asked: FigureRequest[Task]) -> Measurement:
    """Measure the bits per character of a split's books.

    `last_position`: of a sample of characters, each read with a whole window before it.
    `breaks_as_spaces`: counted as for the model of pieces.
    """
    model: LanguageModel = asked.shipped.model
    window = model.config.window
    if not model.config.d_ff:
        figure = induction.measure_induction(model) | {"split": asked.split}
        if asked.variant == "induction":
            figure["one_layer"] = induction.measure_induction(
                read(checkpoint.find_folder(SLUG, "one_layer")).model
            )["value"]
        layer, head = figure["head"]
        said = (
            f"{figure['value']:.1%} copied; without head {layer + 1}·{head + 1},"
            f" {figure['silenced']:.1%}"
        )
        return Measurement(figure, said, higher=True)
    if model.config.pieces:
        texts = [join_broken_lines(book.text) for book in read_books(asked.data, asked.split)]
        figure = bits_of_pieces(model, Pieces.load(asked.where / PIECES), asked.split, texts)
        return Measurement(figure, bits_per_character.describe_figure(figure))
    shelf = [book.text for book in read_books(asked.data, asked.split)]
    numbers = [model.alphabet.encode(text) for text in shelf]
    figure = bits_per_character.build_figure(
        asked.split,
        [bits_per_character.Text(len(text), make_window_reader(model, text)) for text in numbers],
        window,
    )
    last = float(
        np.mean([last_bits(make_window_reader(model, text), len(text), window) for text in numbers])
    )
    figure |= {"last_position": round(last, 4), "used_parameters": model.parameters_used}
    figure["breaks_as_spaces"] = bits_with_breaks_as_spaces(model, shelf)
    return Measurement(
        figure,
        f"{bits_per_character.describe_figure(figure)}\n  {last:.4f} at the last position of a"
        " whole window",
    )


LAB = LabModels(SLUG, VARIANTS, read, plan, measure, rates=(6e-3, 1.2e-2, 2.4e-2))
task_of = LAB.task_of


def train(data: Path, runs: Path, variant: str = "", **how: Any) -> Path:
    """Train a variant as `LabModels.train` does; `polarity` is not one model, so run every training
    of its curve."""
    return (
        labels.curve(data, runs) if variant == "polarity" else LAB.train(data, runs, variant, **how)
    )


def evaluate(data: Path, variant: str = "", **how: Any) -> dict[str, Any]:
    """Evaluate a variant as `LabModels.evaluate` does; for `polarity`, return the accuracy with
    each number of labels."""
    return (
        polarity.average_figures(SLUG)
        if variant == "polarity"
        else LAB.evaluate(data, variant, **how)
    )


def examples() -> Path:
    """Store the first example's explanation, and a fine-tuning beside it, however long it takes;
    return the first file."""
    from models.language_model.explain import explain

    # A user's own model has no first example.
    if (folders.find_lab_folder(SLUG) / "words" / "model.json").is_file():
        store_first(SLUG, lambda asked: labels.live(asked[0], math.inf), LEARN, LEARNED)
    return store_first(SLUG, explain, EXAMPLES[0])
