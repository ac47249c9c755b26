"""What crosses the border between the models with attention by hashing and a page: frozen records of NumPy arrays, strings and numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models import fields
from models.errors import InputError, check_models
from models.fields import characters, choice, heads, number
from models.reformer.letters import LETTERS, WORD
from models.turns import Apart

Array = NDArray[np.float32]
Half = NDArray[np.float16]
Short = NDArray[np.int16]
Byte = NDArray[np.uint8]
Flags = NDArray[np.bool_]

MODES = ("word", "text")
MODELS = {"word": ("lsh_4", "full", "lsh_2", "lsh_1"), "text": ("text",)}  # in the order they stand side by side
MAX_TEXT = 1023  # characters that can be read
MAX_ROUNDS = 16
MAX_BUCKETS = 256
MAX_CHUNK = 256
FULL = 0  # in place of rounds: attention without hashing


@dataclass(frozen=True)
class Request(Apart):
    """A word to say twice, or a text to read, and how the models hash meanwhile.

    mode: "word" or "text". text: 1 … 128 of LETTERS, or 1 … 1,023 characters. rounds: of hashing, 1 … 16, 0 for attention without it, −1 as
    each model was trained. buckets: an even number 2 … 256, 0 as trained. chunk: places 1 … 256, 0 as trained. seed: of the rotations.
    silenced: (variant, layer, head) from 0.
    """

    mode: str = choice("word", MODES, en="task", zh="任务")
    text: str = characters("locality sensitive hashing", MAX_TEXT)
    rounds: int = number(-1, -1, MAX_ROUNDS, en="number of rounds", zh="轮数")
    buckets: int = number(0, 0, MAX_BUCKETS, en="number of buckets", zh="桶数")
    chunk: int = number(0, 0, MAX_CHUNK, en="chunk", zh="块长")
    seed: int = fields.seed(1)
    silenced: tuple[tuple[str, int, int], ...] = heads([variant for mode in MODES for variant in MODELS[mode]])


@dataclass(frozen=True)
class Read:
    """What one model made of it.

    variant: its name. answer: (letter,) the likeliest token at each wanted place, everything before it given; said: the same as text.
    nats: (letter,) −log p of what was wanted there. correct: share of right ones.
    queries: (layer, head, position, d_head), the shared queries; buckets: (layer, head, round, position), no rounds without hashing.
    chunk, kinds: places of a chunk, and buckets, as it ran.
    """

    variant: str
    answer: Short
    said: str
    nats: Array
    correct: float
    queries: Half
    buckets: Short
    chunk: int
    kinds: int


@dataclass(frozen=True)
class Explanation:
    """One run. tokens: (position,) what was read, as text for each position; wanted: (letter,) positions whose next token is wanted.

    read: by each model that is there, in the order of MODELS.
    """

    tokens: tuple[str, ...]
    wanted: Short
    read: tuple[Read, ...]
    seed: int


@dataclass(frozen=True)
class Hashing:
    """One round of one head, step by step.

    rotated: (position, half) q_i R / |q_i|, of which the largest size, with its sign, is the bucket. buckets: (position,). order:
    (place,) positions sorted by (bucket, position); a chunk is `chunk` places.
    seen: (query, key) bool, what a query may attend to in this round, its future left out. weights: (query, key) of this round alone.
    """

    rotated: Array
    buckets: Short
    order: Short
    chunk: int
    seen: Flags
    weights: Half


@dataclass(frozen=True)
class Hashings:
    """Every round of every head of a run's first model: (layer, head, round)."""

    rounds: tuple[tuple[tuple[Hashing, ...], ...], ...]


@dataclass(frozen=True)
class Missed:
    """What hashing misses of one head's attention.

    log_full: (query, key) the logarithm of the weights of everything before, 0 where a query may not look. kinds: numbers of buckets.
    table, pairs: (round, kind) mean lost weight, and share of the pairs of a query and an earlier key that met, both in per cent, after
    1, 2, … MAX_ROUNDS rounds with so many buckets.
    first: (query, key) the round from 1 on in which a pair first met with `chosen` buckets; 0 where none of MAX_ROUNDS lets it meet, and
    for the query itself and its future.
    """

    log_full: Array
    kinds: tuple[int, ...]
    table: Array
    pairs: Array
    chosen: int
    first: Byte


@dataclass(frozen=True)
class Rewound:
    """Inputs of layers computed again from the outputs of the last, on the run's own sequence.

    Each (layer,): the largest difference to what had gone in, in single and in double precision. forward, again: (layer, position) norm of
    what went into each layer, and of what came back, in single precision.
    """

    single: NDArray[np.float64]
    double: NDArray[np.float64]
    forward: Array
    again: Array


@dataclass(frozen=True)
class InChunks:
    """A feed-forward network in `chunks` parts: largest difference to the whole, and bytes of inner values that stand at once for each."""

    chunks: tuple[int, ...]
    difference: tuple[float, ...]
    inner_bytes: tuple[int, ...]


@dataclass(frozen=True)
class Backwards:
    """A model's layers forward and back, and one layer's feed-forward network in parts."""

    rewound: Rewound
    parts: InChunks


@dataclass(frozen=True)
class Place(Apart):
    """A head of one model in a run. layer, head: from 0. number: a round from 0, or buckets, whichever is asked about."""

    request: Request
    variant: str
    layer: int = 0
    head: int = 0
    number: int = 0


def check(request: Request) -> None:
    """InputError where an option lies outside what there is, or the text cannot be read."""
    fields.check(request)
    if not request.text:
        raise InputError("empty", en="Type at least one letter.", zh="请至少输入一个字母。")
    if request.mode == "word":
        if len(request.text) > WORD:
            raise fields.too_long(request.text, WORD)
        other = sorted({letter for letter in request.text if letter not in LETTERS})
        if other:
            shown = " ".join(letter if letter.isprintable() else "?" for letter in other[:8])
            raise InputError(
                "letters",
                en=f"The models read a to z, the space and .,-! only, and so not {shown}.",
                zh=f"模型只认识 a 到 z、空格和 .,-!，不认识 {shown}。",
            )
    if request.buckets % 2:
        raise InputError(
            "buckets",
            en=f"The number of buckets is {request.buckets}; it must be even, since each direction has its mirror image.",
            zh=f"桶数为 {request.buckets}；它必须是偶数，因为每个方向都有其镜像。",
        )
    check_models(request.silenced, MODELS[request.mode])


EXAMPLES: tuple[Request, ...] = (
    Request(),
    Request(text="to be, or not to be, that is the question", rounds=1),
    Request(text="the quick brown fox jumps over the lazy dog, and the lazy dog sleeps on", rounds=2),
    Request(text="tweedledum and tweedledee agreed to have a battle", rounds=4, buckets=4),
)
