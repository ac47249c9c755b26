"""Books are read whole, and their characters by number and back."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from models.data.characters import SHOWN_UNKNOWN, UNKNOWN, Alphabet, read_books


def test_a_text_comes_back_from_its_numbers() -> None:
    alphabet = Alphabet.from_texts(["a bee", "b"])
    assert alphabet.letters == "be a" and len(alphabet) == 5, (
        "frequent ones first, and the unknown one"
    )
    numbers = alphabet.encode("bad bee 蜂\ud800")
    assert numbers.dtype == np.uint8 and len(numbers) == 10
    assert numbers[[2, 8, 9]].tolist() == [UNKNOWN] * 3
    assert alphabet.decode(numbers) == f"ba{SHOWN_UNKNOWN} bee {SHOWN_UNKNOWN}{SHOWN_UNKNOWN}"
    assert alphabet.encode("").shape == (0,)


def test_an_alphabet_that_does_not_fit_into_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        Alphabet("".join(map(chr, range(0x4E00, 0x4F00)))).encode("a")


def test_books_are_read_by_split(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    entries = [
        {"id": 1, "title": "One", "author": "A", "year": 1850, "split": "train", "text": "Once."},
        {"id": 2, "title": "Two", "author": "B", "year": 1851, "split": "test", "text": "Twice."},
    ]
    with gzip.open(tmp_path / "text" / "classics19.json.gz", "wt", encoding="utf-8") as file:
        json.dump(entries, file)
    (book,) = read_books(tmp_path, "test")
    assert (book.title, book.text) == ("Two", "Twice.")
    with pytest.raises(ValueError, match="test, train"):
        read_books(tmp_path, "valid")
