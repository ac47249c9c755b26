"""Training and measurement of the three models of adaptive span."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from models.adaptive_span.data import HIDDEN, alphabet_of, spread_windows
from models.adaptive_span.decode import Reader
from models.adaptive_span.model import Config, SpanTransformer, network
from models.adaptive_span.pretrained import SLUG, read
from models.data.characters import UNKNOWN, read_books
from models.data.windows import (
    draw_character_windows,
    find_unusual_bound,
    make_batch,
    make_window_reader,
    measure_nats,
    move_batch,
)
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
from models.training.loop import Schedule

PAGE = 512  # characters of a page, for the bits per page
CHUNK = 1024  # characters read at once in a measurement
WATCHED = 24  # windows of the validation book that are measured after each interval


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """The settings of training."""

    batch: int  # windows
    # Characters of a window: twice S, so that half of them have the full past that a span can
    # reach.
    window: int
    # The penalty in nats for a mean span of S: λ S. As a share of S it means the same for every S.
    penalty: float = 0.0
    free: float = 0.0  # share of training during which spans cost nothing


@dataclass(frozen=True)
class Size:
    """The network and recipe for one kind of device; the alphabet comes from the data."""

    config: Config
    recipe: Recipe


# On a CPU: the text that one core reads in half an hour. On a GPU: twice the span, and the largest
# network that fits into a file.
ON_CPU = Size(
    Config("", span=512),
    Recipe(
        Schedule(steps=2000, warmup=100, decay=0.0, cooldown=1000, average=3, every=20),
        batch=4,
        window=1024,
        evaluation_interval=200,
    ),
)
ON_GPU = Size(
    Config("", span=1024, d_model=256, d_ff=1024, n_heads=8, n_layers=5, dropout=0.1),
    Recipe(
        Schedule(steps=5000, warmup=200, decay=0.0, cooldown=3000, average=5, every=40),
        batch=16,
        window=2048,
        evaluation_interval=250,
    ),
)


@dataclass(frozen=True)
class Task(driver.Task):
    """A variant's task, and the figure to compare with."""

    penalty: float  # of its spans, see `Recipe`
    free: float = 0.0  # see `Recipe`
    sizes: Mapping[str, Size] = dataclasses.field(
        default_factory=lambda: {"cpu": ON_CPU, "cuda": ON_GPU}
    )

    def on_device(self, device: torch.device) -> Self:
        """Return the task with the network and recipe of a device; variants differ only in the
        penalty."""
        size = self.sizes.get(device.type, self.sizes["cpu"])
        recipe = dataclasses.replace(size.recipe, penalty=self.penalty, free=self.free)
        return dataclasses.replace(self, config=size.config, recipe=recipe)


# A mean span of S costs 0.01 nats, 0.014 bits. A head shortens its span once that saves more than
# it loses, so all heads together lose at most the penalty. It lies below the 0.02 bits that the
# adaptive model may fall behind.
PENALTY = 0.01
# Spans start at S and are free until the network has learned to read, because a head cannot learn
# to use positions outside its span. If spans start at 0, no span is longer than 41 after as many
# steps, although the network reads better by then (1.779 bits per character instead of 1.820): it
# learns its short spans sooner. If they are free for 0.6 and 0.4 of training, at least two heads
# keep 200 characters, and the middle head keeps 110 and 65.
FREE = 0.4
ENWIK8 = describe_published(
    1.02,
    "Sukhbaatar et al. (2019), enwik8, 12 layers with adaptive span",
    en=(
        "Bits per byte of Wikipedia's markup, from a model of some 39 million parameters trained"
        " for far longer."
    ),
    zh="数值为维基百科标记文本每字节的比特数；其模型约有 3,900 万参数，训练时间也长得多。",
)
ADAPTIVE = Task(
    PENALTY,
    FREE,
    config=ON_CPU.config,
    recipe=ON_CPU.recipe,
    published=ENWIK8,
    target=2.1,
    own="text",
    **bits_per_character.BOOKS,
)
VARIANTS: dict[str, Task] = {
    "adaptive": ADAPTIVE,
    "fixed": dataclasses.replace(ADAPTIVE, penalty=0.0, free=0.0, published=None, target=None),
    "dynamic": dataclasses.replace(ADAPTIVE, free=0.0, published=None, target=None),
}


class Priced(NamedTuple):
    """A batch with its current span penalty.

    before, wanted: as in a `Batch`. penalty: the current cost of spans, see `Recipe`.
    """

    before: Tensor
    wanted: Tensor
    penalty: float


class Objective(nn.Module):
    """The training objective: −log p of every character, and λ times the mean of all spans (§2.2
    and §2.3)."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        assert isinstance(model, SpanTransformer)
        self.model = model

    def forward(self, batch: Priced) -> tuple[Tensor, Tensor]:
        """Return the sum of losses in nats, with the penalty added per character, and the number of
        characters."""
        logits, spans = self.model(batch.before)
        count = torch.tensor(batch.wanted.numel(), device=batch.wanted.device)
        loss = F.cross_entropy(
            logits.float().flatten(0, 1), batch.wanted.flatten(), reduction="sum"
        )
        if batch.penalty:
            share = torch.stack([z.mean() for z in spans]).mean() / self.model.config.span
            loss = loss + batch.penalty * share * count
        return loss, count


def optimizers(objective: nn.Module, schedule: Schedule) -> list[torch.optim.Optimizer]:
    """Return Muon and Adam (`loop.make_muon`); each step ends by clipping all spans to 0 … S."""
    chosen = loop.make_muon(objective, schedule)
    assert isinstance(objective, Objective)
    model = objective.model
    chosen[-1].register_step_post_hook(lambda *_: model.keep_spans())
    return chosen


@torch.no_grad()
def mean_bits(model: nn.Module, windows: list[NDArray[np.uint8]], size: int = 4) -> float:
    """Return the bits per character over windows of one length, each read without a past."""
    device = next(model.parameters()).device
    parts = [
        move_batch(make_batch(windows[begin : begin + size]), device)
        for begin in range(0, len(windows), size)
    ]
    return float(
        np.concatenate(
            [measure_nats(model(part.before).logits, part.wanted) for part in parts]
        ).mean(dtype=np.float64)
    ) / math.log(2)


def plan(job: Job[Task]) -> Plan[Priced]:
    """Plan a training on windows of the training books."""
    recipe = job.recipe
    shelf = read_books(job.data, "train")
    alphabet = alphabet_of(shelf)
    config = dataclasses.replace(job.task.config, letters=alphabet.letters)
    numbers = [alphabet.encode(book.text) for book in shelf]
    valid = "\n".join(book.text for book in read_books(job.data, job.task.chosen))
    held_out = spread_windows(alphabet.encode(valid), WATCHED, recipe.window)

    def draw(generator: np.random.Generator, done: float) -> Priced:
        read = draw_character_windows(numbers, recipe.batch, recipe.window, HIDDEN, generator)
        return Priced(*read, recipe.penalty if done >= recipe.free else 0.0)

    return Plan(
        lambda: network(job.variant, config),
        Objective,
        lambda model: mean_bits(model, held_out),
        optimizers,
        draw,
        sized=lambda other: network(job.variant, other),
    )


@dataclass(frozen=True)
class ReadOn:
    """The result of reading a whole text once.

    nats: −log p of each character, (position,). z: mean spans, (layer, head), in positions. used:
    the mean of min(S, z + R), (layer, head), in positions.
    """

    nats: NDArray[np.float64]
    z: NDArray[np.float64]
    used: NDArray[np.float64]


def read_on(model: SpanTransformer, text: NDArray[np.uint8], chunk: int = CHUNK) -> ReadOn:
    """Read a text from beginning to end, remembering per head only its span.

    Each character therefore has the whole past that its model can use, however far into the book it
    stands.
    """
    config, device = model.config, model.readout.weight.device
    reader = Reader(model, 1)
    wanted = torch.from_numpy(text.astype(np.int64)).to(device)
    before = torch.cat((wanted.new_tensor([model.start]), wanted[:-1]))
    costs = []
    z, used = (
        torch.zeros(config.n_layers, config.n_heads, dtype=torch.float64),
        torch.zeros(config.n_layers, config.n_heads).double(),
    )
    for begin in range(0, len(text), chunk):
        here = slice(begin, begin + chunk)
        logits = reader.read(before[None, here])
        costs.append(measure_nats(logits, wanted[None, here])[0].astype(np.float64))
        count = len(costs[-1])
        for layer, one in enumerate(reader.spans):
            z[layer] += one[0].double().mean(1).cpu() * count
            used[layer] += (one[0].double() + config.ramp).clamp(max=config.span).mean(
                1
            ).cpu() * count
    return ReadOn(np.concatenate(costs), (z / len(text)).numpy(), (used / len(text)).numpy())


def measure_books(model: SpanTransformer, data: Path, split: str) -> dict[str, Any]:
    """Measure the bits per character of a split's books, and the spans while reading each book in
    one go.

    mean_span: positions, min(S, z + R), the ramp included as in the paper. share: the same as a
    share of S. median_span: z of the head in the middle, without the ramp. heads_beyond_200: the
    number of heads with z beyond 200. span_by_layer: per layer. spans: per head. z: without the
    ramp. page_p99: the bits per character below which 99 of 100 pages of PAGE characters stay.
    """
    shelf = read_books(data, split)
    texts = [model.alphabet.encode(book.text) for book in shelf]
    found = [read_on(model, text) for text in texts]
    costs = np.concatenate([one.nats for one in found])
    z, used = (
        np.average([getattr(one, name) for one in found], 0, [len(text) for text in texts])
        for name in ("z", "used")
    )
    device = model.readout.weight.device
    by_window = [
        make_window_reader(
            text,
            model.start,
            lambda before, wanted: measure_nats(model(before.to(device)).logits, wanted),
        )
        for text in texts
    ]
    read = [
        bits_per_character.Text(len(text), window, partial(getattr, one, "nats"))
        for text, window, one in zip(texts, by_window, found, strict=True)
    ]
    return {
        **bits_per_character.build_figure(split, read),
        "page_p99": find_unusual_bound(costs, PAGE),
        "books": [book.title for book in shelf],
        "unknown": int(sum((text == UNKNOWN).sum() for text in texts)),
        "span": model.config.span,
        "mean_span": round(float(used.mean()), 2),
        "share": round(float(used.mean()) / model.config.span, 4),
        "median_span": round(float(np.median(z)), 2),
        "heads_beyond_200": int((z > 200).sum()),
        "span_by_layer": [round(float(row.mean()), 2) for row in used],
        "spans": used.round(1).tolist(),
        "z": z.round(1).tolist(),
    }


def measure(asked: FigureRequest[Task]) -> Measurement:
    """Measure the cost of a character over the whole books of a split."""
    figure = measure_books(asked.shipped.model, asked.data, asked.split)
    spans = (
        f"mean span {figure['mean_span']:,} of {figure['span']:,} positions; by layer:"
        f" {', '.join(map(str, figure['span_by_layer']))}"
    )
    return Measurement(
        figure,
        f"{bits_per_character.describe_figure(figure)}\n{', '.join(figure['books'])}\n{spans}",
    )


LAB = LabModels(SLUG, VARIANTS, read, plan, measure, rates=(1.5e-3, 3e-3, 6e-3))
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
