"""The requests to the sparse models and their explanations: frozen records of NumPy arrays, strings
and numbers, without torch."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from models.checkpoints import folders
from models.data.pixels import Levels as Pixels
from models.data.pixels import pack_pixels, unpack_pixels
from models.explaining import request_fields
from models.explaining.errors import InputError, check_models, name_character
from models.explaining.request_fields import (
    any_field,
    choice_field,
    clean_for_sentence,
    heads_field,
    number_field,
    text_field,
)
from models.explaining.shared_records import Array as Array
from models.explaining.shared_records import Losses as Losses
from models.explaining.shared_records import Rereading as Rereading
from models.layers.patterns import KINDS
from models.layers.patterns import Pattern as Pattern

Half = NDArray[np.float16]

SIDE = 28  # rows and columns of a digit
PATTERNS = KINDS
TASKS = ("digit", "text")
# In the order of display.
MODELS = {"digit": ("strided", "dense", "fixed"), "text": ("text_fixed", "text_strided")}
POSITIONS = {"digit": SIDE * SIDE, "text": 1024}  # the most symbols, given and generated together


@dataclass(frozen=True)
class Request:
    """A request: a digit or a text to read and continue, and the changes to the models.

    task: "digit" or "text". drawing: the output of `spell_pixels`, or "test:17", the 18th of the
    shipped held-out digits. keep: its rows that stay, 0 … 28; the pixels below are generated. text:
    given characters. length: characters to generate after them; both for "text" alone. seed: of all
    draws, 0 … 999,999. temperature: 0 … 2. pattern: "full", "strided" or "fixed" instead of each
    model's own; empty as trained. stride, summary: instead of its own; 0 for none. silenced:
    (variant, layer, head) from 0.
    """

    task: str = choice_field("digit", TASKS, en="task", zh="任务")
    drawing: str = any_field("test:0")
    keep: int = number_field(14, 0, SIDE, en="number of rows", zh="行数")
    text: str = text_field("", POSITIONS["text"])
    length: int = number_field(256, 0, POSITIONS["text"], en="length", zh="长度")
    seed: int = request_fields.seed_field(7)
    temperature: float = request_fields.temperature_field(1.0)
    pattern: str = choice_field("", ("", *KINDS), en="pattern", zh="模式")
    stride: int = number_field(0, 0, POSITIONS["text"], en="stride", zh="步长")
    summary: int = number_field(0, 0, POSITIONS["text"], en="width of the summary", zh="摘要宽度")
    silenced: tuple[tuple[str, int, int], ...] = heads_field(
        [variant for task in TASKS for variant in MODELS[task]]
    )

    @property
    def plain_text(self) -> str:
        """The text as the models read it."""
        return request_fields.read_text(self.text)

    @property
    def changes_models(self) -> bool:
        """Whether the request changes the models."""
        return bool(self.pattern or self.stride or self.summary or self.silenced)

    def group(self) -> Hashable:
        """Return the key of a batch: requests with the same models, patterns, number of positions
        and number of given ones may share one."""
        extent: tuple[int, ...] = (
            (self.keep,) if self.task == "digit" else (len(self.text), self.length)
        )
        return (self.task, self.pattern, self.stride, self.summary, *extent)


@dataclass(frozen=True)
class Made:
    """The symbols that one model read and generated.

    variant: its name. pattern: its pattern of attention, and use, "interleaved", "merged" or
    "split". symbols: pixels, 0 or 1, in raster order, or numbers of characters, (position,). given:
    whether a symbol was given, (position,). nats: −log p of each, given or generated, under the
    model as it ran, temperature 1, (position,). drawn: the same symbols as text, empty for a digit.
    unusual: whether the given symbols cost more than those of 99 of 100 held-out digits or texts,
    so that they are unlike the training data; never set for a changed model. queries, keys: (layer,
    head, position, d_head), float16; `weights.look` computes weights from them.
    """

    variant: str
    pattern: Pattern
    use: str
    symbols: NDArray[np.int16]
    given: NDArray[np.bool_]
    nats: Array
    drawn: str
    unusual: bool
    queries: Half
    keys: Half

    @property
    def text(self) -> str:
        """The given and the written text, `drawn`."""
        return self.drawn


@dataclass(frozen=True)
class Explanation:
    """The explanation of one run.

    made: by each available model, in the order of MODELS. kind: the digit of a held-out example,
    otherwise −1. whole: the digit as given, with the rows that were not kept, (28, 28); None for a
    text.
    """

    made: tuple[Made, ...]
    kind: int
    whole: Pixels | None


@dataclass(frozen=True)
class Step:
    """Positions just read or generated by one model.

    variant: its name. first: the position of the first. symbols, nats, drawn: as in `Made`.
    """

    variant: str
    first: int
    symbols: NDArray[np.int16]
    nats: Array
    drawn: str = ""


def spell_pixels(pixels: ArrayLike) -> str:
    """Return pixels, 0 or 1, as a request carries them: base64 of one bit each, in raster order."""
    return pack_pixels(np.packbits(np.asarray(pixels, np.uint8).reshape(-1)))


def read_drawing(text: str) -> Pixels:
    """Return the pixels from the output of `spell_pixels`, (28, 28).

    Raise InputError if the text is no drawing of this size.
    """
    try:
        return np.unpackbits(np.frombuffer(unpack_pixels(text), np.uint8)).reshape(SIDE, SIDE)
    except ValueError:
        said_en, said_zh = (
            f"The link carries no drawing of {SIDE} × {SIDE} pixels.",
            f"链接中没有 {SIDE} × {SIDE} 的图画。",
        )
        raise InputError("drawing", en=said_en, zh=said_zh) from None


def read_text(request: Request, letters: str, length: int) -> None:
    """Check the text of a request.

    Raise InputError if it is too long with the characters to generate, or has an unknown character.
    """
    strange = next((c for c in request.plain_text if c not in letters), None)
    if strange is not None:
        letter = name_character(strange)
        raise InputError(
            "unseen",
            en=(
                f"The text has the character {letter}, which the books that were learned from do"
                " not hold."
            ),
            zh=f"文本中有字符 {letter}，模型学习的书中没有出现过。",
        )
    given, total = len(request.plain_text), len(request.plain_text) + request.length
    if total > length:
        raise InputError(
            "too_long",
            en=(
                f"The text has {given:,} characters and {request.length:,} are to be made;"
                f" {length:,} together are the most."
            ),
            zh=f"文本有 {given:,} 个字符，还要生成 {request.length:,} 个；合计最多 {length:,} 个。",
        )
    if total == 0:
        raise InputError(
            "empty",
            en="There is no text to read and none to make.",
            zh="没有可读的文本，也没有要生成的文本。",
        )


def check(request: Request) -> None:
    """Check a request.

    Raise InputError if an option is out of range.
    """
    request_fields.check_request(request)
    check_models(request.silenced, MODELS[request.task])
    if request.task == "text" and not reads("text"):
        raise InputError(
            "task",
            en="No model of texts is shipped with this page; it reads digits.",
            zh="本页没有附带文本模型；它只读数字。",
        )


def pattern_of(kind: str, stride: int, summary: int) -> Pattern:
    """Return the pattern of a user's numbers.

    Raise InputError if they form none.
    """
    if kind not in KINDS:
        listed = ", ".join(KINDS)
        raise InputError(
            "pattern",
            en=f"There is no pattern {clean_for_sentence(kind)}; there are {listed}.",
            zh=f"没有 {clean_for_sentence(kind)}；可用的有 {listed}。",
        )
    whole = all(
        isinstance(number, int) and not isinstance(number, bool) for number in (stride, summary)
    )
    if not whole or not 1 <= summary <= stride:
        raise InputError(
            "summary",
            en=(
                f"A stride of {clean_for_sentence(stride)} with {clean_for_sentence(summary)}"
                " summary columns makes no pattern; there can be 1 to the stride."
            ),
            zh=(
                f"步长 {clean_for_sentence(stride)} 配 {clean_for_sentence(summary)}"
                " 个摘要列不成模式；摘要列数应在 1 到步长之间。"
            ),
        )
    return Pattern(kind, stride, summary)


def share(kind: str, stride: int, summary: int, length: int = SIDE * SIDE) -> float:
    """Return the share of the pairs of full attention, L (L + 1) / 2, in a pattern.

    Raise InputError as `pattern_of` does.
    """
    return float(pattern_of(kind, stride, summary).joint_factor.count_keys(length).sum()) / (
        length * (length + 1) / 2
    )


SIR_WALTER = (  # Persuasion (1818), held out of training
    "Sir Walter Elliot, of Kellynch Hall, in Somersetshire, was a man who,\nfor his own amusement,"
    " never took up any book but the Baronetage; there\nhe found occupation for an idle hour, and"
    " consolation in a distressed\none;"
)

DIGITS: tuple[Request, ...] = (
    Request(),
    Request(drawing="test:3", seed=3),
    Request(drawing="test:8", keep=10),
    Request(drawing="test:4", keep=SIDE),
)
TEXTS: tuple[Request, ...] = (
    Request("text", text=SIR_WALTER),
    Request("text", text="It was the best of ", length=200, seed=3),
)


def reads(task: str) -> bool:
    """Return whether a trained model of this task is shipped."""
    return bool(folders.list_trained("sparse_transformer", MODELS[task]))


EXAMPLES: tuple[Request, ...] = (*DIGITS, *(TEXTS if reads("text") else ()))
