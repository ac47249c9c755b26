"""What crosses the border between the models and a page: frozen records of NumPy arrays, strings and numbers. No torch here."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models import fields, folders
from models.errors import InputError, no_head
from models.fields import anything, characters, choice, number, passage, shown

Array = NDArray[np.float32]
Half = NDArray[np.float16]

VARIANTS = ("adaptive", "fixed", "dynamic")  # in the order they stand side by side
FOLDER = Path(__file__).parent / "pages"
PAGES = ("letter", "lyme", "kellynch")  # of Jane Austen's Persuasion (1818), a book that no model was trained on
MAX_TEXT = 3000  # characters that may be read
MAX_WRITTEN = 600  # characters that may be written after them
EVERY = -1  # in place of a layer or of a head: all of them


def shipped() -> tuple[str, ...]:
    """The variants of which a trained model is shipped, in the order of VARIANTS."""
    return folders.trained("adaptive_span", VARIANTS)


@dataclass(frozen=True)
class Request:
    """A text to read and go on with, and what is changed in the model meanwhile.

    text: the visitor's own; "" takes the held-out page called `page`. length: characters to write after it, 0 … 600. seed: 0 … 999,999.
    temperature: 0 … 2. variant: of those that are shipped.
    spans: (layer, head, z) from 0, EVERY for all of them, z in positions; later ones win.
    """

    text: str = characters("", MAX_TEXT)
    page: str = choice("letter", PAGES, en="page", zh="页面")
    length: int = number(300, 0, MAX_WRITTEN, en="length", zh="长度")
    seed: int = fields.seed(7)
    temperature: float = fields.temperature(0.8)
    variant: str = choice("adaptive", shipped() or VARIANTS[:1], en="variant", zh="变体")
    spans: tuple[tuple[int, int, float], ...] = anything(())

    def group(self) -> Hashable:
        """Requests of one group may share a batch: the same model with the same spans."""
        return (self.variant, self.spans)


@dataclass(frozen=True)
class Saved:
    """What spans save against the model whose heads all have the full span S. Ramps are counted as positions attended to.

    positions: (layer, head) mean number of positions that a character of this text attends to; full_positions: with the full span.
    long_positions: (layer, head) the same in a text without end; full_long_positions: S.
    flops, full_flops: of attention, for a character of a text without end, all layers; other_flops: of all else, which no span changes.
    cache_bytes, full_cache_bytes: keys and values that must be remembered to go on writing, in float32.
    """

    positions: Array
    full_positions: float
    long_positions: Array
    full_long_positions: int
    flops: float
    full_flops: float
    other_flops: float
    cache_bytes: int
    full_cache_bytes: int


@dataclass(frozen=True)
class Reading:
    """The same characters read by one model as it was trained. variant: its name; nats: (position,) −log p of each character."""

    variant: str
    nats: Array


@dataclass(frozen=True)
class Explanation:
    """One run.

    variant: the model's name. text: what was read and what was written, one character (code point) per position. given: how many were read.
    nats: (position,) −log p of each under the model as it ran, temperature 1. unknown: (position,) bool, characters that the model does not
    know: it reads and scores all of them as one and the same unknown character.
    z: (layer, head, 1) spans, or (layer, head, position) where they follow the token; forced: (layer, head) bool, given by the request.
    learned: (layer, head) spans as trained; NaN where they follow the token.
    span: S; ramp: R. beside: the same characters read by each other model that is shipped. saved: against the full span.
    queries, keys: (layer, head, position, d_head); table: (layer, distance, d_head), p; all float16. `weights.look` makes weights of them;
    the network reads at position t the character before character t, at position 0 a new line: row t of the weights is where it looked to
    say character t, and column t stands for character t − 1.
    """

    variant: str
    text: str
    given: int
    nats: Array
    unknown: NDArray[np.bool_]
    z: Array
    forced: NDArray[np.bool_]
    learned: Array
    span: int
    ramp: int
    beside: tuple[Reading, ...]
    saved: Saved
    queries: Half
    keys: Half
    table: Half


@dataclass(frozen=True)
class Again:
    """What was read and written, to be read once more under the spans that a request forces. request: its variant and spans; of the rest
    nothing is taken. text: what it was."""

    request: Request
    text: str


@dataclass(frozen=True)
class Losses:
    """What a text costs when it is read again. nats: (position,)."""

    nats: Array


@dataclass(frozen=True)
class Step:
    """Some characters read or written. first: position of the first; text: they; nats: of each; given: whether they were read."""

    first: int
    text: str
    nats: Array
    given: bool


@cache
def page(name: str) -> str:
    """A page of the held-out book, of PAGES. KeyError for another."""
    if name not in PAGES:
        raise KeyError(name)
    return (FOLDER / f"{name}.txt").read_text("utf-8")


def check(request: Request) -> str:
    """The text that a request wants to be read, lines ended by \\n. InputError where an option lies outside what there is."""
    fields.check(request)
    return passage(request.text) if request.text else page(request.page)


def forced_spans(request: Request, layers: int, heads: int, span: int) -> Array:
    """(layer, head) spans that a request forces, NaN where it forces none. InputError where there is no such head, or the span is none."""
    found: Array = np.full((layers, heads), np.nan, np.float32)
    for layer, head, z in request.spans:
        numbers = ((layer, layers), (head, heads))
        if not all(isinstance(i, int) and not isinstance(i, bool) and EVERY <= i < count for i, count in numbers):
            raise no_head(layer, head, layers=layers, heads=heads, code="head")
        if isinstance(z, bool) or not isinstance(z, int | float) or not math.isfinite(z) or not 0 <= z <= span:
            raise InputError(
                "span", en=f"The span is {shown(z)}; it can be 0 to {span:,}.", zh=f"跨度为 {shown(z)}；可以取 0 到 {span:,}。"
            )
        found[slice(None) if layer == EVERY else layer, slice(None) if head == EVERY else head] = z
    return found


OFFERED: tuple[Request, ...] = (
    Request(),
    Request(page="lyme", spans=((EVERY, EVERY, 0.0),)),
    Request(page="kellynch", variant="dynamic", seed=3),
    Request(text="The captain laid down his pipe, and said to Mr. Tobias Finch: ", length=400, seed=11),
)
# Those whose models are there; before anything was trained, those of the first variant.
EXAMPLES: tuple[Request, ...] = tuple(one for one in OFFERED if one.variant in (shipped() or VARIANTS[:1])) or (
    Request(variant=shipped()[0]),
)
