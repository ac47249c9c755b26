"""English prose that several labs learn from: books, and sentences of film reviews."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

from models.data.characters import read_books

WORDS_IN_A_ROW = 8  # a sentence that shares so many with a held-out one is the same sentence
# the ways to judge a sentence: fine-tuned, the same network from scratch, counting words
WAYS = ("pretrained", "scratch", "counts")
FROZEN = "frozen"  # another way: only a readout of a pretrained encoder's vectors learns
CURVE = "polarity.json"  # the figures of all trainings on labelled sentences, beside a lab's models
Labelled = tuple[str, int]  # a sentence, and whether it is positive


def join_broken_lines(text: str) -> str:
    """Return a book without broken lines: a paragraph is one line."""
    return re.sub(r"[ \t]+", " ", re.sub(r"(?<!\n)\n(?!\n)", " ", text)).replace("\n\n", "\n")


def read_polarity(data: Path, split: str) -> list[Labelled]:
    """Return sentences of film reviews, each with 1 where it is positive and 0 where it is
    negative."""
    with gzip.open(data / "sentences" / "polarity.json.gz", "rt", encoding="utf-8") as file:
        found = json.load(file)
    positive = found["labels"].index("positive") if "positive" in found["labels"] else 1
    return [(text, int(label == positive)) for text, label in found[split]]


def read_corpus(data: Path) -> list[str]:
    """Return the texts that the model of pieces learns from: the books of training, and the
    polarity sentences of training without their labels.

    A sentence that shares WORDS_IN_A_ROW with one of the held-out parts is left out.
    """
    held_out = {
        run
        for split in ("valid", "test")
        for text, _ in read_polarity(data, split)
        for run in _split_runs(text)
    }
    sentences = [
        text for text, _ in read_polarity(data, "train") if not held_out & set(_split_runs(text))
    ]
    return [
        *(join_broken_lines(book.text) for book in read_books(data, "train")),
        "\n".join(sentences),
    ]


def _split_runs(text: str) -> list[tuple[str, ...]]:
    words = text.split()
    return [
        tuple(words[i : i + WORDS_IN_A_ROW]) for i in range(max(1, len(words) - WORDS_IN_A_ROW + 1))
    ]
