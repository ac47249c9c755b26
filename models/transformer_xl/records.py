"""The requests to the models of long texts and their explanations: frozen records of NumPy arrays,
strings and numbers, without torch."""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.checkpoints import folders
from models.explaining import request_fields
from models.explaining.errors import reading_file
from models.explaining.request_fields import choice_field, number_field, read_passage, text_field
from models.explaining.shared_records import Array as Array
from models.explaining.shared_records import Losses as Losses
from models.explaining.shared_records import Rereading as Rereading

Half = NDArray[np.float16]
Small = NDArray[np.int16]

MODELS = ("xl", "absolute")  # in the order of display
PAGES = {
    "lyme": "Jane Austen, Persuasion (1818), chapter 11",
    "baronetage": "Jane Austen, Persuasion (1818), chapter 1",
    "letter": "Jane Austen, Persuasion (1818), chapter 23",
}  # pages of a book outside training
# The text of a foreign memory: Herman Melville, Moby Dick (1851), chapter 132.
FOREIGN = "whale"
INTERVENTIONS = ("none", "cut", "shuffled", "foreign")
SEGMENTS = (16, 32, 64, 128)  # characters that can be read at once; 128 in training
# Lengths of memory in the display of its benefit; at most 512 in training.
MEMORIES = (0, 32, 64, 128, 256, 384, 512, 768, 1024)
MAX_MEMORY = 1024
MAX_TEXT = 4000  # the most characters given
MAX_WRITTEN = 1000  # the most characters written
HERE = Path(__file__).parent
LADDER = folders.find_lab_folder("transformer_xl") / "ladder.json"


@dataclass(frozen=True)
class Request:
    """A request: a text to read segment by segment, the length to write after it, and the changes
    to the memory.

    text: the user's text; if it is empty, `page` names one of PAGES. memory: states that each layer
    remembers, 0 … 1,024. segment: characters read at once, one of SEGMENTS. intervention: "none";
    "cut": an empty memory; "shuffled": the memory in a random order; "foreign": another book's
    memory instead. length: characters to write, 0 … 1,000. seed: 0 … 999,999. temperature: 0 … 2.
    The model without a memory uses segment, length, seed and temperature alone.
    """

    text: str = text_field("", MAX_TEXT)
    page: str = choice_field("lyme", tuple(PAGES), en="page", zh="页面")
    memory: int = number_field(512, 0, MAX_MEMORY, en="memory", zh="记忆长度")
    segment: int = choice_field(128, SEGMENTS, en="segment", zh="片段")
    intervention: str = choice_field("none", INTERVENTIONS, en="intervention", zh="干预")
    length: int = number_field(256, 0, MAX_WRITTEN, en="length", zh="长度")
    seed: int = request_fields.seed_field(7)
    temperature: float = request_fields.temperature_field(0.7)

    def group(self) -> Hashable:
        """Return the key of a batch: requests with the same memory and texts of similar length may
        share one."""
        count = len(self.text) if self.text else len(page(self.page)) if self.page in PAGES else 0
        return (self.memory, self.segment, self.intervention, count // 128)


@dataclass(frozen=True)
class Reading:
    """The text that one model read and wrote.

    Position i reads the character before it, the 0th a new line, and predicts the i-th. variant:
    its name. text: given and written. characters: its numbers, 0 for one outside all training
    books, (position,). nats: −log p of each, (position,). segment: positions read at once. layers,
    memory: of the network, as it ran. queries: without u, (layer, head, position, d_head). keys:
    those of another book last, (layer, head, position + other, d_head). table: W_{k,R} R, (layer,
    head, distance, d_head). u, v: (layer, head, d_head). All three are empty if distances have no
    score. remembered: the keys in the memory of each segment, the farthest first, −1 after the
    last, (segment, slot). across: the share of attention to the memory, across the border of the
    segment, (layer, head, position).
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
    """The explanation of one run.

    readings: by each available model, in the order of MODELS. given: the number of given
    characters, before the written ones. unknown: characters of the text outside all training books,
    each once, in the order of their first place; they are read and scored as one unknown character.
    unknown_count: the number of their places.
    """

    readings: tuple[Reading, ...]
    given: int
    unknown: tuple[str, ...]
    unknown_count: int


@dataclass(frozen=True)
class Memories:
    """The benefit of memory on a text.

    memories: lengths. nats: of the model with a memory, read with each of them, (memory, position).
    without: of the model without one, (position,), or empty if it is not shipped.
    """

    memories: tuple[int, ...]
    nats: Array
    without: Array


@dataclass(frozen=True)
class Step:
    """Characters just read or written by one model.

    first: the position of the first. characters: their numbers. text: the characters. nats: −log p
    of each.
    """

    variant: str
    first: int
    text: str
    characters: Small
    nats: Array


@dataclass(frozen=True)
class TermMaps:
    """The terms of one head's scores in one segment (Dai et al., 2019, §3.3), (query, key) each,
    divided by √d_head, 0 where a query may not attend.

    content: q · k. position: q · W_{k,R} R. global_content: u · k. global_position: v · W_{k,R} R.
    scores: their sum. weights: its softmax. places: the index of each key in the reading, the
    memory's first; the queries are the last of them, (key,).
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
    """Return a shipped page from PAGES or FOREIGN.

    Raise KeyError for another name.
    """
    if name not in PAGES and name != FOREIGN:
        raise KeyError(name)
    return (HERE / "pages" / f"{name}.txt").read_text("utf-8")


def ladder() -> dict[str, Any] | None:
    """Return the results of `python -m models ladder transformer_xl` on the held-out book, or None
    before its first run."""
    if not LADDER.is_file():
        return None
    with reading_file(LADDER):
        found: dict[str, Any] = json.loads(LADDER.read_text("utf-8"))
    return found


def check(request: Request) -> str:
    """Return the text of a request, with lines ended by \\n.

    Raise InputError if an option is out of range.
    """
    request_fields.check_request(request)
    return read_passage(request.text) if request.text else page(request.page)


EXAMPLES: tuple[Request, ...] = (
    Request(),
    Request(page="letter", seed=3),
    Request(page="baronetage", intervention="foreign"),
    Request(
        text="The captain of the ship was an old man, and nobody had ever heard him laugh. ",
        length=400,
        seed=11,
    ),
)
