"""Windows of books: what the models of adaptive span learn from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from models.characters import Alphabet, Book

RARE = 50  # a character that the books of training have less often than this is unknown
HIDDEN = 1 / 4096  # share of characters that training hides behind UNKNOWN, so that unknown ones can be read: 0.0004 bits a character


def alphabet_of(shelf: Sequence[Book]) -> Alphabet:
    """The characters of some books that are not rare, the most frequent first."""
    letters = Alphabet.of(book.text for book in shelf).letters
    return Alphabet("".join(letter for letter in letters if sum(book.text.count(letter) for book in shelf) >= RARE))


def spread_windows(text: NDArray[np.uint8], count: int, window: int) -> list[NDArray[np.uint8]]:
    """Up to `count` windows of `window` + 1 characters at even distances over a text."""
    last = len(text) - window - 1
    if last < 0:
        raise ValueError(f"a text of {len(text)} characters has no window of {window + 1}")
    return [text[i : i + window + 1] for i in sorted({int(i) for i in np.linspace(0, last, count)})]
