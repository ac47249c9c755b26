"""What crosses the border between the measured layers and a page: frozen records of NumPy arrays, strings and numbers. No torch here.

The formulas are those of Vaswani et al. (2017), table 1, with the constants of one layer without projections and biases, counted in
floating-point operations: a multiplication and an addition are two.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.errors import InputError
from models.fields import characters, choice, number, switch
from models.fields import check as in_range
from models.pixels import Levels as Levels

Array = NDArray[np.float32]

TASKS = ("clock", "scale", "heads")
LAYERS = ("attention", "recurrence", "convolution", "restricted")
FILTERS = ("edge", "blur", "sharpen", "random")
WINDOW = 64  # r, keys that restricted attention sees, by default
ALPHA = 32.0  # the sharpest heads, by default
ALPHAS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # at which the heads are compared with the convolution
WIDTHS = tuple(2**n for n in range(1, 11))  # d_k at which the softmax is watched
N_KEYS = 64  # keys, and queries, of the softmax that is watched
SIDE = 28  # pixels of a picture
SECONDS = 5.0  # of computing for a run of the clock
MEMORY = 2e9  # bytes that the largest layer of a run may need
RUNGS = 5  # lengths of a run, each twice the one before
SHORTEST = 16  # positions
RATE: Final[Mapping[str, float]] = {"attention": 25e9, "recurrence": 8e9, "convolution": 30e9, "restricted": 10e9}
"""Operations a second of a slow machine, by which a run that cannot end in time is refused before it begins."""


@dataclass(frozen=True)
class Request:
    """What is measured, by task, and what is changed in it.

    clock: layers over `length` positions of `width` numbers, a convolution of `kernel` positions, attention restricted to `window` keys;
    fused: self-attention by the kernel that never holds the L × L map.
    scale: a softmax over dot products of vectors of `d_k` numbers, divided by d_k to the `power`; 1/2 is √d_k.
    heads: a `kernel` × `kernel` filter on `picture`, "test:0" or its levels in base64, and as many heads, as sharp as `alpha`;
    without: the number of a head from 1 that is silenced, 0 for none. seed: of all that is random.
    """

    task: str = choice("clock", TASKS, en="task", zh="任务")
    length: int = number(1000, SHORTEST, 4096, en="length L", zh="长度 L")
    width: int = number(1000, 16, 1024, en="width d", zh="宽度 d")
    kernel: int = number(3, 3, 7, en="kernel size K", zh="卷积核大小 K")
    window: int = number(WINDOW, 8, 1024, en="window r", zh="窗口 r")
    fused: bool = switch(True)
    d_k: int = number(256, 1, 1024, en="size of the keys d_k", zh="键的维数 d_k")
    power: float = number(0.5, 0, 1, en="power of d_k", zh="d_k 的指数")
    seed: int = number(1, 0, 999_999, en="seed", zh="种子")
    picture: str = characters("test:0", 1100)
    filter: str = choice("edge", FILTERS, en="filter", zh="滤波器")
    alpha: float = number(ALPHA, 0, ALPHA, en="sharpness α", zh="锐度 α")
    without: int = number(0, 0, 49, en="head", zh="头")

    @property
    def live(self) -> bool:
        """A time is another one every time that it is measured."""
        return self.task == "clock"

    def group(self) -> Hashable:
        """Requests of one group may share a batch."""
        return self.task


@dataclass(frozen=True)
class Point:
    """One layer at one length, timed. variant: "" or what is changed: "window", "explicit". seconds: the fastest of `repeats` runs."""

    layer: str
    length: int
    seconds: float
    repeats: int
    variant: str = ""


@dataclass(frozen=True)
class Clock:
    """A run of the clock. points: in the order in which they were timed. left: (layer, length) that the time did not reach, in order.

    stopped: somebody pressed Stop. seconds: of computing in all. threads, device: on which.
    """

    points: tuple[Point, ...]
    left: tuple[tuple[str, int], ...]
    stopped: bool
    seconds: float
    threads: int
    device: str

    def of(self, layer: str, variant: str = "") -> tuple[Point, ...]:
        """The points of one layer, the shortest first."""
        return tuple(sorted((p for p in self.points if (p.layer, p.variant) == (layer, variant)), key=lambda p: p.length))


@dataclass(frozen=True)
class Scale:
    """A softmax over N_KEYS keys, averaged over as many queries. Axes: power, the powers of d_k in `powers`; width, those of WIDTHS.

    entropy: (power, width) bits. gradient: (power, width) Σ_j ∂ weight_j / ∂ score_j. weights: (power, query, key) of a few queries at d_k.
    at: (power, 2) entropy and gradient at d_k. dot, additive: (width,) standard deviation of the scores of both, none divided.
    scores: (2, pair) of dot products and of additive scores at d_k.
    """

    powers: tuple[float, ...]
    entropy: Array
    gradient: Array
    weights: Array
    at: Array
    dot: Array
    additive: Array
    scores: Array


@dataclass(frozen=True)
class Heads:
    """A convolution and the heads that imitate it. picture, true, made: (row, column); taps: (row, column) of the filter.

    maps: (head, row, column) weights of one query, `query` (row, column), over the picture and its border of zeros.
    errors: (alpha,) the largest |made − true| for each of ALPHAS, with every head; error: at the asked α, without the head that is asked.
    reach: (kind, content, distance, row, column) what leads from x_{i+δ} to y_i in a convolution, in attention, in relative attention, for
    two contents and distances −2 … 2.
    """

    picture: Array
    taps: Array
    true: Array
    made: Array
    maps: Array
    query: tuple[int, int]
    errors: NDArray[np.float64]
    error: float
    reach: Array


@dataclass(frozen=True)
class Explanation:
    """One run; of the task that was asked, the others None."""

    clock: Clock | None = None
    scale: Scale | None = None
    heads: Heads | None = None


# ---- on paper ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Formula:
    """What a layer costs on paper. operations, path, steps: in floating-point operations, layers or positions, and steps that wait for
    each other. slope: the power of L in `operations`."""

    operations: Callable[[int, int, int, int], float]
    path: Callable[[int, int, int], int]
    steps: Callable[[int], int]
    slope: float


FORMULAS: Final[Mapping[str, Formula]] = {
    "attention": Formula(lambda n, d, k, r: 4.0 * n * n * d, lambda n, k, r: 1, lambda n: 1, 2.0),  # Q Kᵀ and weights · V
    "recurrence": Formula(lambda n, d, k, r: 16.0 * n * d * d, lambda n, k, r: n, lambda n: n, 1.0),  # four gates of an LSTM, two products
    "convolution": Formula(lambda n, d, k, r: 2.0 * k * n * d * d, lambda n, k, r: _layers(n, k), lambda n: 1, 1.0),
    "restricted": Formula(lambda n, d, k, r: 4.0 * min(r, n) * n * d, lambda n, k, r: -(-n // r), lambda n: 1, 1.0),
}


def _layers(length: int, kernel: int) -> int:
    """⌈log_k L⌉ dilated layers, after which every position has seen every other one."""
    return math.ceil(math.log(length) / math.log(kernel) - 1e-9)


def operations(layer: str, length: int, request: Request) -> float:
    """Floating-point operations of a layer at some length, on paper."""
    return FORMULAS[layer].operations(length, request.width, request.kernel, request.window)


def lengths(longest: int) -> tuple[int, ...]:
    """The lengths that a run times, ascending: `longest`, and halves of it."""
    return tuple(sorted({max(SHORTEST, round(longest / 2**n)) for n in range(RUNGS)}))


def exponent(points: Sequence[Point]) -> float | None:
    """The slope of log time over log length by least squares, of the three longest lengths or more; None for fewer than three."""
    kept = [p for p in points if p.length >= 128] if len(points) > 3 else list(points)
    kept = kept if len(kept) >= 3 else list(points)[-3:]
    if len(kept) < 3:
        return None
    return float(np.polyfit([math.log(p.length) for p in kept], [math.log(p.seconds) for p in kept], 1)[0])


# ---- what is refused ---------------------------------------------------------------------------------------------------------------


def expected(request: Request) -> float:
    """Seconds that a run takes on a slow machine: every rung of the ladder once."""
    return sum(operations(layer, n, request) / rate for layer, rate in RATE.items() for n in lengths(request.length))


def needed(request: Request) -> float:
    """Bytes that the largest layer needs: the weights of an LSTM, or the maps of explicit attention, scores and weights."""
    map_ = 0 if request.fused else 2 * 4.0 * request.length**2
    return max(map_ + 16.0 * request.length * request.width, 4 * 8.0 * request.width**2 + 32.0 * request.length * request.width)


def check(request: Request) -> None:
    """InputError, a sentence for the visitor, for what lies outside its range, an even kernel, or more than the clock has time for."""
    in_range(request)
    if request.kernel % 2 == 0:
        raise InputError(
            "even",
            en=f"K is {request.kernel}; a filter has a middle, so K is odd: 3, 5 or 7.",
            zh=f"K 为 {request.kernel}；滤波器要有中心，所以 K 取奇数：3、5 或 7。",
        )
    if request.without > request.kernel**2:
        raise InputError(
            "without",
            en=f"There is no head {request.without}; K = {request.kernel} has heads 1 to {request.kernel**2}.",
            zh=f"没有第 {request.without} 个头；K = {request.kernel} 时有第 1 到第 {request.kernel**2} 个头。",
        )
    if request.task == "clock" and (expected(request) > SECONDS or needed(request) > MEMORY):
        n, d, most = f"{request.length:,}", f"{request.width:,}", f"{largest(request):,}"
        seconds, room = f"{expected(request):.1f}", f"{needed(request) / 1e9:.1f}"
        raise InputError(
            "too_long",
            en=f"L = {n} at d = {d} needs about {seconds} s and {room} GB; the clock has {SECONDS:g} s and {MEMORY / 1e9:g} GB: "
            f"at this d, L can be up to {most}.",
            zh=f"d = {d} 时 L = {n} 约需 {seconds} 秒、{room} GB；计时最多 {SECONDS:g} 秒、{MEMORY / 1e9:g} GB："
            f"在这个 d 下，L 最大为 {most}。",
        )


def largest(request: Request) -> int:
    """The largest length that the clock has time and memory for, at the width that is asked for."""
    low, high = SHORTEST, 4096
    while low < high:
        middle = (low + high + 1) // 2
        one = dataclasses.replace(request, length=middle)
        low, high = (middle, high) if expected(one) <= SECONDS and needed(one) <= MEMORY else (low, middle - 1)
    return low


EXAMPLES: tuple[Request, ...] = (
    Request(),
    Request("scale"),
    Request("scale", d_k=16),
    Request("heads"),
    Request("heads", kernel=5, filter="blur", picture="test:1"),
)
