"""What crosses the border between the sparse models and a page: frozen records of NumPy arrays, strings and numbers. No torch here."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from models import fields, folders
from models.errors import InputError, check_models
from models.fields import anything, characters, choice, heads, number, shown
from models.layers.patterns import KINDS
from models.layers.patterns import Pattern as Pattern
from models.pixels import Levels as Pixels
from models.pixels import packed, unpacked
from models.results import Again as Again
from models.results import Array as Array
from models.results import Losses as Losses

Half = NDArray[np.float16]

SIDE = 28  # rows and columns of a digit
PATTERNS = KINDS
TASKS = ("digit", "text")
MODELS = {"digit": ("strided", "dense", "fixed"), "text": ("text_fixed", "text_strided")}  # in the order they stand side by side
POSITIONS = {"digit": SIDE * SIDE, "text": 1024}  # at most, given and made together


@dataclass(frozen=True)
class Request:
    """A digit or a text to read and go on with, and what is changed in the models meanwhile.

    task: "digit" or "text". drawing: what `drawing` wrote, or "test:17", the 18th of the held-out digits that are shipped. keep: rows of it
    that stay, 0 … 28; the pixels below are made. text: given characters. length: characters to make after them; both for "text" alone.
    seed: of all draws, 0 … 999,999. temperature: 0 … 2.
    pattern: "full", "strided" or "fixed" in place of each model's own; empty as trained. stride, summary: in place of its own; 0 for none.
    silenced: (variant, layer, head) from 0.
    """

    task: str = choice("digit", TASKS, en="task", zh="任务")
    drawing: str = anything("test:0")
    keep: int = number(14, 0, SIDE, en="number of rows", zh="行数")
    text: str = characters("", POSITIONS["text"])
    length: int = number(256, 0, POSITIONS["text"], en="length", zh="长度")
    seed: int = fields.seed(7)
    temperature: float = fields.temperature(1.0)
    pattern: str = choice("", ("", *KINDS), en="pattern", zh="模式")
    stride: int = number(0, 0, POSITIONS["text"], en="stride", zh="步长")
    summary: int = number(0, 0, POSITIONS["text"], en="width of the summary", zh="摘要宽度")
    silenced: tuple[tuple[str, int, int], ...] = heads([variant for task in TASKS for variant in MODELS[task]])

    def group(self) -> Hashable:
        """Requests of one group may share a batch: the same models and patterns, as many positions, as many of them given."""
        extent: tuple[int, ...] = (self.keep,) if self.task == "digit" else (len(self.text), self.length)
        return (self.task, self.pattern, self.stride, self.summary, *extent)


@dataclass(frozen=True)
class Made:
    """What one model has read and made.

    variant: its name. pattern: what it attended with, and use, "interleaved", "merged" or "split". symbols: (position,) pixels, 0 or 1, in
    raster order, or numbers of characters. given: (position,) bool, which of them were given. nats: (position,) −log p of each, given or
    made, under the model as it ran, temperature 1. drawn: the same symbols as text, empty for a digit.
    unusual: what was given costs more than 99 of 100 held-out digits or texts do: it is unlike what was learned from.
    queries, keys: (layer, head, position, d_head) float16; `weights.look` makes weights of them.
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
        """What was given, and what was written after it: `drawn`."""
        return self.drawn


@dataclass(frozen=True)
class Explanation:
    """One run. made: by each model that is there, in the order of MODELS. kind: which digit a held-out one is, else −1.

    whole: (28, 28) the digit as it was given, the rows that were not kept too; None for a text.
    """

    made: tuple[Made, ...]
    kind: int
    whole: Pixels | None


@dataclass(frozen=True)
class Step:
    """Some positions read or made by one model. variant: its name. first: position of the first. symbols, nats, drawn: of them, as in
    `Made`."""

    variant: str
    first: int
    symbols: NDArray[np.int16]
    nats: Array
    drawn: str = ""


def spelled(pixels: ArrayLike) -> str:
    """Pixels, 0 or 1, as a request carries them: base64 of one bit each, in raster order."""
    return packed(np.packbits(np.asarray(pixels, np.uint8).reshape(-1)))


def read_drawing(text: str) -> Pixels:
    """(28, 28) the pixels that `drawing` wrote. InputError where the text is no drawing of this size."""
    try:
        return np.unpackbits(np.frombuffer(unpacked(text), np.uint8)).reshape(SIDE, SIDE)
    except ValueError:
        said_en, said_zh = f"The link carries no drawing of {SIDE} × {SIDE} pixels.", f"链接中没有 {SIDE} × {SIDE} 的图画。"
        raise InputError("drawing", en=said_en, zh=said_zh) from None


def read_text(request: Request, letters: str, length: int) -> None:
    """InputError where the text cannot be read: too long with what is to be made, or with a character that was never seen."""
    strange = next((c for c in request.text if c not in letters), None)
    if strange is not None:
        letter = strange if strange.isprintable() else f"U+{ord(strange):04X}"
        raise InputError(
            "unseen",
            en=f"The text has the character {letter}, which the books that were learned from do not hold.",
            zh=f"文本中有字符 {letter}，模型学习的书中没有出现过。",
        )
    total = len(request.text) + request.length
    if total > length:
        raise InputError(
            "too_long",
            en=f"The text has {len(request.text):,} characters and {request.length:,} are to be made; {length:,} together are the most.",
            zh=f"文本有 {len(request.text):,} 个字符，还要生成 {request.length:,} 个；合计最多 {length:,} 个。",
        )
    if total == 0:
        raise InputError("empty", en="There is no text to read and none to make.", zh="没有可读的文本，也没有要生成的文本。")


def check(request: Request) -> None:
    """InputError where an option lies outside what there is."""
    fields.check(request)
    check_models(request.silenced, MODELS[request.task])
    if request.task == "text" and not reads("text"):
        raise InputError(
            "task", en="No model of texts is shipped with this page; it reads digits.", zh="本页没有附带文本模型；它只读数字。"
        )


def pattern_of(kind: str, stride: int, summary: int) -> Pattern:
    """The pattern of a visitor's numbers. InputError where they make none."""
    if kind not in KINDS:
        listed = ", ".join(KINDS)
        raise InputError(
            "pattern", en=f"There is no pattern {shown(kind)}; there are {listed}.", zh=f"没有 {shown(kind)}；可用的有 {listed}。"
        )
    whole = all(isinstance(number, int) and not isinstance(number, bool) for number in (stride, summary))
    if not whole or not 1 <= summary <= stride:
        raise InputError(
            "summary",
            en=f"A stride of {shown(stride)} with {shown(summary)} summary columns makes no pattern; there can be 1 to the stride.",
            zh=f"步长 {shown(stride)} 配 {shown(summary)} 个摘要列不成模式；摘要列数应在 1 到步长之间。",
        )
    return Pattern(kind, stride, summary)


def share(kind: str, stride: int, summary: int, length: int = SIDE * SIDE) -> float:
    """Part of the pairs of full attention, L (L + 1) / 2, that a pattern holds. InputError as for `pattern_of`."""
    return float(pattern_of(kind, stride, summary).union.counts(length).sum()) / (length * (length + 1) / 2)


SIR_WALTER = (
    "Sir Walter Elliot, of Kellynch Hall, in Somersetshire, was a man who,\nfor his own amusement, never took up any book "
    "but the Baronetage; there\nhe found occupation for an idle hour, and consolation in a distressed\none;"
)  # Persuasion (1818), which was held out of training

DIGITS: tuple[Request, ...] = (
    Request(),
    Request(drawing="test:3", seed=3),
    Request(drawing="test:8", keep=10),
    Request(drawing="test:4", keep=SIDE),
)
TEXTS: tuple[Request, ...] = (Request("text", text=SIR_WALTER), Request("text", text="It was the best of ", length=200, seed=3))


def reads(task: str) -> bool:
    """Is a trained model of this task shipped?"""
    return bool(folders.trained("sparse_transformer", MODELS[task]))


EXAMPLES: tuple[Request, ...] = (*DIGITS, *(TEXTS if reads("text") else ()))
