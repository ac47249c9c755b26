"""Windows of books on which the models of adaptive span are trained."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from models.data.characters import Alphabet, Book

RARE = 50  # characters with fewer occurrences in the training books are unknown
# Share of characters that training replaces by UNKNOWN, so that the model can read unknown
# characters. It costs 0.0004 bits per character.
HIDDEN = 1 / 4096


def alphabet_of(shelf: Sequence[Book]) -> Alphabet:
    """Return the frequent characters of some books, the most frequent first."""
    letters = Alphabet.from_texts(book.text for book in shelf).letters
    return Alphabet(
        "".join(
            letter for letter in letters if sum(book.text.count(letter) for book in shelf) >= RARE
        )
    )


def spread_windows(text: NDArray[np.uint8], count: int, window: int) -> list[NDArray[np.uint8]]:
    """Return up to `count` windows of `window` + 1 characters, at equal distances over a text."""
    last = len(text) - window - 1
    if last < 0:
        raise ValueError(f"a text of {len(text)} characters has no window of {window + 1}")
    return [text[i : i + window + 1] for i in sorted({int(i) for i in np.linspace(0, last, count)})]
