"""The requests to the training laboratory and their explanations: frozen records of NumPy arrays,
strings and numbers, without torch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.explaining.batching import Apart
from models.explaining.errors import InputError
from models.explaining.request_fields import (
    check_request,
    choice_field,
    number_field,
    seed_field,
)

SLUG = "twins"
TASKS = ("sort", "reverse", "copy")
DIGITS = 10
HEADS = 4
FEED_FORWARD = 4  # times the width
FRAMES = 50  # pictures of a run beside its first one
FEW = 100  # fixed sequences, where a run sees no fresh ones
SLOTS = 10  # runs in one program
SCHEDULES = ("linear", "constant", "noam")
NORMS = ("post", "pre")
LARGEST = 5 * 2 * 32 * 16 * 16 * 300  # layers × width × length × batch × steps of one run
FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of the twin's rate

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Techniques:
    """The techniques of one run; its program holds a vector over runs for each.

    rate: the largest learning rate. schedule: "linear" decay to 0, "constant", or "noam", the
    inverse square root of the step. warmup: steps on which the rate rises from 0. norm: layer norm
    after the residual sum, "post", or before each sublayer, "pre". residual: whether a sublayer's
    input is added to its output. dropout: before each residual sum. smoothing: of the labels.
    optimizer: "adam" or "sgd" with momentum .9. average: whether the weights that are judged are
    the mean of the last ten, taken every ten steps. batch: sequences a step. clip: the largest norm
    of the gradient, 0 for any. few: whether the run sees 100 fixed sequences.
    """

    rate: float = 0.005
    schedule: str = "linear"
    warmup: int = 0
    norm: str = "post"
    residual: bool = True
    dropout: float = 0.0
    smoothing: float = 0.0
    optimizer: str = "adam"
    average: bool = False
    batch: int = 16
    clip: float = 0.0
    few: bool = False


@dataclass(frozen=True)
class Shape:
    """The size that all runs of one program share: layers, width, and digits of a sequence."""

    layers: int = 2
    width: int = 32
    length: int = 8
    task: str = "sort"


def list_parameters(shape: Shape) -> dict[str, tuple[int, ...]]:
    """Return name → shape of every parameter of one network, in the order of the flat matrix, which
    is PyTorch's run. A weight is (in, out)."""
    d, inner = shape.width, FEED_FORWARD * shape.width
    layer = {
        "qkv": (d, 3 * d),
        "qkv_bias": (3 * d,),
        "out": (d, d),
        "out_bias": (d,),
        "up": (d, inner),
        "up_bias": (inner,),
        "down": (inner, d),
        "down_bias": (d,),
        "norm1": (d,),
        "norm1_bias": (d,),
        "norm2": (d,),
        "norm2_bias": (d,),
    }
    sizes: dict[str, tuple[int, ...]] = {"embed": (DIGITS, d)}
    for at in range(shape.layers):
        sizes |= {f"{at}.{name}": size for name, size in layer.items()}
    return sizes | {"norm": (d,), "norm_bias": (d,), "head": (d, DIGITS), "head_bias": (DIGITS,)}


def _norm(run: Techniques, _steps: int) -> Techniques:
    return replace(run, norm="pre" if run.norm == "post" else "post")


# The technique that a twin changes, from its sibling's techniques and the steps of the run.
CHANGES: Mapping[str, Any] = {
    "none": lambda run, _steps: run,
    "constant": lambda run, _steps: replace(run, schedule="constant"),
    "noam": lambda run, steps: replace(run, schedule="noam", warmup=steps // 5),
    "warmup": lambda run, steps: replace(run, warmup=steps // 3),
    "norm": _norm,
    "residual": lambda run, _steps: replace(run, residual=False),
    "dropout": lambda run, _steps: replace(run, dropout=0.1),
    "smoothing": lambda run, _steps: replace(run, smoothing=0.1),
    "average": lambda run, _steps: replace(run, average=True),
    "batch": lambda run, _steps: replace(run, batch=max(1, run.batch // 4)),
    "sgd": lambda run, _steps: replace(run, optimizer="sgd"),
}


@dataclass(frozen=True)
class Request(Apart):
    """A request: a run, and the technique in which its twin differs.

    task: to sort, reverse or copy `length` digits. layers, width: of the encoder. rate, schedule,
    warmup, norm, batch: as in `Techniques`. few: 1 for a run on 100 fixed sequences. steps: of
    both runs. seed: of weights, batches and dropout, which twins share. seeds: runs of each kind,
    1 or 5, with consecutive seeds. change: a key of CHANGES, "none" for a run without a twin.
    factor: of the twin's rate.
    """

    task: str = choice_field("sort", TASKS, en="task", zh="任务")
    length: int = number_field(8, 2, 16, en="length", zh="长度")
    layers: int = number_field(2, 1, 6, en="number of layers", zh="层数")
    width: int = choice_field(32, (16, 32, 64), en="width", zh="宽度")
    rate: float = number_field(0.005, 1e-5, 1, en="learning rate", zh="学习率")
    schedule: str = choice_field("linear", SCHEDULES, en="schedule", zh="学习率安排")
    warmup: int = number_field(0, 0, 600, en="number of warm-up steps", zh="预热步数")
    norm: str = choice_field("post", NORMS, en="place of the norm", zh="归一化位置")
    batch: int = number_field(16, 1, 64, en="batch size", zh="批大小")
    few: int = choice_field(0, (0, 1), en="data set", zh="数据集")
    steps: int = number_field(200, 10, 600, en="number of steps", zh="步数")
    seed: int = seed_field(1)
    seeds: int = choice_field(1, (1, 5), en="number of seeds", zh="种子数")
    change: str = choice_field("none", tuple(CHANGES), en="technique", zh="训练技巧")
    factor: float = number_field(1.0, 0.01, 100, en="factor of the rate", zh="学习率的倍数")

    @property
    def holds_both(self) -> bool:
        """Whether the run holds both sides of its change: twins are trained in one program."""
        return self.is_twin

    @property
    def is_twin(self) -> bool:
        """Whether a second run is trained beside the first."""
        return self.change != "none" or self.factor != 1

    @property
    def shape(self) -> Shape:
        """The size of the encoder and its task."""
        return Shape(self.layers, self.width, self.length, self.task)

    def list_techniques(self) -> tuple[Techniques, ...]:
        """Return the techniques of the run, and of its twin where it has one."""
        run = Techniques(
            rate=self.rate,
            schedule=self.schedule,
            warmup=self.warmup,
            norm=self.norm,
            batch=self.batch,
            few=bool(self.few),
        )
        if not self.is_twin:
            return (run,)
        return run, replace(CHANGES[self.change](run, self.steps), rate=self.rate * self.factor)


def check(request: Request) -> None:
    """Raise InputError for a request that cannot be trained."""
    check_request(request)
    if request.warmup > request.steps:
        raise InputError(
            "warmup",
            en=f"{request.warmup} steps of warm-up are too many: the run has {request.steps}.",
            zh=f"预热 {request.warmup} 步太多：整次训练只有 {request.steps} 步。",
        )
    rate = request.rate * request.factor
    if rate > 1:
        raise InputError(
            "rate",
            en=f"The twin's learning rate is {rate:g}; it can be at most 1.",
            zh=f"孪生训练的学习率为 {rate:g}；最多为 1。",
        )
    cost = request.layers * request.width * request.length * request.batch * request.steps
    most = LARGEST
    if cost * request.seeds > most:
        raise InputError(
            "size",
            en=(
                f"Layers × width × length × batch × steps × seeds is {cost * request.seeds:,};"
                f" it can be at most {most:,}."
            ),
            zh=(
                f"层数 × 宽度 × 长度 × 批大小 × 步数 × 种子数为 {cost * request.seeds:,}；最多为"
                f" {most:,}。"
            ),
        )


@dataclass(frozen=True)
class Frame:
    """A moment of all runs, after `step` steps.

    loss: plain held-out loss in nats a digit, (kind, seed), NaN once a run is broken. right: share
    of held-out digits that are right, alike. rate: (kind,). norms: norm of the gradient of each
    part of the first seed's networks, (kind, part): embedding, layers, output. weights: attention
    on one held-out sequence, (kind, layer, head, query, key).
    """

    step: int
    loss: Array
    right: Array
    rate: Array
    norms: Array
    weights: NDArray[np.float16]


@dataclass(frozen=True)
class Explanation:
    """The explanation of one training, or of one and its twin.

    steps: of each frame, (frame,). loss, right: (frame, kind, seed). rate: (frame, kind). norms:
    (frame, kind, part). weights: (frame, kind, layer, head, query, key). digits, wanted: the
    held-out sequence of `weights` and its answer. whole: share of held-out sequences that are right
    at the end, (kind, seed). calibration: mean gap between confidence and truth, alike. broke: the
    step at which a run's loss was no number, 0 for none, (kind, seed). stopped: whether the user
    pressed Stop. state: the weights of the first seed's runs at the end, (kind, parameter).
    """

    steps: NDArray[np.int32]
    loss: Array
    right: Array
    rate: Array
    norms: Array
    weights: NDArray[np.float16]
    digits: NDArray[np.int32]
    wanted: NDArray[np.int32]
    whole: Array
    calibration: Array
    broke: NDArray[np.int32]
    stopped: bool
    state: Array

    def first_right(self, kind: int, share: float = 0.95) -> float:
        """Return the first step at which the mean share of right digits reaches `share`, NaN where
        none does."""
        with np.errstate(invalid="ignore"):
            there = np.flatnonzero(self.right[:, kind].mean(-1) >= share)
        return float(self.steps[there[0]]) if len(there) else math.nan


EXAMPLES: tuple[Request, ...] = (
    Request(),
    Request(change="constant"),
    Request(task="reverse", rate=0.01, steps=300, change="residual"),
    Request(layers=6, rate=0.01, schedule="constant", steps=100, change="norm"),
    Request(few=1, rate=0.01, steps=300, change="dropout"),
)
