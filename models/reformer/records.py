"""The requests to the models with attention by hashing and their explanations: frozen records of
NumPy arrays, strings and numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.explaining import request_fields
from models.explaining.batching import Apart
from models.explaining.errors import InputError, check_models, name_character
from models.explaining.request_fields import choice_field, heads_field, number_field, text_field
from models.reformer.letters import LETTERS, WORD

Array = NDArray[np.float32]
Half = NDArray[np.float16]
Short = NDArray[np.int16]
Byte = NDArray[np.uint8]
Flags = NDArray[np.bool_]

MODES = ("word", "text")
# In the order of display.
MODELS = {"word": ("lsh_4", "full", "lsh_2", "lsh_1"), "text": ("text",)}
MAX_TEXT = 1023  # the most characters to read
MAX_ROUNDS = 16
MAX_BUCKETS = 256
MAX_CHUNK = 256
FULL = 0  # instead of rounds: attention without hashing


@dataclass(frozen=True)
class Request(Apart):
    """A request: a word to repeat, or a text to read, and the settings of hashing.

    mode: "word" or "text". text: 1 … 128 of LETTERS, or 1 … 1,023 characters. rounds: of hashing, 1
    … 16, 0 for attention without it, −1 as each model was trained. buckets: an even number 2 … 256,
    0 as trained. chunk: places 1 … 256, 0 as trained. seed: of the rotations. silenced: (variant,
    layer, head) from 0.
    """

    mode: str = choice_field("word", MODES, en="task", zh="任务")
    text: str = text_field("locality sensitive hashing", MAX_TEXT)
    rounds: int = number_field(-1, -1, MAX_ROUNDS, en="number of rounds", zh="轮数")
    buckets: int = number_field(0, 0, MAX_BUCKETS, en="number of buckets", zh="桶数")
    chunk: int = number_field(0, 0, MAX_CHUNK, en="chunk", zh="块长")
    seed: int = request_fields.seed_field(1)
    silenced: tuple[tuple[str, int, int], ...] = heads_field(
        [variant for mode in MODES for variant in MODELS[mode]]
    )

    @property
    def plain_text(self) -> str:
        """The text as the models read it."""
        return request_fields.read_text(self.text)


@dataclass(frozen=True)
class Read:
    """The result of one model.

    variant: its name. answer: the likeliest token at each target, given everything before it,
    (letter,). said: the same as text. right: whether it is the target, (letter,). nats: −log p of
    the target, (letter,). correct: the share of right ones. queries: the shared queries, (layer,
    head, position, d_head). buckets: (layer, head, round, position), no rounds without hashing.
    chunk, kinds: places of a chunk, and buckets, as it ran.
    """

    variant: str
    answer: Short
    said: str
    right: Flags
    nats: Array
    correct: float
    queries: Half
    buckets: Short
    chunk: int
    kinds: int


@dataclass(frozen=True)
class Explanation:
    """The explanation of one run.

    tokens: the tokens read, as text for each position, (position,). wanted: positions whose next
    token is a target, (letter,). read: by each available model, in the order of MODELS.
    """

    tokens: tuple[str, ...]
    wanted: Short
    read: tuple[Read, ...]
    seed: int


@dataclass(frozen=True)
class Hashing:
    """One round of one head, step by step.

    rotated: q_i R / |q_i|, (position, half); the entry of largest size, with its sign, is the
    bucket. buckets: (position,). order: positions sorted by (bucket, position), (place,); a chunk
    is `chunk` places. seen: whether a query may attend to a key in this round, without its future,
    (query, key). weights: of this round alone, (query, key).
    """

    rotated: Array
    buckets: Short
    order: Short
    chunk: int
    seen: Flags
    weights: Half


@dataclass(frozen=True)
class Hashings:
    """Every round of every head of a run's first model, (layer, head, round)."""

    rounds: tuple[tuple[tuple[Hashing, ...], ...], ...]


@dataclass(frozen=True)
class Missed:
    """The attention of one head that hashing misses.

    log_full: the logarithm of the weights of full attention, 0 where a query may not attend,
    (query, key). kinds: numbers of buckets. table, pairs: mean lost weight, and the share of pairs
    of a query and an earlier key that met, both in per cent, after 1, 2, … MAX_ROUNDS rounds with
    each number of buckets, (round, kind). first: the round, from 1, in which a pair first met with
    `chosen` buckets; 0 if it meets in none of MAX_ROUNDS, and for the query itself and its future,
    (query, key).
    """

    log_full: Array
    kinds: tuple[int, ...]
    table: Array
    pairs: Array
    chosen: int
    first: Byte


@dataclass(frozen=True)
class Rewound:
    """The inputs of layers, recomputed from the outputs of the last on the run's own sequence.

    Each (layer,): the largest difference from the original input, in single and in double
    precision. forward, again: the norm of each layer's original and recomputed input, in single
    precision, (layer, position).
    """

    single: NDArray[np.float64]
    double: NDArray[np.float64]
    forward: Array
    again: Array


@dataclass(frozen=True)
class InChunks:
    """A feed-forward network in `chunks` parts: for each number, the largest difference from the
    whole, and the bytes of inner values in memory at once."""

    chunks: tuple[int, ...]
    difference: tuple[float, ...]
    inner_bytes: tuple[int, ...]


@dataclass(frozen=True)
class Backwards:
    """The layers of a model forward and back, and one layer's feed-forward network in parts."""

    rewound: Rewound
    parts: InChunks


@dataclass(frozen=True)
class Place(Apart):
    """A head of one model in a run.

    layer, head: from 0. number: a round from 0, or buckets, depending on the request.
    """

    request: Request
    variant: str
    layer: int = 0
    head: int = 0
    number: int = 0


def check(request: Request) -> None:
    """Check a request.

    Raise InputError if an option is out of range or the text cannot be read.
    """
    request_fields.check_request(request)
    if not request.text:
        raise InputError("empty", en="Type at least one letter.", zh="请至少输入一个字母。")
    if request.mode == "word":
        if len(request.text) > WORD:
            raise request_fields.refuse_long_text(request.text, WORD)
        other = sorted({letter for letter in request.plain_text if letter not in LETTERS})
        if other:
            shown = " ".join(map(name_character, other[:8]))
            raise InputError(
                "letters",
                en=f"The models read a to z, the space and .,-! only, and so not {shown}.",
                zh=f"模型只认识 a 到 z、空格和 .,-!，不认识 {shown}。",
            )
    if request.buckets % 2:
        raise InputError(
            "buckets",
            en=(
                f"The number of buckets is {request.buckets}; it must be even, since each direction"
                " has its mirror image."
            ),
            zh=f"桶数为 {request.buckets}；它必须是偶数，因为每个方向都有其镜像。",
        )
    check_models(request.silenced, MODELS[request.mode])


EXAMPLES: tuple[Request, ...] = (
    Request(),
    Request(text="to be, or not to be, that is the question", rounds=1),
    Request(
        text="the quick brown fox jumps over the lazy dog, and the lazy dog sleeps on", rounds=2
    ),
    Request(text="tweedledum and tweedledee agreed to have a battle", rounds=4, buckets=4),
)
