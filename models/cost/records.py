"""The requests to the measured layers and their explanations: frozen records of NumPy arrays,
strings and numbers, without torch.

The formulas are those of Vaswani et al. (2017), table 1, with the constants of one layer without
projections and biases. They count floating-point operations: a multiplication and an addition are
two.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.data.pixels import Levels as Levels
from models.explaining.errors import InputError
from models.explaining.request_fields import check_request as in_range
from models.explaining.request_fields import choice_field, number_field, switch_field, text_field

Array = NDArray[np.float32]

TASKS = ("clock", "scale", "heads")
LAYERS = ("attention", "recurrence", "convolution", "restricted")
FILTERS = ("edge", "blur", "sharpen", "random")
WINDOW = 64  # r, the default number of keys of restricted attention
ALPHA = 32.0  # the default sharpness of heads
# Sharpness values at which the heads are compared with the convolution.
ALPHAS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
WIDTHS = tuple(2**n for n in range(1, 11))  # d_k at which the softmax is computed
N_KEYS = 64  # keys, and queries, of this softmax
SIDE = 28  # rows and columns of a picture, pixels
SECONDS = 5.0  # of computing for one run of the clock
MEMORY = 2e9  # bytes allowed for the largest layer of a run
RUNGS = 5  # lengths of a run, each twice the last
SHORTEST = 16  # positions
RATE: Final[Mapping[str, float]] = {
    "attention": 25e9,
    "recurrence": 8e9,
    "convolution": 30e9,
    "restricted": 10e9,
}
"""The operations per second of a slow machine; a run that cannot end in time on it is refused at
once."""


@dataclass(frozen=True)
class Request:
    """A request: the measurement of a task and its changes.

    clock: layers over `length` positions of `width` numbers, a convolution of `kernel` positions,
    attention restricted to `window` keys; fused: self-attention by the kernel that never holds the
    L × L map. scale: a softmax over dot products of vectors of `d_k` numbers, divided by d_k to the
    `power`; 1/2 is √d_k. heads: a `kernel` × `kernel` filter on `picture`, "test:0" or its levels
    in base64, and as many heads, with sharpness `alpha`; without: the number of a head, from 1,
    that is silenced, 0 for none. seed: of all random numbers.
    """

    task: str = choice_field("clock", TASKS, en="task", zh="任务")
    length: int = number_field(1000, SHORTEST, 4096, en="length L", zh="长度 L")
    width: int = number_field(1000, 16, 1024, en="width d", zh="宽度 d")
    kernel: int = number_field(3, 3, 7, en="kernel size K", zh="卷积核大小 K")
    window: int = number_field(WINDOW, 8, 1024, en="window r", zh="窗口 r")
    fused: bool = switch_field(True)
    d_k: int = number_field(256, 1, 1024, en="size of the keys d_k", zh="键的维数 d_k")
    power: float = number_field(0.5, 0, 1, en="power of d_k", zh="d_k 的指数")
    seed: int = number_field(1, 0, 999_999, en="seed", zh="种子")
    picture: str = text_field("test:0", 1100)
    filter: str = choice_field("edge", FILTERS, en="filter", zh="滤波器")
    alpha: float = number_field(ALPHA, 0, ALPHA, en="sharpness α", zh="锐度 α")
    without: int = number_field(0, 0, 49, en="head", zh="头")

    @property
    def live(self) -> bool:
        """Whether the result differs in each run, as a time does."""
        return self.task == "clock"

    def group(self) -> Hashable:
        """Return the key of a batch: requests of the same task may share one."""
        return self.task


@dataclass(frozen=True)
class Point:
    """The time of one layer at one length.

    variant: "" or the change: "window", "explicit". seconds: the fastest of `repeats` runs.
    """

    layer: str
    length: int
    seconds: float
    repeats: int
    variant: str = ""


@dataclass(frozen=True)
class Clock:
    """A run of the clock.

    points: in order of timing. left: (layer, length) that did not fit into the time, in order.
    stopped: whether the user pressed Stop. seconds: of computing in all. threads, device: of the
    machine.
    """

    points: tuple[Point, ...]
    left: tuple[tuple[str, int], ...]
    stopped: bool
    seconds: float
    threads: int
    device: str

    def of(self, layer: str, variant: str = "") -> tuple[Point, ...]:
        """Return the points of one layer, the shortest first."""
        return tuple(
            sorted(
                (p for p in self.points if (p.layer, p.variant) == (layer, variant)),
                key=lambda p: p.length,
            )
        )


@dataclass(frozen=True)
class Scale:
    """A softmax over N_KEYS keys, averaged over the same number of queries.

    Axes: power, the powers of d_k in `powers`; width, those of WIDTHS. entropy: (power, width),
    bits. gradient: Σ_j ∂ weight_j / ∂ score_j, (power, width). weights: of a few queries at d_k,
    (power, query, key). at: entropy and gradient at d_k, (power, 2). dot, additive: standard
    deviation of both kinds of score, undivided, (width,). scores: of dot products and additive
    scores at d_k, (2, pair).
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
    """A convolution and the heads that imitate it.

    picture, true, made: (row, column). taps: the filter, (row, column). maps: weights of one query,
    `query` (row, column), over the picture and its border of zeros, (head, row, column). errors:
    the largest |made − true| for each of ALPHAS, with every head, (alpha,). error: the same at the
    request's α, without its silenced head. reach: the maps from x_{i+δ} to y_i in a convolution, in
    attention and in relative attention, for two contents and distances −2 … 2, (kind, content,
    distance, row, column).
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
    """The explanation of one run; fields of other tasks are None."""

    clock: Clock | None = None
    scale: Scale | None = None
    heads: Heads | None = None


# ---- on paper


@dataclass(frozen=True)
class Formula:
    """The cost of a layer on paper.

    operations: floating-point operations. path: layers or positions. steps: sequential steps.
    slope: the power of L in `operations`.
    """

    operations: Callable[[int, int, int, int], float]
    path: Callable[[int, int, int], int]
    steps: Callable[[int], int]
    slope: float


FORMULAS: Final[Mapping[str, Formula]] = {
    # Q Kᵀ and weights · V.
    "attention": Formula(lambda n, d, k, r: 4.0 * n * n * d, lambda n, k, r: 1, lambda n: 1, 2.0),
    # Four gates of an LSTM, two products.
    "recurrence": Formula(lambda n, d, k, r: 16.0 * n * d * d, lambda n, k, r: n, lambda n: n, 1.0),
    "convolution": Formula(
        lambda n, d, k, r: 2.0 * k * n * d * d, lambda n, k, r: _layers(n, k), lambda n: 1, 1.0
    ),
    "restricted": Formula(
        lambda n, d, k, r: 4.0 * min(r, n) * n * d, lambda n, k, r: -(-n // r), lambda n: 1, 1.0
    ),
}


def _layers(length: int, kernel: int) -> int:
    """Return ⌈log_k L⌉, the number of dilated layers after which every position reaches every other
    one."""
    return math.ceil(math.log(length) / math.log(kernel) - 1e-9)


def operations(layer: str, length: int, request: Request) -> float:
    """Return the floating-point operations of a layer at a length, on paper."""
    return FORMULAS[layer].operations(length, request.width, request.kernel, request.window)


def lengths(longest: int) -> tuple[int, ...]:
    """Return the lengths of a run, ascending: `longest`, and halves of it."""
    return tuple(sorted({max(SHORTEST, round(longest / 2**n)) for n in range(RUNGS)}))


def exponent(points: Sequence[Point]) -> float | None:
    """Return the slope of log time over log length, by least squares over at least three of the
    longest lengths; None for fewer than three."""
    kept = [p for p in points if p.length >= 128] if len(points) > 3 else list(points)
    kept = kept if len(kept) >= 3 else list(points)[-3:]
    if len(kept) < 3:
        return None
    return float(
        np.polyfit([math.log(p.length) for p in kept], [math.log(p.seconds) for p in kept], 1)[0]
    )


# ---- the limits of a request


def expect_seconds(request: Request) -> float:
    """Estimate the seconds of a run on a slow machine, with every length once."""
    return sum(
        operations(layer, n, request) / rate
        for layer, rate in RATE.items()
        for n in lengths(request.length)
    )


def count_bytes(request: Request) -> float:
    """Return the bytes of the largest layer: the weights of an LSTM, or the scores and weights of
    explicit attention."""
    map_ = 0 if request.fused else 2 * 4.0 * request.length**2
    return max(
        map_ + 16.0 * request.length * request.width,
        4 * 8.0 * request.width**2 + 32.0 * request.length * request.width,
    )


def check(request: Request) -> None:
    """Check a request.

    Raise InputError, a sentence for the user, for values out of range, an even kernel, or a run
    longer than the clock's time.
    """
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
            en=(
                f"There is no head {request.without}; K = {request.kernel} has heads 1 to"
                f" {request.kernel**2}."
            ),
            zh=(
                f"没有第 {request.without} 个头；K = {request.kernel} 时有第 1 到第"
                f" {request.kernel**2} 个头。"
            ),
        )
    if request.task == "clock" and (
        expect_seconds(request) > SECONDS or count_bytes(request) > MEMORY
    ):
        n, d, most = f"{request.length:,}", f"{request.width:,}", f"{largest(request):,}"
        seconds, room = f"{expect_seconds(request):.1f}", f"{count_bytes(request) / 1e9:.1f}"
        raise InputError(
            "too_long",
            en=(
                f"L = {n} at d = {d} needs about {seconds} s and {room} GB; the clock has"
                f" {SECONDS:g} s and {MEMORY / 1e9:g} GB: at this d, L can be up to {most}."
            ),
            zh=(
                f"d = {d} 时 L = {n} 约需 {seconds} 秒、{room} GB；计时最多 {SECONDS:g}"
                f" 秒、{MEMORY / 1e9:g} GB：在这个 d 下，L 最大为 {most}。"
            ),
        )


def largest(request: Request) -> int:
    """Return the largest length within the clock's time and memory, at the width of a request."""
    low, high = SHORTEST, 4096
    while low < high:
        middle = (low + high + 1) // 2
        one = dataclasses.replace(request, length=middle)
        low, high = (
            (middle, high)
            if expect_seconds(one) <= SECONDS and count_bytes(one) <= MEMORY
            else (low, middle - 1)
        )
    return low


EXAMPLES: tuple[Request, ...] = (
    Request(),
    Request("scale"),
    Request("scale", d_k=16),
    Request("heads"),
    Request("heads", kernel=5, filter="blur", picture="test:1"),
)
