"""What crosses the border between the picture models and a page: frozen records of NumPy arrays, strings and numbers. No torch here."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models import fields, folders
from models.fields import anything, choice, heads, number
from models.pixels import Levels as Levels
from models.pixels import packed

Array = NDArray[np.float32]
spelled = packed  # levels as a request carries them

SIDE = 28  # rows and columns of a grey picture
LARGE, SMALL = 16, 8  # sides of a coloured picture and of what it is raised from
PATTERNS = ("local_1d", "local_2d")  # in the order of every array with an axis of patterns
COLOUR = "colour"  # the pattern of an enlargement
MODELS = (*PATTERNS, "pixelcnn")  # what can say how surprising a picture is
MODES = ("generate", "complete", "enlarge")


def modes() -> tuple[str, ...]:
    """What can be made: everything, except beside a coloured model of somebody's own, which makes small pictures larger."""
    return MODES[2:] if folders.own("image_transformer") and folders.trained("image_transformer", (COLOUR,)) else MODES


KINDS = 10  # kinds of picture; KINDS itself stands for "not told"
MAX_COUNT = 4  # pictures at once
LEVELS = 256  # grey levels, or levels of a channel
ROWS_KEPT = (7, 14, 21)  # what may be kept of a picture: whole rows of tiles, so that both orders continue the same part
MEMORY_ROWS = 4  # of the 1D model, as trained
FLANGE = 7  # of the 2D model, as trained


@dataclass(frozen=True)
class Request:
    """What is to be made, and what is changed in the models meanwhile.

    mode: "generate" a picture of a kind, "complete" one whose top is given, "enlarge" a small coloured one.
    kind: 0 … 9, or 10 where it is not told. seed: of all draws, 0 … 999,999. temperature: of the distribution over levels, 0.1 … 2.
    top_k: of how many of the likeliest levels is drawn, 1 … 256. count: pictures at once, 1 … 4.
    picture: base64 of 28 × 28 levels (complete) or of 16 × 16 × 3 (enlarge), or "test:17", the 18th of the held-out examples that are
    shipped; empty where none is needed. keep: rows of it that stay.
    silenced: (pattern, layer, head) from 0. memory_rows: rows before the block that the 1D model may see; flange: pixels around the tile
    that the 2D model may see; both at most as trained.
    """

    mode: str = choice(modes()[0], MODES, en="mode", zh="模式")
    kind: int = choice(9, range(KINDS + 1), en="kind of picture", zh="图片类别")
    seed: int = fields.seed(7)
    temperature: float = fields.temperature(1.0, 0.1)
    top_k: int = number(LEVELS, 1, LEVELS, en="number of likeliest levels", zh="最可能灰度级的个数")
    count: int = number(1, 1, MAX_COUNT, en="number of pictures", zh="图片数")
    picture: str = anything("")
    keep: int = choice(14, ROWS_KEPT, en="number of rows to keep", zh="保留行数")
    silenced: tuple[tuple[str, int, int], ...] = heads([*PATTERNS, COLOUR])
    memory_rows: int = number(MEMORY_ROWS, 0, MEMORY_ROWS, en="number of memory rows", zh="记忆行数")
    flange: int = number(FLANGE, 0, FLANGE, en="width of the flange", zh="周边宽度")

    def group(self) -> Hashable:
        """Requests of one group may share a batch: the same mode, the same blocks."""
        return (self.mode, self.memory_rows, self.flange, self.keep if self.mode == "complete" else 0)


@dataclass(frozen=True)
class Made:
    """What one pattern of attention has made of a request.

    pattern: one of PATTERNS, or "colour". pictures: (count, row, column) or (count, row, column, channel) levels.
    bits: −log₂ p of each level under the model itself (temperature 1, all levels), in the shape of pictures, float32.
    order: (position,) raster index of the pixel made at each position; in colour a pixel has three positions, its channels.
    starts: (block + 1,) first position of each block, and the end.
    memory: positions that the blocks may see, one block after another; ends: (block,) where each block's part of it ends.
    queries, keys: float16 (layer, head, position, d_head) of the first picture; `weights.weights` makes weights of them.
    """

    pattern: str
    pictures: Levels
    bits: Array
    order: NDArray[np.int16]
    starts: NDArray[np.int16]
    memory: NDArray[np.int16]
    ends: NDArray[np.int32]
    queries: NDArray[np.float16]
    keys: NDArray[np.float16]


@dataclass(frozen=True)
class Explanation:
    """One run.

    made: local_1d and local_2d, in this order; of an enlargement, colour alone.
    given: the whole picture that was given, (row, column) or (row, column, channel), or None. small: what an enlargement started from.
    read: the picture whose surprise is shown, (row, column): the given one, else the first that local_2d made; of an enlargement None.
    surprise: (model, row, column) bits of each pixel of `read` under MODELS, changed as asked for; None where read is.
    unusual: `read`'s bits/dim under local_2d lie above the 99th percentile of held-out pictures: it is unlike what was learned from. Never
    said of a changed model.
    """

    made: tuple[Made, ...]
    given: Levels | None
    small: Levels | None
    read: Levels | None
    surprise: Array | None
    unusual: bool


@dataclass(frozen=True)
class Again:
    """The first pictures of a run, to be read once more under what a request changes.

    request: its mode, its kind and what it changes; of the rest nothing is taken. pictures: bytes of the first picture of each `Made`, in
    their order. small: bytes of what an enlargement started from, else none.
    """

    request: Request
    pictures: tuple[bytes, ...]
    small: bytes = b""


@dataclass(frozen=True)
class Bits:
    """What pictures cost that were read again. bits: −log₂ p of each level, (pattern, row, column), or (1, row, column, channel)."""

    bits: Array


@dataclass(frozen=True)
class Step:
    """Some positions made, of all patterns and pictures of a request at once.

    first: position of the first. levels: (pattern, count, position) or, of an enlargement, (1, count, position): one number per channel
    value, channels inside pixels. bits: −log₂ p, the same shape.
    """

    first: int
    levels: Levels
    bits: Array


EXAMPLES: tuple[Request, ...] = (
    Request(mode="generate", kind=9, seed=7),
    Request(mode="complete", picture="test:0", kind=KINDS, count=3),
    Request(mode="generate", kind=3, seed=3, count=4),
    Request(mode="enlarge", picture="test:0", count=3),
)


def offered() -> tuple[Request, ...]:
    """The examples that the models that are there can make."""
    return tuple(one for one in EXAMPLES if one.mode in modes())
