"""Made-up runs over long texts, of a fixed seed, for tests of the reading: heads that decay, and
one that finds the same word again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.figures import reading as figure
from explorer.figures.reading import Model
from explorer.values.exact_rows import RowSource, exact_row_store

Array = NDArray[np.float32]
LAYERS, HEADS, SEGMENT, MEMORY = 4, 4, 128, 512
COPIES = (1, 2)  # layer and head, from 0, that looks where the characters before were the same
NAMES = {
    "xl": {"en": "Transformer-XL", "zh": "Transformer-XL"},
    "absolute": {"en": "Without a memory", "zh": "没有记忆"},
}
ABOUT = {
    "xl": {"en": "remembers 512 characters", "zh": "记住 512 个字符"},
    "absolute": {"en": "sees its segment alone", "zh": "只看自己的片段"},
}
PAGE = (
    "Anne hoped she had outlived the age of blushing; but the age of emotion she certainly had"
    " not.\nThe sea was calm that morning, and the captain walked along the beach with a letter in"
    " his hand. “You pierce my soul,” the letter said; “I am half agony, half hope.”"
    " 海は静かだった。 He read it twice, and folded it, and read it again. \nThe captain of the"
    " ship had never been a man of many words, and the beach was long, and the sea was calm, and"
    " the letter said what he could not. "
)
OWN = {
    "xl": (
        "The captain walked along the beach, and the sea was calm, and Anne hoped she had not been"
        " seen with the letter in her hand. "
    ),
    "absolute": (
        "The morning was a man of the same words, and she was the most certain of the house and the"
        " sister of the party. "
    ),
}


@dataclass(frozen=True)
class Made:
    """What one model has read and written, with the parts of `explorer.figures.reading.TextReader`.
    memory: columns before a segment."""

    variant: str
    text: str
    nats: Array
    queries: NDArray[np.float16]
    memory: int
    foreign: int = 0  # columns of another text's memory


def rows(made: Made, layer: int, head: int, positions: Sequence[int]) -> Array:
    """(row, column) weights that sum to 1 over what a position sees, as `look` of the models gives
    them."""
    length = len(made.text)
    found = np.zeros((len(positions), length + made.foreign), np.float32)
    for row, t in enumerate(positions):
        first = max(0, t // SEGMENT * SEGMENT - made.memory)
        seen = np.arange(first, t + 1)
        back = t - seen
        scores = -back / (2.0 + 6.0 * 4.0**layer * (head + 1) / HEADS) + 0.6 * np.sin(
            seen * (1.3 + head) + layer
        )
        if (layer, head) == COPIES:
            same = [
                sum(
                    made.text[max(0, j - 4) : j][-n:] == made.text[max(0, t - 4) : t][-n:]
                    for n in (2, 3, 4)
                )
                for j in seen - 1
            ]
            scores = 2.6 * np.array(same) * (back > 4) - 0.004 * back
        weights = np.exp(scores - scores.max())
        if made.foreign:
            found[row, length:] = 0.4 / made.foreign
        found[row, seen] = weights / weights.sum() * (0.6 if made.foreign else 1)
    return found


def profiles(made: Made, every: int = 40) -> Array:
    """(layer, head, distance) mean weight at each distance, of every 40th position."""
    length = len(made.text)
    found = np.zeros((LAYERS, HEADS, min(length, SEGMENT + max(made.memory, 1))), np.float32)
    chosen = range(0, length, every)
    counts = np.maximum(
        np.bincount(
            [d for t in chosen for d in range(min(t + 1, found.shape[2]))], minlength=found.shape[2]
        ),
        1,
    )
    for layer in range(LAYERS):
        for head in range(HEADS):
            for t, weights in zip(chosen, rows(made, layer, head, chosen), strict=True):
                back = weights[t::-1][: found.shape[2]]
                found[layer, head, : len(back)] += back
            found[layer, head] /= counts
    return found


@cache
def run(length: int = 0, foreign: int = 0) -> tuple[tuple[Made, ...], int]:
    """Two models on one page and what each wrote after it, and how many characters were given.
    length: of the page; 0: as it is."""
    page = (PAGE * (1 + length // len(PAGE)))[:length] if length else PAGE
    made = []
    for seed, variant in enumerate(("xl", "absolute")):
        text = page + OWN[variant]
        generator = np.random.default_rng(seed)
        begins = np.array(
            [0.5 if n and not text[n - 1].isspace() else 1.6 for n in range(len(text))]
        )
        nats = (begins * generator.gamma(1.2, 1.6 + 0.3 * seed, len(text))).astype(np.float32)
        queries = np.zeros((LAYERS, HEADS, len(text), 2), np.float16)
        made.append(
            Made(
                variant,
                text,
                nats,
                queries,
                0 if variant == "absolute" else MEMORY,
                0 if variant == "absolute" else foreign,
            )
        )
    return tuple(made), len(page)


def drawn(made: Made) -> Model:
    """What is drawn of one of them; its exact rows are kept by this process."""
    length = len(made.text)
    look = exact_row_store().put(
        RowSource(
            lambda layer, head, which: rows(made, layer, head, which), LAYERS, HEADS, length, 0
        ),
        f"{made.variant} {length} {made.foreign}".encode(),
    )
    first = np.arange(length) // SEGMENT * SEGMENT
    name, about = NAMES[made.variant], ABOUT[made.variant]
    return Model(
        made.variant,
        name,
        about,
        made.text,
        made.nats,
        look,
        LAYERS,
        HEADS,
        profiles(made),
        first if made.memory else None,
        made.memory,
    )


def value(length: int = 0, foreign: int = 0, **more: Any) -> dict[str, Any]:
    """A finished run as the widget gets it."""
    made, given = run(length, foreign)
    unknown = [n for n, letter in enumerate(made[0].text[:given]) if ord(letter) > 0x3000]
    facts: dict[str, Any] = {
        "given": given,
        "segment": SEGMENT,
        "memory": MEMORY,
        "unknown": unknown,
        "query": "v=1",
    }
    pick = (
        more.pop("pick") if "pick" in more else figure.find_telling_place(made, rows, given=given)
    )
    return figure.draw_reading(
        [drawn(one) for one in made], **{**facts, "state": "stored", "pick": pick, **more}
    )


def growing(length: int, until: int, query: str = "v=2") -> dict[str, Any]:
    """The same run while its first `until` characters are read and written."""
    made, given = run(length)
    parts = [
        Model(
            one.variant, NAMES[one.variant], ABOUT[one.variant], one.text[:until], one.nats[:until]
        )
        for one in made
    ]
    return figure.draw_growing_reading(
        parts, given=given, of=max(len(one.text) for one in made), segment=SEGMENT, query=query
    )
