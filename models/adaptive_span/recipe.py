"""How the three models of adaptive span are made and measured."""

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

from models import bits, driver, training
from models.adaptive_span.data import HIDDEN, alphabet_of, spread_windows
from models.adaptive_span.decode import Reader
from models.adaptive_span.model import Config, SpanTransformer, network
from models.adaptive_span.pretrained import SLUG, read
from models.characters import UNKNOWN, books
from models.driver import Asked, Job, Lab, Measured, Plan, published
from models.training import Schedule
from models.windows import batch_of, drawn_windows, moved, nats, unusual, windowed

PAGE = 512  # characters of a page, in telling how unusual one is
CHUNK = 1024  # characters that are read at once in measuring
WATCHED = 24  # windows of the book of validation that are looked at after each round


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """How a network is trained."""

    batch: int  # windows
    window: int  # characters of a window: twice S, so that half of them have all the past that a span can reach
    penalty: float = 0.0  # nats that a mean span of all of S costs: λ S; as a share of S it means the same for every S
    free: float = 0.0  # share of training through which spans cost nothing


@dataclass(frozen=True)
class Size:
    """What one machine can do: the network, its alphabet left out, and how it learns."""

    config: Config
    recipe: Recipe


# As much as a core reads in half an hour; and, where there is a GPU, twice the span and as large a network as a file may hold.
ON_CPU = Size(
    Config("", span=512),
    Recipe(
        Schedule(steps=2000, warmup=100, decay=0.0, cooldown=1000, average=3, every=20),
        batch=4,
        window=1024,
        round=200,
    ),
)
ON_GPU = Size(
    Config("", span=1024, d_model=256, d_ff=1024, n_heads=8, n_layers=5, dropout=0.1),
    Recipe(
        Schedule(steps=5000, warmup=200, decay=0.0, cooldown=3000, average=5, every=40),
        batch=16,
        window=2048,
        round=250,
    ),
)


@dataclass(frozen=True)
class Task(driver.Task):
    """What a variant learns, and beside which figure it stands."""

    penalty: float  # of its spans, see `Recipe`
    free: float = 0.0  # see `Recipe`
    sizes: Mapping[str, Size] = dataclasses.field(default_factory=lambda: {"cpu": ON_CPU, "cuda": ON_GPU})

    def on(self, device: torch.device) -> Self:
        """With the network and recipe for a device; every variant has the same, but for the penalty."""
        size = self.sizes.get(device.type, self.sizes["cpu"])
        recipe = dataclasses.replace(size.recipe, penalty=self.penalty, free=self.free)
        return dataclasses.replace(self, config=size.config, recipe=recipe)


# A mean span of all of S costs 0.01 nats, 0.014 bits. A head gives up a position once that saves more than it loses: what all heads give up
# together can then not cost more than the penalty, which lies below the 0.02 bits that the adaptive model may fall behind.
PENALTY = 0.01
# Spans begin at S and are free until the network reads: a head cannot learn to use what it never meets. Where they begin at 0, no span is
# longer than 41 after as many steps, though the network reads better by then (1.779 bits per character in place of 1.820): it learns its
# short spans sooner. Free for 0.6 and 0.4 of training, two heads or more keep 200 characters, and the middle one 110 and 65.
FREE = 0.4
ENWIK8 = published(
    1.02,
    "Sukhbaatar et al. (2019), enwik8, 12 layers with adaptive span",
    en="Bits per byte of Wikipedia's markup, from a model of some 39 million parameters trained for far longer.",
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
    **bits.BOOKS,
)
VARIANTS: dict[str, Task] = {
    "adaptive": ADAPTIVE,
    "fixed": dataclasses.replace(ADAPTIVE, penalty=0.0, free=0.0, published=None, target=None),
    "dynamic": dataclasses.replace(ADAPTIVE, free=0.0, published=None, target=None),
}


class Priced(NamedTuple):
    """before, wanted: as in a `Batch`; penalty: what spans cost by now, see `Recipe`."""

    before: Tensor
    wanted: Tensor
    penalty: float


class Objective(nn.Module):
    """What training minimises: −log p of every character, and λ times the mean of all spans (§2.2 and §2.3)."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        assert isinstance(model, SpanTransformer)
        self.model = model

    def forward(self, batch: Priced) -> tuple[Tensor, Tensor]:
        """Sum of losses in nats, the penalty once for each character; number of characters."""
        logits, spans = self.model(batch.before)
        count = torch.tensor(batch.wanted.numel(), device=batch.wanted.device)
        loss = F.cross_entropy(logits.float().flatten(0, 1), batch.wanted.flatten(), reduction="sum")
        if batch.penalty:
            share = torch.stack([z.mean() for z in spans]).mean() / self.model.config.span
            loss = loss + batch.penalty * share * count
        return loss, count


def optimizers(objective: nn.Module, schedule: Schedule) -> list[torch.optim.Optimizer]:
    """Muon and Adam (`training.muon`); after each step all spans are brought back into 0 … S."""
    chosen = training.muon(objective, schedule)
    assert isinstance(objective, Objective)
    model = objective.model
    chosen[-1].register_step_post_hook(lambda *_: model.keep_spans())
    return chosen


@torch.no_grad()
def mean_bits(model: nn.Module, windows: list[NDArray[np.uint8]], size: int = 4) -> float:
    """Bits per character over some windows of one length, each read from its own beginning."""
    device = next(model.parameters()).device
    parts = [moved(batch_of(windows[begin : begin + size]), device) for begin in range(0, len(windows), size)]
    return float(np.concatenate([nats(model(part.before).logits, part.wanted) for part in parts]).mean(dtype=np.float64)) / math.log(2)


def plan(job: Job[Task]) -> Plan[Priced]:
    """Windows of the books of training."""
    recipe = job.recipe
    shelf = books(job.data, "train")
    alphabet = alphabet_of(shelf)
    config = dataclasses.replace(job.task.config, letters=alphabet.letters)
    numbers = [alphabet.encode(book.text) for book in shelf]
    valid = "\n".join(book.text for book in books(job.data, job.task.chosen))
    held_out = spread_windows(alphabet.encode(valid), WATCHED, recipe.window)

    def draw(generator: np.random.Generator, done: float) -> Priced:
        read = drawn_windows(numbers, recipe.batch, recipe.window, HIDDEN, generator)
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
    """A whole text, read once. nats: (position,) −log p of each character; z: (layer, head) mean spans and used: (layer, head) mean of
    min(S, z + R), both in positions."""

    nats: NDArray[np.float64]
    z: NDArray[np.float64]
    used: NDArray[np.float64]


def read_on(model: SpanTransformer, text: NDArray[np.uint8], chunk: int = CHUNK) -> ReadOn:
    """Read a text from its beginning to its end without a break, remembering of each head only what its span reaches.

    So every character has all the past that its model can use, however far into the book it stands.
    """
    config, device = model.config, model.readout.weight.device
    reader = Reader(model, 1)
    wanted = torch.from_numpy(text.astype(np.int64)).to(device)
    before = torch.cat((wanted.new_tensor([model.start]), wanted[:-1]))
    costs = []
    z, used = torch.zeros(config.n_layers, config.n_heads, dtype=torch.float64), torch.zeros(config.n_layers, config.n_heads).double()
    for begin in range(0, len(text), chunk):
        here = slice(begin, begin + chunk)
        logits = reader.read(before[None, here])
        costs.append(nats(logits, wanted[None, here])[0].astype(np.float64))
        count = len(costs[-1])
        for layer, one in enumerate(reader.spans):
            z[layer] += one[0].double().mean(1).cpu() * count
            used[layer] += (one[0].double() + config.ramp).clamp(max=config.span).mean(1).cpu() * count
    return ReadOn(np.concatenate(costs), (z / len(text)).numpy(), (used / len(text)).numpy())


def measured(model: SpanTransformer, data: Path, split: str) -> dict[str, Any]:
    """Bits per character of the books of a split, and how far the heads reach while they read each book in one go.

    mean_span: positions, min(S, z + R), the ramp included as in the paper; share: of S; median_span: z of the head in the middle, without
    the ramp; heads_beyond_200: heads with z beyond 200. span_by_layer: of each layer; spans: of each head; z: without the ramp.
    page_p99: bits per character that 99 of 100 pages of PAGE characters stay below.
    """
    shelf = books(data, split)
    texts = [model.alphabet.encode(book.text) for book in shelf]
    found = [read_on(model, text) for text in texts]
    costs = np.concatenate([one.nats for one in found])
    z, used = (np.average([getattr(one, name) for one in found], 0, [len(text) for text in texts]) for name in ("z", "used"))
    device = model.readout.weight.device
    by_window = [windowed(text, model.start, lambda before, wanted: nats(model(before.to(device)).logits, wanted)) for text in texts]
    read = [bits.Text(len(text), window, partial(getattr, one, "nats")) for text, window, one in zip(texts, by_window, found, strict=True)]
    return {
        **bits.figure(split, read),
        "page_p99": unusual(costs, PAGE),
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


def measure(asked: Asked[Task]) -> Measured:
    """Read a split's books whole and measure what a character costs."""
    figure = measured(asked.shipped.model, asked.data, asked.split)
    spans = f"mean span {figure['mean_span']:,} of {figure['span']:,} positions; by layer: {', '.join(map(str, figure['span_by_layer']))}"
    return Measured(figure, f"{bits.told(figure)}\n{', '.join(figure['books'])}\n{spans}")


LAB = Lab(SLUG, VARIANTS, read, plan, measure, rates=(1.5e-3, 3e-3, 6e-3))
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
