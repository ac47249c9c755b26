"""What crosses the border between the models of long texts and a page: frozen records of NumPy arrays, strings and numbers. No torch."""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models import fields, folders
from models.errors import reading
from models.fields import characters, choice, number, passage
from models.results import Again as Again
from models.results import Array as Array
from models.results import Losses as Losses

Half = NDArray[np.float16]
Small = NDArray[np.int16]

MODELS = ("xl", "absolute")  # in the order they stand side by side
PAGES = {
    "lyme": "Jane Austen, Persuasion (1818), chapter 11",
    "baronetage": "Jane Austen, Persuasion (1818), chapter 1",
    "letter": "Jane Austen, Persuasion (1818), chapter 23",
}  # pages of a book that no training has seen
FOREIGN = "whale"  # what stands in the memory in place of the text's own: Herman Melville, Moby Dick (1851), chapter 132
INTERVENTIONS = ("none", "cut", "shuffled", "foreign")
SEGMENTS = (16, 32, 64, 128)  # characters that can be read at once; 128 in training
MEMORIES = (0, 32, 64, 128, 256, 384, 512, 768, 1024)  # lengths at which it is shown what memory buys; 512 at most in training
MAX_MEMORY = 1024
MAX_TEXT = 4000  # characters that may be given
MAX_WRITTEN = 1000  # characters that may be written
HERE = Path(__file__).parent
LADDER = folders.lab("transformer_xl") / "ladder.json"


@dataclass(frozen=True)
class Request:
    """A text that is read segment by segment, what is to be written after it, and what is changed in the memory.

    text: the visitor's; where it is empty, `page` names one of PAGES. memory: states that each layer remembers, 0 … 1,024.
    segment: characters that are read at once, of SEGMENTS. intervention: "none"; "cut": nothing is remembered; "shuffled": the memory in a
    random order; "foreign": another book's memory in its place. length: characters to write, 0 … 1,000. seed: 0 … 999,999.
    temperature: 0 … 2. The model without a memory takes segment, length, seed and temperature alone.
    """

    text: str = characters("", MAX_TEXT)
    page: str = choice("lyme", tuple(PAGES), en="page", zh="页面")
    memory: int = number(512, 0, MAX_MEMORY, en="memory", zh="记忆长度")
    segment: int = choice(128, SEGMENTS, en="segment", zh="片段")
    intervention: str = choice("none", INTERVENTIONS, en="intervention", zh="干预")
    length: int = number(256, 0, MAX_WRITTEN, en="length", zh="长度")
    seed: int = fields.seed(7)
    temperature: float = fields.temperature(0.7)

    def group(self) -> Hashable:
        """Requests of one group may share a batch: the same memory, and texts of nearly the same length."""
        count = len(self.text) if self.text else len(page(self.page)) if self.page in PAGES else 0
        return (self.memory, self.segment, self.intervention, count // 128)


@dataclass(frozen=True)
class Reading:
    """What one model read and wrote. Position i reads the character before it, the 0th a new line, and is to say the i-th.

    variant: its name. text: what was given and what was written. characters: (position,) its numbers, 0 for one that no book of training
    holds. nats: (position,) −log p of each. segment: positions that are read at once. layers, memory: of the network, as it was run.
    queries: (layer, head, position, d_head), u not added; keys: (layer, head, position + other, d_head), those of another book last.
    table: (layer, head, distance, d_head) W_{k,R} R; u, v: (layer, head, d_head); all three empty where distances do not score.
    remembered: (segment, slot) which keys stand in the memory that a segment sees, the farthest first, −1 behind the last.
    across: (layer, head, position) share of attention that goes to the memory, across the border of the segment.
    """

    variant: str
    text: str
    characters: Small
    nats: Array
    segment: int
    memory: int
    queries: Half
    keys: Half
    table: Half
    u: Array
    v: Array
    remembered: Small
    across: Half


@dataclass(frozen=True)
class Explanation:
    """One run. readings: by each model that is there, in the order of MODELS. given: characters that were given, before those written.

    unknown: characters of the text that no book of training holds, each once, in the order of their first place; they are read and scored
    as one unknown character. unknown_count: how many places they take.
    """

    readings: tuple[Reading, ...]
    given: int
    unknown: tuple[str, ...]
    unknown_count: int


@dataclass(frozen=True)
class Memories:
    """What memory buys on a text. memories: lengths. nats: (memory, position) of the model with a memory, read with each of them.

    without: (position,) of the model that has none, or empty where it is not shipped.
    """

    memories: tuple[int, ...]
    nats: Array
    without: Array


@dataclass(frozen=True)
class Step:
    """Some characters read or written by one model. first: position of the first. characters: their numbers. text: they themselves.

    nats: −log p of each.
    """

    variant: str
    first: int
    text: str
    characters: Small
    nats: Array


@dataclass(frozen=True)
class TermMaps:
    """The score of one head and one segment in its parts (Dai et al., 2019, §3.3), (query, key) each, divided by √d_head, 0 where a query
    may not attend.

    content: q · k. position: q · W_{k,R} R. global_content: u · k. global_position: v · W_{k,R} R. scores: their sum. weights: its softmax.
    places: (key,) which of the reading's keys stands there, the memory's first; the queries are the last of them.
    """

    content: Array
    position: Array
    global_content: Array
    global_position: Array
    scores: Array
    weights: Array
    places: NDArray[np.int64]


@lru_cache
def page(name: str) -> str:
    """A page that is shipped with the lab, of PAGES or FOREIGN. KeyError for another."""
    if name not in PAGES and name != FOREIGN:
        raise KeyError(name)
    return (HERE / "pages" / f"{name}.txt").read_text("utf-8")


def ladder() -> dict[str, Any] | None:
    """What `python -m models ladder transformer_xl` measured on the held-out book, or None where it has not run."""
    if not LADDER.is_file():
        return None
    with reading(LADDER):
        found: dict[str, Any] = json.loads(LADDER.read_text("utf-8"))
    return found


def check(request: Request) -> str:
    """The text that a request wants to be read, lines ended by \\n. InputError where an option lies outside what there is."""
    fields.check(request)
    return passage(request.text) if request.text else page(request.page)


EXAMPLES: tuple[Request, ...] = (
    Request(),
    Request(page="letter", seed=3),
    Request(page="baronetage", intervention="foreign"),
    Request(text="The captain of the ship was an old man, and nobody had ever heard him laugh. ", length=400, seed=11),
)
