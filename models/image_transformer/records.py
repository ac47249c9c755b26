"""The requests to the picture models and their explanations: frozen records of NumPy arrays,
strings and numbers, without torch."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.checkpoints import folders
from models.data.pixels import Levels as Levels
from models.data.pixels import pack_pixels
from models.explaining import request_fields
from models.explaining.request_fields import any_field, choice_field, heads_field, number_field

Array = NDArray[np.float32]
spelled = pack_pixels  # levels as a request carries them

SIDE = 28  # rows and columns of a grey picture
LARGE, SMALL = 16, 8  # sides of a coloured picture and of its small version
PATTERNS = ("local_1d", "local_2d")  # in the order of every array with an axis of patterns
COLOUR = "colour"  # the pattern of an enlargement
MODELS = (*PATTERNS, "pixelcnn")  # the models that can measure the surprise at a picture
MODES = ("generate", "complete", "enlarge")


def modes() -> tuple[str, ...]:
    """Return the available modes: all of them, or only "enlarge" beside a user's own coloured
    model."""
    return (
        MODES[2:]
        if folders.find_user_folder("image_transformer")
        and folders.list_trained("image_transformer", (COLOUR,))
        else MODES
    )


KINDS = 10  # kinds of picture; KINDS itself stands for an unknown kind
MAX_COUNT = 4  # pictures at once
LEVELS = 256  # grey levels, or levels of a channel
# Rows to keep of a picture: whole rows of tiles, so that both orders continue the same part.
ROWS_KEPT = (7, 14, 21)
MEMORY_ROWS = 4  # of the 1D model, as trained
FLANGE = 7  # of the 2D model, as trained


@dataclass(frozen=True)
class Request:
    """A request: the pictures to generate, and the changes to the models.

    mode: "generate" a picture of a kind, "complete" one with a given top, or "enlarge" a small
    coloured one. kind: 0 … 9, or 10 if unknown. seed: of all draws, 0 … 999,999. temperature: of
    the distribution over levels, 0.1 … 2. top_k: draw from so many of the likeliest levels, 1 …
    256. count: pictures at once, 1 … 4. picture: base64 of 28 × 28 levels (complete) or of 16 × 16
    × 3 (enlarge), or "test:17", the 18th of the shipped held-out examples; empty if none is needed.
    keep: its rows that stay. silenced: (pattern, layer, head) from 0. memory_rows: rows before the
    block that the 1D model may see. flange: pixels around the tile that the 2D model may see. Both
    are at most as trained.
    """

    mode: str = choice_field(modes()[0], MODES, en="mode", zh="模式")
    kind: int = choice_field(9, range(KINDS + 1), en="kind of picture", zh="图片类别")
    seed: int = request_fields.seed_field(7)
    temperature: float = request_fields.temperature_field(1.0, 0.1)
    top_k: int = number_field(
        LEVELS, 1, LEVELS, en="number of likeliest levels", zh="最可能灰度级的个数"
    )
    count: int = number_field(1, 1, MAX_COUNT, en="number of pictures", zh="图片数")
    picture: str = any_field("")
    keep: int = choice_field(14, ROWS_KEPT, en="number of rows to keep", zh="保留行数")
    silenced: tuple[tuple[str, int, int], ...] = heads_field([*PATTERNS, COLOUR])
    memory_rows: int = number_field(
        MEMORY_ROWS, 0, MEMORY_ROWS, en="number of memory rows", zh="记忆行数"
    )
    flange: int = number_field(FLANGE, 0, FLANGE, en="width of the flange", zh="周边宽度")

    def group(self) -> Hashable:
        """Return the key of a batch: requests with the same mode and blocks may share one."""
        return (
            self.mode,
            self.memory_rows,
            self.flange,
            self.keep if self.mode == "complete" else 0,
        )


@dataclass(frozen=True)
class Made:
    """The pictures of one pattern of attention.

    pattern: one of PATTERNS, or "colour". pictures: levels, (count, row, column) or (count, row,
    column, channel). bits: −log₂ p of each level under the model itself (temperature 1, all
    levels), in the shape of pictures, float32. order: raster index of the pixel at each position,
    (position,); in colour a pixel has three positions, its channels. starts: first position of each
    block, and the end, (block + 1,). memory: positions that the blocks may see, one block after
    another. ends: the end of each block's part of it, (block,). queries, keys: of the first
    picture, (layer, head, position, d_head), float16; `weights.weights` computes weights from them.
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
    """The explanation of one run.

    made: local_1d and local_2d, in this order; for an enlargement, colour alone. given: the whole
    given picture, (row, column) or (row, column, channel), or None. small: the input of an
    enlargement. read: the picture whose surprise is measured, (row, column): the given one,
    otherwise the first from local_2d; None for an enlargement. surprise: bits of each pixel of
    `read` under MODELS, with the changes of the request, (model, row, column); None if `read` is.
    unusual: whether the bits/dim of `read` under local_2d exceed the 99th percentile of held-out
    pictures, so that it is unlike the training data; never set for a changed model.
    """

    made: tuple[Made, ...]
    given: Levels | None
    small: Levels | None
    read: Levels | None
    surprise: Array | None
    unusual: bool


@dataclass(frozen=True)
class Rereading:
    """The first pictures of a run, to measure again under the changes of a request.

    request: gives its mode, kind and changes; its other fields are ignored. pictures: bytes of the
    first picture of each `Made`, in their order. small: bytes of the input of an enlargement,
    otherwise none.
    """

    request: Request
    pictures: tuple[bytes, ...]
    small: bytes = b""


@dataclass(frozen=True)
class Bits:
    """The cost of pictures that are measured again.

    bits: −log₂ p of each level, (pattern, row, column), or (1, row, column, channel).
    """

    bits: Array


@dataclass(frozen=True)
class Step:
    """Positions just generated, for all patterns and pictures of a request.

    first: the position of the first. levels: (pattern, count, position), or (1, count, position)
    for an enlargement: one number per channel value, channels inside pixels. bits: −log₂ p, in the
    same shape.
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


def list_examples() -> tuple[Request, ...]:
    """Return the examples that the available models can run."""
    return tuple(one for one in EXAMPLES if one.mode in modes())
