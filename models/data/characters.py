"""Books as characters: the text that models of long context learn from and read."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNKNOWN = 0  # the number of a character that the alphabet does not hold
SHOWN_UNKNOWN = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True)
class Book:
    """A whole book in the public domain."""

    title: str
    text: str


def read_books(data: Path, split: str) -> tuple[Book, ...]:
    """Return the books of a split, whole: "train" (17), "valid" (1) or "test" (1), or any other
    split of the data. Raise ValueError for one that the data do not hold."""
    with gzip.open(data / "text" / "classics19.json.gz", "rt", encoding="utf-8") as file:
        entries = json.load(file)
    known = sorted({str(entry["split"]) for entry in entries})
    if split not in known:
        raise ValueError(f"the books have the splits {', '.join(known)}, not {split}")
    return tuple(
        Book(entry["title"], entry["text"]) for entry in entries if entry["split"] == split
    )


@dataclass(frozen=True)
class Alphabet:
    """Characters by number: `letters[i]` has the number i + 1, everything else is UNKNOWN."""

    letters: str

    @staticmethod
    def from_texts(texts: Iterable[str]) -> Alphabet:
        """Return the characters of some texts, the most frequent first."""
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(text)
        return Alphabet("".join(sorted(counts, key=lambda letter: (-counts[letter], letter))))

    def __len__(self) -> int:
        """Return how many numbers there are, UNKNOWN among them."""
        return len(self.letters) + 1

    @cached_property
    def _numbers_by_character(self) -> NDArray[np.uint8]:
        if len(self) > 256:
            raise ValueError(
                f"an alphabet of {len(self.letters)} characters does not fit into bytes"
            )
        table = np.zeros(0x110000, np.uint8)
        table[[ord(letter) for letter in self.letters]] = np.arange(1, len(self))
        return table

    def encode(self, text: str) -> NDArray[np.uint8]:
        """Return the number of each character, (character,); UNKNOWN for one that the alphabet does
        not hold."""
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        numbers: NDArray[np.uint8] = self._numbers_by_character[points]
        return numbers

    def decode(self, numbers: Sequence[int] | NDArray[np.integer]) -> str:
        """Return the text of these numbers, with SHOWN_UNKNOWN for UNKNOWN."""
        return "".join(
            SHOWN_UNKNOWN if number == UNKNOWN else self.letters[number - 1]
            for number in map(int, numbers)
        )


class Spelling:
    """The facts of a network over characters. config: the config with `letters`, its alphabet."""

    config: Any

    @cached_property
    def alphabet(self) -> Alphabet:
        """The characters that the network knows."""
        return Alphabet(self.config.letters)

    @property
    def start(self) -> int:
        """The number of the character that stands before a text: a new line."""
        return int(self.alphabet.encode("\n")[0])
