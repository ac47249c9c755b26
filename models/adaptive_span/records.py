"""The requests to the models of adaptive span and their explanations: frozen records of NumPy
arrays, strings and numbers, without torch."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.checkpoints import folders
from models.explaining import request_fields
from models.explaining.errors import InputError, refuse_head
from models.explaining.request_fields import (
    any_field,
    choice_field,
    clean_for_sentence,
    number_field,
    read_passage,
    text_field,
)

Array = NDArray[np.float32]
Half = NDArray[np.float16]

VARIANTS = ("adaptive", "fixed", "dynamic")  # in the order of display
FOLDER = Path(__file__).parent / "pages"
# Pages of Jane Austen's Persuasion (1818), a book on which no model was trained.
PAGES = ("letter", "lyme", "kellynch")
MAX_TEXT = 3000  # the most characters of a text to read
MAX_WRITTEN = 600  # the most characters to write after it
EVERY = -1  # instead of a layer or head: all of them


def list_shipped() -> tuple[str, ...]:
    """Return the variants with a shipped model, in the order of VARIANTS."""
    return folders.list_trained("adaptive_span", VARIANTS)


@dataclass(frozen=True)
class Request:
    """A request: a text to read and continue, and the changes to the model.

    text: the user's text; "" stands for the held-out page called `page`. length: characters to
    write after it, 0 … 600. seed: 0 … 999,999. temperature: 0 … 2. variant: one of the shipped
    variants. spans: (layer, head, z), layers and heads from 0 or EVERY, z in positions; later
    entries win.
    """

    text: str = text_field("", MAX_TEXT)
    page: str = choice_field("letter", PAGES, en="page", zh="页面")
    length: int = number_field(300, 0, MAX_WRITTEN, en="length", zh="长度")
    seed: int = request_fields.seed_field(7)
    temperature: float = request_fields.temperature_field(0.8)
    variant: str = choice_field("adaptive", list_shipped() or VARIANTS[:1], en="variant", zh="变体")
    spans: tuple[tuple[int, int, float], ...] = any_field(())

    def group(self) -> Hashable:
        """Return the key of a batch: requests with the same model and spans may share one."""
        return (self.variant, self.spans)


@dataclass(frozen=True)
class Saved:
    """The savings of spans against a model whose heads all have the full span S.

    Ramps count as attended positions. positions: mean number of positions to which a character of
    this text attends, (layer, head). full_positions: the same with the full span. long_positions:
    the same in an endless text, (layer, head). full_long_positions: S. flops, full_flops: of
    attention, for a character of an endless text, all layers. other_flops: of everything else,
    which spans do not change. cache_bytes, full_cache_bytes: keys and values needed to continue
    writing, in float32.
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
    """The same characters, read by one model as it was trained.

    variant: the model's name. nats: −log p of each character, (position,).
    """

    variant: str
    nats: Array


@dataclass(frozen=True)
class Explanation:
    """The explanation of one run.

    variant: the model's name. text: the characters read and written, one code point per position.
    given: the number of characters read. nats: −log p of each under the model as it ran,
    temperature 1, (position,). unknown: whether the model does not know a character, (position,);
    it reads and scores all of these as the same unknown character.

    z: spans, (layer, head, 1), or (layer, head, position) if they follow the token. forced: whether
    the request forces a span, (layer, head). learned: spans as trained, (layer, head); NaN if they
    follow the token. span: S. ramp: R. beside: the same characters read by each other shipped
    model. saved: the savings against the full span.

    queries, keys: (layer, head, position, d_head), float16. table: p, (layer, distance, d_head),
    float16. `weights.look` computes weights from them. The network reads at position t the
    character before character t, and a new line at position 0: row t of the weights shows the
    attention that predicts character t, and column t stands for character t − 1.
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
class Rereading:
    """A finished text to read again under the spans that a request forces.

    request: gives its variant and spans; its other fields are ignored. text: the finished text.
    """

    request: Request
    text: str


@dataclass(frozen=True)
class Losses:
    """The cost of a text that is read again.

    nats: (position,).
    """

    nats: Array


@dataclass(frozen=True)
class Step:
    """Characters just read or written.

    first: the position of the first. text: the characters. nats: of each. given: whether they were
    read.
    """

    first: int
    text: str
    nats: Array
    given: bool


@cache
def page(name: str) -> str:
    """Return a page of the held-out book from PAGES.

    Raise KeyError for another name.
    """
    if name not in PAGES:
        raise KeyError(name)
    return (FOLDER / f"{name}.txt").read_text("utf-8")


def check(request: Request) -> str:
    """Return the text of a request, with lines ended by \\n.

    Raise InputError if an option is out of range.
    """
    request_fields.check_request(request)
    return read_passage(request.text) if request.text else page(request.page)


def forced_spans(request: Request, layers: int, heads: int, span: int) -> Array:
    """Return the spans that a request forces, (layer, head), NaN where it forces none.

    Raise InputError if there is no such layer or head, or the span is invalid.
    """
    found: Array = np.full((layers, heads), np.nan, np.float32)
    for layer, head, z in request.spans:
        numbers = ((layer, layers), (head, heads))
        if not all(
            isinstance(i, int) and not isinstance(i, bool) and EVERY <= i < count
            for i, count in numbers
        ):
            raise refuse_head(layer, head, layers=layers, heads=heads, code="head")
        if (
            isinstance(z, bool)
            or not isinstance(z, int | float)
            or not math.isfinite(z)
            or not 0 <= z <= span
        ):
            raise InputError(
                "span",
                en=f"The span is {clean_for_sentence(z)}; it can be 0 to {span:,}.",
                zh=f"跨度为 {clean_for_sentence(z)}；可以取 0 到 {span:,}。",
            )
        found[slice(None) if layer == EVERY else layer, slice(None) if head == EVERY else head] = z
    return found


OFFERED: tuple[Request, ...] = (
    Request(),
    Request(page="lyme", spans=((EVERY, EVERY, 0.0),)),
    Request(page="kellynch", variant="dynamic", seed=3),
    Request(
        text="The captain laid down his pipe, and said to Mr. Tobias Finch: ", length=400, seed=11
    ),
)
# Variants with a model; before the first training, those of the first variant.
EXAMPLES: tuple[Request, ...] = tuple(
    one for one in OFFERED if one.variant in (list_shipped() or VARIANTS[:1])
) or (Request(variant=list_shipped()[0]),)
