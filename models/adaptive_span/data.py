"""Windows of books: what the models of adaptive span learn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.characters import UNKNOWN, Alphabet, Book

RARE = 50  # a character that the books of training have less often than this is unknown
HIDDEN = 1 / 4096  # share of characters that training hides behind UNKNOWN, so that unknown ones can be read: 0.0004 bits a character


class Batch(NamedTuple):
    """before, wanted: (batch, position) int64. Position t reads before[t] and is to say wanted[t], the character after it."""

    before: Tensor
    wanted: Tensor

    def to(self, device: torch.device) -> Batch:
        """The same batch on another device."""
        return Batch(self.before.to(device), self.wanted.to(device))


def alphabet_of(shelf: Sequence[Book]) -> Alphabet:
    """The characters of some books that are not rare, the most frequent first."""
    letters = Alphabet.of(book.text for book in shelf).letters
    return Alphabet("".join(letter for letter in letters if sum(book.text.count(letter) for book in shelf) >= RARE))


def batch_of(windows: Sequence[NDArray[np.uint8]]) -> Batch:
    """Windows of one length, each one character longer than what is read of it."""
    both = torch.from_numpy(np.stack(windows).astype(np.int64))
    return Batch(both[:, :-1].contiguous(), both[:, 1:].contiguous())


def drawn_batch(shelf: Sequence[NDArray[np.uint8]], count: int, window: int, generator: np.random.Generator) -> Batch:
    """`count` windows of `window` + 1 characters, from anywhere within a book, longer books more often; a few characters are hidden.

    ValueError where no book is as long.
    """
    places = np.cumsum([max(0, len(book) - window) for book in shelf])
    if places[-1] == 0:
        raise ValueError(f"no book has more than {window} characters")
    found = []
    for place in generator.integers(places[-1], size=count):
        book = int(np.searchsorted(places, place, side="right"))
        begin = int(place - (places[book - 1] if book else 0))
        cut = shelf[book][begin : begin + window + 1].copy()
        cut[generator.random(len(cut)) < HIDDEN] = UNKNOWN
        found.append(cut)
    return batch_of(found)


def spread_windows(text: NDArray[np.uint8], count: int, window: int) -> list[NDArray[np.uint8]]:
    """Up to `count` windows of `window` + 1 characters at even distances over a text."""
    last = len(text) - window - 1
    if last < 0:
        raise ValueError(f"a text of {len(text)} characters has no window of {window + 1}")
    return [text[i : i + window + 1] for i in sorted({int(i) for i in np.linspace(0, last, count)})]
