"""Training and measurement of the models of music."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from models.checkpoints import checkpoint
from models.checkpoints.pretrained import store_first
from models.data.windows import SymbolBatch, measure_nats, move_batch
from models.music import chorales, events, lstm
from models.music.data import batch_of, drawn_pieces
from models.music.model import Config, MusicTransformer
from models.music.performances import Augmentation, cut_at_notes, drawn_window, performances
from models.music.pretrained import SLUG, Network, read
from models.music.records import CHORALES as CHORALES_GIVEN
from models.music.records import PIANO as PIANO_GIVEN
from models.music.records import styles
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

PARTS = 32  # parts of a window with separate losses


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """The settings of training."""

    batch: int = 4  # whole chorales, or windows of performances
    window: int = 0  # events of a window; 0 if pieces are read whole
    augmentation: Augmentation | None = None
    # Distances that E_r keeps after training; those beyond share its last; 0 for all.
    kept: int = 0


@dataclass(frozen=True)
class Task(driver.Task):
    """A variant's task, and the figure to compare with."""

    build: Callable[[], Network]  # returns an untrained network

    @property
    def of_chorales(self) -> bool:
        """Whether the task has chorales, read whole on their grid, instead of performances."""
        return not self.recipe.window


CHORALES = Task(
    # In every key, the 207 chorales become many more: half the dropout that they need in their own
    # keys is enough against overfitting.
    build=lambda: MusicTransformer(
        Config(chorales.CELLS, distances=512, cycles=(4, 64), dropout=0.2)
    ),
    recipe=Recipe(
        Schedule(steps=4000, warmup=100, decay=0.0, cooldown=2700, average=5, every=40),
        batch=2,
        evaluation_interval=400,
        augmentation=Augmentation(semitones=6, stretches=(1.0,)),
    ),
    published=describe_published(
        0.357,
        "Huang et al. (2018), note-wise negative log-likelihood on the validation chorales",
        "The same chorales on the same grid of sixteenths; their model is larger and was trained"
        " for far longer, but was not told voice and bar, as ours are (with all that, in print"
        " 0.335).",
        "使用同样的众赞歌和同样的十六分音符网格；他们的模型更大，训练时间也长得多，"
        "但没有像这里那样告知声部与小节位置（全部用上时发表值为 "
        "0.335）。",
        comparable=True,
    ),
    protocol="whole chorales from their beginning, every cell of the grid counting",
    chosen="dev",
    reported="valid",
    metric="nats per grid cell",
    data=(
        "Bach chorales on a grid of sixteenths: 207 to learn from, 22 to choose by, 76 held out"
        " (github.com/czhuang/JSB-Chorales-dataset)"
    ),
    licence=(
        "no licence file with the encoding; Bach's music is in the public domain. Apache-2.0: these"
        " weights"
    ),
    target=0.44,
)
PIANO = Task(
    # The number of events that one core reads in half an hour: no note repeats, so dropout is not
    # needed.
    build=lambda: MusicTransformer(
        Config(
            events.EVENTS,
            distances=512,
            d_model=128,
            d_ff=512,
            n_heads=4,
            n_layers=4,
            dropout=0.0,
            longest=16_384,
        )
    ),
    recipe=Recipe(
        Schedule(steps=1800, warmup=100, decay=0.0, cooldown=900, average=3, every=20),
        batch=8,
        window=512,
        augmentation=Augmentation(),
        # Distance d occurs for 512 − d queries of a window. The last quarter is trained on few
        # examples, and it misleads in longer windows, where every query has it. In held-out windows
        # of 1,024, the second half costs 2.58 nats with all of E_r, 2.41 with 384 or 256 distances.
        kept=384,
    ),
    published=describe_published(
        1.835,
        "Huang et al. (2018), Piano-e-Competition, validation",
        "Other performances, about twice as many, and a larger model trained for far longer.",
        "所用的演奏不同，数量约为两倍；模型更大，训练时间也长得多。",
    ),
    protocol=(
        "windows of 512 events cut as in training: at a note, as if nothing had sounded before"
    ),
    chosen="valid",
    metric="nats per event",
    data=(
        "ASAP: 851 performances of 159 piano compositions to learn from, transposed and stretched"
        " (github.com/fosfrancesco/asap-dataset)"
    ),
    licence="CC BY-NC-SA 4.0: ASAP (Foscarin et al., 2020) and these weights",
    own="midi",
)


def without_distances(task: Task) -> Callable[[], MusicTransformer]:
    """Return the same network with sinusoids instead of relative attention."""

    def build() -> MusicTransformer:
        config = task.build().config
        assert isinstance(config, Config)
        return MusicTransformer(dataclasses.replace(config, distances=0))

    return build


VARIANTS: dict[str, Task] = {
    "jsb_relative": CHORALES,
    "jsb_transformer": dataclasses.replace(
        CHORALES,
        build=without_distances(CHORALES),
        published={**(CHORALES.published or {}), "value": 0.417},
        target=None,
    ),
    "relative": PIANO,
    "transformer": dataclasses.replace(
        PIANO, build=without_distances(PIANO), published={**(PIANO.published or {}), "value": 1.861}
    ),
    "lstm": dataclasses.replace(
        PIANO,
        build=lambda: lstm.PerformanceRNN(lstm.Config(events.EVENTS, d_model=256, dropout=0.0)),
        published={**(PIANO.published or {}), "value": 1.969},
    ),
}


Objective = partial(NextSymbol, said=lambda model, batch: (model(batch.before), batch.wanted))


@torch.no_grad()
def costs(
    model: nn.Module, sequences: Sequence[NDArray[np.int64]], size: int = 4
) -> list[NDArray[np.float64]]:
    """Return −log p in nats of every event of every sequence, each read from its own beginning.

    `size` sequences of similar length are read at once.
    """
    device = next(model.parameters()).device
    model.eval()
    found: list[NDArray[np.float64]] = [np.zeros(0)] * len(sequences)
    order = sorted(range(len(sequences)), key=lambda i: len(sequences[i]))
    for begin in range(0, len(order), size):
        rows = order[begin : begin + size]
        batch = move_batch(batch_of([sequences[i] for i in rows], model.start), device)  # type: ignore[arg-type]
        for i, row in zip(
            rows, measure_nats(model(batch.before), batch.wanted).astype(np.float64), strict=True
        ):
            found[i] = row[: len(sequences[i])]
    return found


def mean_cost(model: nn.Module, sequences: Sequence[NDArray[np.int64]]) -> float:
    """Return the nats per event over all events of all sequences."""
    return float(np.concatenate(costs(model, sequences)).mean())


def windows(sequences: Sequence[NDArray[np.int64]], length: int) -> list[NDArray[np.int64]]:
    """Cut sequences into windows of `length` events; the last of each may be shorter."""
    return [
        sequence[i : i + length] for sequence in sequences for i in range(0, len(sequence), length)
    ]


def sequences_of(task: Task, data: Path, split: str) -> list[NDArray[np.int64]]:
    """Load a split as sequences of events: whole pieces without changes."""
    if task.of_chorales:
        return list(chorales.chorales(data, split))
    return [one.events() for one in performances(data, split)]


def _draw(
    task: Task, recipe: Recipe, data: Path
) -> Callable[[np.random.Generator, float], SymbolBatch]:
    """Return the function with which `driver.SeededBatches` draws batches."""
    augmentation = recipe.augmentation or Augmentation(0, (1.0,))
    if task.of_chorales:
        pieces = chorales.chorales(data, "train")

        def pieces_drawn(generator: np.random.Generator, done: float) -> SymbolBatch:
            drawn = drawn_pieces(pieces, recipe.batch, generator)
            return batch_of(
                [chorales.transpose(one, augmentation.semitones, generator) for one in drawn],
                chorales.START,
            )

        return pieces_drawn
    played = performances(data, "train")

    def draw(generator: np.random.Generator, done: float) -> SymbolBatch:
        return batch_of(
            [
                drawn_window(played, recipe.window, augmentation, generator)
                for _ in range(recipe.batch)
            ],
            events.START,
        )

    return draw


def plan(job: Job[Task]) -> Plan[SymbolBatch]:
    """Plan a training on whole chorales or windows of performances."""
    task, recipe = job.task, job.recipe
    held_out = sequences_of(task, job.data, task.chosen)
    held_out = held_out if task.of_chorales else windows(held_out, recipe.window)[::97]
    return Plan(
        task.build,
        Objective,
        lambda model: mean_cost(model, held_out),
        loop.make_muon,
        _draw(task, recipe, job.data),
        finish=lambda where: shorten(where, recipe.kept) if recipe.kept else None,
    )


def shorten(where: Path, kept: int) -> None:
    """Shorten the E_r of a checkpoint to distances 0 … kept − 1; without an E_r, or with a shorter
    one, change nothing."""
    shipped = read(where, "cpu")
    config = shipped.model.config
    if not isinstance(config, Config) or config.distances <= kept:
        return
    state = {
        name: value[:, :kept] if name.endswith(".table") else value
        for name, value in shipped.model.state_dict().items()
    }
    checkpoint.save_checkpoint(
        where,
        state,
        {
            **shipped.facts,
            "config": dataclasses.asdict(dataclasses.replace(config, distances=kept)),
        },
    )


def _read(
    model: Network, task: Task, split: str, sequences: Sequence[NDArray[np.int64]], pieces: int
) -> tuple[dict[str, Any], list[NDArray[np.float64]]]:
    """Return the mean cost of an event of these sequences, each read from its own beginning, and
    the cost of each event in nats."""
    found = costs(model, sequences)
    every = np.concatenate(found)
    figure: dict[str, Any] = {
        "metric": task.metric,
        "split": split,
        "value": round(float(every.mean()), 4),
        "n": len(every),
        "pieces": pieces,
    }
    if not task.of_chorales:
        seconds = sum(events.milliseconds(one) for one in sequences) / 1000
        figure["bits_per_second"] = round(float(every.sum()) / math.log(2) / seconds, 2)
    return figure, found


def measure_split(model: Network, task: Task, data: Path, split: str, times: int) -> dict[str, Any]:
    """Return the nats per event of a split, given everything before an event in its window or
    piece.

    Chorales are read whole. Performances are read in windows as long as those of training, cut at
    notes in the same way. `cut_anywhere` is the cost if each window starts right after the last
    event of the one before, among sounding notes unknown to the model, for which no model was
    trained. Windows `times` as long are cut anywhere; full ones give the loss of their first and
    second half, and of each of PARTS parts.
    """
    if task.of_chorales:
        if times != 1:
            raise ValueError(
                "chorales are read whole, in training too: --times is for performances"
            )
        whole = sequences_of(task, data, split)
        return _read(model, task, split, whole, len(whole))[0]
    length, played = task.recipe.window * times, performances(data, split)
    anywhere = windows([one.events() for one in played], length)
    if times == 1:
        figure, _ = _read(
            model,
            task,
            split,
            [window for one in played for window in cut_at_notes(one, length)],
            len(played),
        )
        figure["cut_anywhere"] = round(float(np.concatenate(costs(model, anywhere)).mean()), 4)
    else:
        figure, found = _read(model, task, split, anywhere, len(played))
        full = np.stack([one for one in found if len(one) == length])
        first, second = (float(half.mean()) for half in np.array_split(full, 2, axis=1))
        figure |= {
            "times": times,
            "first_half": round(first, 4),
            "second_half": round(second, 4),
            "ratio": round(second / first, 4),
        }
        figure["by_position"] = [
            round(float(part.mean()), 4) for part in np.array_split(full, PARTS, axis=1)
        ]
    return figure


def measure(asked: FigureRequest[Task], times: int) -> Measurement:
    """Measure the cost of an event over every piece of a split, in windows `times` as long as those
    of training."""
    task = asked.task
    figure = measure_split(asked.shipped.model, task, asked.data, asked.split, times)
    said = (
        f"{figure['value']:.4f} {task.metric} on the {figure['pieces']} pieces of {asked.split},"
        f" {figure['n']:,} events"
    )
    if "cut_anywhere" in figure:
        said += (
            f"; {figure['cut_anywhere']:.4f} where windows are cut anywhere, and not at a note as"
            " in training"
        )
    return Measurement(figure, said, "figure" if times == 1 else f"figure_times_{times}")


LAB = LabModels(
    SLUG,
    VARIANTS,
    read,
    plan,
    measure,
    rates=(6e-3, 1.2e-2, 2.4e-2),
    options={
        "times": {
            "type": int,
            "default": 1,
            "help": "read windows so many times as long as those of training",
        }
    },
)
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of


def examples() -> Path:
    """Store the first example of a style with a model; return its file."""
    from models.music.explain import explain

    return store_first(
        SLUG, explain, next(one for one in (*CHORALES_GIVEN, *PIANO_GIVEN) if one.style in styles())
    )
