"""How the models of music are made and measured."""

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

from models import checkpoint, driver, training
from models.driver import Asked, Job, Lab, Measured, Plan, published
from models.music import chorales, events, lstm
from models.music.data import batch_of, drawn_pieces
from models.music.model import Config, MusicTransformer
from models.music.performances import Augmentation, cut_at_notes, drawn_window, performances
from models.music.pretrained import SLUG, Network, read
from models.music.records import CHORALES as CHORALES_GIVEN
from models.music.records import PIANO as PIANO_GIVEN
from models.music.records import styles
from models.pretrained import store_first
from models.training import NextSymbol, Schedule
from models.windows import Batch, moved, nats

PARTS = 32  # parts of a window whose losses are told one by one


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """How a network is trained."""

    batch: int = 4  # whole chorales, or windows of performances
    window: int = 0  # events of a window; 0 where pieces are read whole
    augmentation: Augmentation | None = None
    kept: int = 0  # distances that E_r keeps after training, those beyond sharing its last; 0 for all


@dataclass(frozen=True)
class Task(driver.Task):
    """What a variant learns, and beside which figure it stands."""

    build: Callable[[], Network]  # the network, nothing learned yet

    @property
    def of_chorales(self) -> bool:
        """Chorales, read whole on their grid; else performances."""
        return not self.recipe.window


CHORALES = Task(
    # 207 chorales in every key are many more: at half the dropout that they need in their own keys nothing is learned by heart.
    build=lambda: MusicTransformer(Config(chorales.CELLS, distances=512, cycles=(4, 64), dropout=0.2)),
    recipe=Recipe(
        Schedule(steps=4000, warmup=100, decay=0.0, cooldown=2700, average=5, every=40),
        batch=2,
        round=400,
        augmentation=Augmentation(semitones=6, stretches=(1.0,)),
    ),
    published=published(
        0.357,
        "Huang et al. (2018), note-wise negative log-likelihood on the validation chorales",
        "The same chorales on the same grid of sixteenths; their model is larger and was trained for far longer, but was not told voice "
        "and bar, as ours are (with all that, in print 0.335).",
        "使用同样的众赞歌和同样的十六分音符网格；他们的模型更大，训练时间也长得多，但没有像这里那样告知声部与小节位置（全部用上时发表值为 "
        "0.335）。",
        comparable=True,
    ),
    protocol="whole chorales from their beginning, every cell of the grid counting",
    chosen="dev",
    reported="valid",
    metric="nats per grid cell",
    data="Bach chorales on a grid of sixteenths: 207 to learn from, 22 to choose by, 76 held out (github.com/czhuang/JSB-Chorales-dataset)",
    licence="no licence file with the encoding; Bach's music is in the public domain. Apache-2.0: these weights",
    target=0.44,
)
PIANO = Task(
    # As large as what can be read in half an hour of a core: every note at most once, so nothing needs dropping out.
    build=lambda: MusicTransformer(
        Config(events.EVENTS, distances=512, d_model=128, d_ff=512, n_heads=4, n_layers=4, dropout=0.0, longest=16_384)
    ),
    recipe=Recipe(
        Schedule(steps=1800, warmup=100, decay=0.0, cooldown=900, average=3, every=20),
        batch=8,
        window=512,
        augmentation=Augmentation(),
        # Distance d is met by 512 − d queries of a window: what the last quarter learned from so few misleads where a longer window meets
        # it at every query. Held-out windows of 1,024: the second half costs 2.58 nats with all of E_r, 2.41 with 384 or 256 of it.
        kept=384,
    ),
    published=published(
        1.835,
        "Huang et al. (2018), Piano-e-Competition, validation",
        "Other performances, about twice as many, and a larger model trained for far longer.",
        "所用的演奏不同，数量约为两倍；模型更大，训练时间也长得多。",
    ),
    protocol="windows of 512 events cut as in training: at a note, as if nothing had sounded before",
    chosen="valid",
    metric="nats per event",
    data="ASAP: 851 performances of 159 piano compositions to learn from, transposed and stretched (github.com/fosfrancesco/asap-dataset)",
    licence="CC BY-NC-SA 4.0: ASAP (Foscarin et al., 2020) and these weights",
    own="midi",
)


def without_distances(task: Task) -> Callable[[], MusicTransformer]:
    """The same network with sinusoids in the place of relative attention."""

    def build() -> MusicTransformer:
        config = task.build().config
        assert isinstance(config, Config)
        return MusicTransformer(dataclasses.replace(config, distances=0))

    return build


VARIANTS: dict[str, Task] = {
    "jsb_relative": CHORALES,
    "jsb_transformer": dataclasses.replace(
        CHORALES, build=without_distances(CHORALES), published={**(CHORALES.published or {}), "value": 0.417}, target=None
    ),
    "relative": PIANO,
    "transformer": dataclasses.replace(PIANO, build=without_distances(PIANO), published={**(PIANO.published or {}), "value": 1.861}),
    "lstm": dataclasses.replace(
        PIANO,
        build=lambda: lstm.PerformanceRNN(lstm.Config(events.EVENTS, d_model=256, dropout=0.0)),
        published={**(PIANO.published or {}), "value": 1.969},
    ),
}


Objective = partial(NextSymbol, said=lambda model, batch: (model(batch.before), batch.wanted))


@torch.no_grad()
def costs(model: nn.Module, sequences: Sequence[NDArray[np.int64]], size: int = 4) -> list[NDArray[np.float64]]:
    """−log p in nats of every event of every sequence, each read from its own beginning; `size` of them at once, like lengths together."""
    device = next(model.parameters()).device
    model.eval()
    found: list[NDArray[np.float64]] = [np.zeros(0)] * len(sequences)
    order = sorted(range(len(sequences)), key=lambda i: len(sequences[i]))
    for begin in range(0, len(order), size):
        rows = order[begin : begin + size]
        batch = moved(batch_of([sequences[i] for i in rows], model.start), device)  # type: ignore[arg-type]
        for i, row in zip(rows, nats(model(batch.before), batch.wanted).astype(np.float64), strict=True):
            found[i] = row[: len(sequences[i])]
    return found


def mean_cost(model: nn.Module, sequences: Sequence[NDArray[np.int64]]) -> float:
    """Nats per event over all events of all sequences."""
    return float(np.concatenate(costs(model, sequences)).mean())


def windows(sequences: Sequence[NDArray[np.int64]], length: int) -> list[NDArray[np.int64]]:
    """Sequences cut into windows of `length` events, one after another; the last of each may be shorter."""
    return [sequence[i : i + length] for sequence in sequences for i in range(0, len(sequence), length)]


def sequences_of(task: Task, data: Path, split: str) -> list[NDArray[np.int64]]:
    """A split as sequences of events, whole pieces, nothing about them changed."""
    if task.of_chorales:
        return list(chorales.chorales(data, split))
    return [one.events() for one in performances(data, split)]


def _draw(task: Task, recipe: Recipe, data: Path) -> Callable[[np.random.Generator, float], Batch]:
    """What `driver.Drawn` draws batches with."""
    augmentation = recipe.augmentation or Augmentation(0, (1.0,))
    if task.of_chorales:
        pieces = chorales.chorales(data, "train")

        def pieces_drawn(generator: np.random.Generator, done: float) -> Batch:
            drawn = drawn_pieces(pieces, recipe.batch, generator)
            return batch_of([chorales.transposed(one, augmentation.semitones, generator) for one in drawn], chorales.START)

        return pieces_drawn
    played = performances(data, "train")

    def draw(generator: np.random.Generator, done: float) -> Batch:
        return batch_of([drawn_window(played, recipe.window, augmentation, generator) for _ in range(recipe.batch)], events.START)

    return draw


def plan(job: Job[Task]) -> Plan[Batch]:
    """Whole chorales, or windows of performances."""
    task, recipe = job.task, job.recipe
    held_out = sequences_of(task, job.data, task.chosen)
    held_out = held_out if task.of_chorales else windows(held_out, recipe.window)[::97]
    return Plan(
        task.build,
        Objective,
        lambda model: mean_cost(model, held_out),
        training.muon,
        _draw(task, recipe, job.data),
        finish=lambda where: shorten(where, recipe.kept) if recipe.kept else None,
    )


def shorten(where: Path, kept: int) -> None:
    """Leave a checkpoint's E_r the distances 0 … kept − 1; what has no E_r, or a shorter one, stays as it is."""
    shipped = read(where, "cpu")
    config = shipped.model.config
    if not isinstance(config, Config) or config.distances <= kept:
        return
    state = {name: value[:, :kept] if name.endswith(".table") else value for name, value in shipped.model.state_dict().items()}
    checkpoint.save(where, state, {**shipped.facts, "config": dataclasses.asdict(dataclasses.replace(config, distances=kept))})


def _read(
    model: Network, task: Task, split: str, sequences: Sequence[NDArray[np.int64]], pieces: int
) -> tuple[dict[str, Any], list[NDArray[np.float64]]]:
    """What an event of these sequences costs on average, each read from its own beginning; and what each event of each costs, in nats."""
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


def measured(model: Network, task: Task, data: Path, split: str, times: int) -> dict[str, Any]:
    """Nats per event of a split, everything before an event in its window, or piece, given.

    Chorales are read whole. Performances are read in windows as long as those of training, cut as there: at a note. `cut_anywhere` is what
    they cost where each window begins right after the last event of the one before, among sounding notes that the model is not told of:
    what no model was trained for. Windows `times` as long are cut anywhere; full ones tell the loss of their first and second half, and of
    PARTS parts one by one.
    """
    if task.of_chorales:
        if times != 1:
            raise ValueError("chorales are read whole, in training too: --times is for performances")
        whole = sequences_of(task, data, split)
        return _read(model, task, split, whole, len(whole))[0]
    length, played = task.recipe.window * times, performances(data, split)
    anywhere = windows([one.events() for one in played], length)
    if times == 1:
        figure, _ = _read(model, task, split, [window for one in played for window in cut_at_notes(one, length)], len(played))
        figure["cut_anywhere"] = round(float(np.concatenate(costs(model, anywhere)).mean()), 4)
    else:
        figure, found = _read(model, task, split, anywhere, len(played))
        full = np.stack([one for one in found if len(one) == length])
        first, second = (float(half.mean()) for half in np.array_split(full, 2, axis=1))
        figure |= {"times": times, "first_half": round(first, 4), "second_half": round(second, 4), "ratio": round(second / first, 4)}
        figure["by_position"] = [round(float(part.mean()), 4) for part in np.array_split(full, PARTS, axis=1)]
    return figure


def measure(asked: Asked[Task], times: int) -> Measured:
    """Read every piece of a split and measure what an event costs; in windows so many `times` as long as those of training."""
    task = asked.task
    figure = measured(asked.shipped.model, task, asked.data, asked.split, times)
    said = f"{figure['value']:.4f} {task.metric} on the {figure['pieces']} pieces of {asked.split}, {figure['n']:,} events"
    if "cut_anywhere" in figure:
        said += f"; {figure['cut_anywhere']:.4f} where windows are cut anywhere, and not at a note as in training"
    return Measured(figure, said, "figure" if times == 1 else f"figure_times_{times}")


LAB = Lab(
    SLUG,
    VARIANTS,
    read,
    plan,
    measure,
    rates=(6e-3, 1.2e-2, 2.4e-2),
    options={"times": {"type": int, "default": 1, "help": "read windows so many times as long as those of training"}},
)
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of


def examples() -> Path:
    """Store the first example of a style that has a model; returns its file."""
    from models.music.explain import explain

    return store_first(SLUG, explain, next(one for one in (*CHORALES_GIVEN, *PIANO_GIVEN) if one.style in styles()))
