"""The requests to the lab of self-similarity and their explanations: frozen records of NumPy
arrays, strings and numbers, without torch."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.data.pixels import (
    Levels,
    load_shipped_pictures,
    pack_pixels,
    read_picture,
    read_picture_number,
)
from models.explaining.errors import InputError
from models.explaining.request_fields import (
    check_request,
    choice_field,
    number_field,
    seed_field,
    switch_field,
    text_field,
)

SLUG = "self_similarity"
TASKS = ("denoise", "grow")
PICTURES = ("starry_night", "the_scream", "shipwreck", "brick", "grass", "gravel")
SIDE = 96  # rows and columns of a picture on the page
LARGEST = 256  # pixels of the longer side of a visitor's picture
CHANNELS = 3
SAMPLE = SIDE // 2  # rows and columns of a whole sample, which is the picture at half its size
GROWN = 64  # rows and columns of a grown texture
REACH = 10  # rows and columns of the search window on each side of a pixel
RADIUS = 3  # rows and columns of a patch on each side of its pixel
SPREAD = 1.5  # standard deviation of the Gaussian over a patch, pixels
SIGMA = 20  # standard deviation of the noise that h is chosen for, of 255 levels
# h of non-local means over σ: the best on the left halves, by `choose_softness` of recipe.py.
SOFTNESS = 0.75
HOTTEST = 400  # per cent of that h; the weights are then nearly equal
WINDOWS = tuple(range(3, 24, 2))  # rows and columns of the window of a growing texture
SPELLED = 4 * -(-SIDE * SIDE * CHANNELS // 3)  # characters of a picture in a request
GRID = 8  # rows and columns of the parts of a picture that are compared with each other
BAR = 16  # sixteenths of a bar

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Request:
    """A request: a picture to denoise or to grow, and the changes.

    picture: "test:3", one of the shipped ones, or 96 × 96 × 3 levels in base64. seed: of the noise
    or of the growth. denoise: sigma, the noise, of 255 levels; heat: h, per cent of the h chosen
    for that noise; bias: whether the dot product keeps its key bias −‖k‖²; block: whether the
    non-local block adds its output. grow: sample, rows and columns of the sample, taken from the
    middle of the picture at half its size; window: rows and columns of the neighbourhood.
    """

    task: str = choice_field("denoise", TASKS, en="task", zh="任务")
    picture: str = text_field("test:3", SPELLED)
    seed: int = seed_field(1)
    sigma: int = number_field(SIGMA, 1, 80, en="noise σ", zh="噪声 σ")
    heat: int = number_field(100, 1, HOTTEST, en="temperature h in per cent", zh="温度 h（百分比）")
    bias: bool = switch_field(True)
    block: bool = switch_field(True)
    sample: int = number_field(40, 8, SAMPLE, en="side of the sample", zh="样本边长")
    window: int = choice_field(11, WINDOWS, en="window", zh="窗口")

    def group(self) -> Hashable:
        """Return the key of a batch: requests of the same task may share one."""
        return self.task


@dataclass(frozen=True)
class Denoised:
    """A noisy picture and what several methods make of it.

    sigma, h: of the noise and of the weights, 1 being white. noisy: grey, (row, column). restored:
    by METHODS, (method, row, column), with the changes of the request. psnr: of the noisy picture,
    then of each method, decibels; infinite where a result is the clean picture itself. trained: σ
    and h of the block's weights. readout: its W_o, (channel, row, column).
    """

    sigma: float
    h: float
    trained: tuple[float, float]
    readout: Array
    noisy: Array
    restored: Array
    psnr: tuple[float, ...]


METHODS = ("means", "dot", "block", "without")
"""Non-local means, the softmax of dot products, the network with the block as asked, and the
network that was trained without a block."""


@dataclass(frozen=True)
class Growth:
    """A grown texture.

    sample: (row, column, channel). source: row and column of the sample that each pixel is copied
    from, (row, column, 2). order: when each pixel was filled, (row, column), 0 for the seed. error:
    the smallest distance to the sample at that moment, (row, column), 0 for the seed. coherence:
    share of pixels whose left neighbour is copied from the left neighbour of their source.
    distinct: how many pixels of the sample were copied at all.
    """

    sample: Levels
    source: NDArray[np.uint8]
    order: NDArray[np.int16]
    error: Array
    coherence: float
    distinct: int


@dataclass(frozen=True)
class Explanation:
    """The explanation of one run.

    picture: what was asked about, (row, column, channel). clean: the same in grey, (row, column), 0
    … 1. denoised, growth: of the task; the other is None. likeness: of every part of the picture
    with every other, GRID parts a side, (part, part), 0 … 1. bars: the same of a chorale's bars.
    """

    picture: Levels
    clean: Array
    denoised: Denoised | None
    growth: Growth | None
    likeness: Array
    bars: Array


def load_pictures() -> Levels:
    """Return the shipped pictures, (picture, row, column, channel)."""
    pictures: Levels = load_shipped_pictures(SLUG)["pictures"]
    return pictures


def load_chorale() -> NDArray[np.int8]:
    """Return the pitches of the shipped chorale, (sixteenth, voice), −1 for a rest."""
    pitches: NDArray[np.int8] = load_shipped_pictures(SLUG)["chorale"]
    return pitches


def find_picture(text: str) -> Levels:
    """Return the picture that a request names or carries, (row, column, channel).

    Raise InputError where it is neither.
    """
    number = read_picture_number(text, len(PICTURES))
    return read_picture(text, (SIDE, SIDE, CHANNELS)) if number is None else load_pictures()[number]


def spell_picture(levels: Levels) -> str:
    """Return a picture as a request carries it."""
    return pack_pixels(levels)


def check(request: Request) -> None:
    """Raise InputError, a sentence for the visitor, for values out of range or a window that does
    not fit into its sample."""
    check_request(request)
    if request.task == "grow" and request.sample < request.window + 3:
        raise InputError(
            "window",
            en=(
                f"The window does not fit: it has {request.window} pixels a side, so the sample"
                f" needs at least {request.window + 3}, not {request.sample}."
            ),
            zh=(
                f"窗口放不下：窗口边长为 {request.window} 像素，样本边长至少要"
                f" {request.window + 3}，而不是 {request.sample}。"
            ),
        )


EXAMPLES: tuple[Request, ...] = (
    Request(picture="test:3"),
    Request(picture="test:4"),
    Request(picture="test:0"),
    Request("grow", picture="test:3"),
    Request("grow", picture="test:0", window=9),
    Request("grow", picture="test:5", window=7),
)
