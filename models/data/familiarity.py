"""The familiarity of a sentence to a network that translates: its words and pairs of neighbours
against those of training.

A word or pair is rare where training held it fewer than OFTEN times. The measure is (rare pairs +
WEIGHT · rare words) / pairs. OFTEN and WEIGHT were chosen on held-out captions and the development
set of UD English EWT (`translation.warnings`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from models.explaining.errors import reading_file
from models.explaining.shared_records import Familiarity

OFTEN = 4
WEIGHT = 1.5
CAPTIONS_WARNED = 0.04  # the largest share of held-out sentences of training's kind to warn of
NAME = "familiar.npz"  # beside the vocabulary
EDGE = ""  # the beginning and the end of a sentence, which pair with its first and its last word
TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]|_")


def split_words(sentence: str) -> list[str]:
    """Return the words and signs of a sentence as typed."""
    return TOKEN.findall(sentence)


def fold_word(word: str) -> str:
    """Return the spelling under which a word is counted."""
    return word.casefold().replace("’", "'")


@dataclass(frozen=True)
class Familiar:
    """The words and pairs that training held often.

    words: spelling to number.
    pairs: numbers of both words.
    above: the measure beyond which a sentence is unfamiliar.
    """

    words: Mapping[str, int]
    pairs: Set[tuple[int, int]]
    above: float = np.inf

    def judge(self, sentence: str) -> Familiarity:
        """Return the rare words of a sentence, how many pairs are rare, and whether to warn."""
        typed = split_words(sentence)
        numbers = [self.words.get(fold_word(word)) for word in typed]
        rare = [
            word
            for word, at in zip(typed, numbers, strict=True)
            if at is None and word[0].isalnum()
        ]
        edge = self.words[EDGE]
        neighbours = list(pairwise([edge, *numbers, edge]))
        missing = sum(pair not in self.pairs for pair in neighbours)
        measure = (missing + WEIGHT * len(rare)) / len(neighbours)
        return Familiarity(
            OFTEN,
            tuple(dict.fromkeys(rare)),
            missing,
            len(neighbours),
            measure,
            measure > self.above,
        )

    def save(self, path: Path) -> None:
        """Write the record for `load_familiar`."""
        text = "\n".join(self.words).encode()
        pairs = np.array(sorted(self.pairs), np.uint32)
        np.savez_compressed(
            path, words=np.frombuffer(text, np.uint8), pairs=pairs, above=self.above
        )


def load_familiar(folder: Path) -> Familiar | None:
    """Return what `Familiar.save` wrote beside a vocabulary; None where it was never written. Raise
    DamagedFile where it cannot be read."""
    path = folder / NAME
    if not path.is_file():
        return None
    with reading_file(path), np.load(path, allow_pickle=False) as arrays:
        words = bytes(arrays["words"]).decode().split("\n")
        pairs = {(int(left), int(right)) for left, right in arrays["pairs"]}
        return Familiar({word: at for at, word in enumerate(words)}, pairs, float(arrays["above"]))


def count_familiar(training: Iterable[str], held_out: Sequence[str]) -> Familiar:
    """Return what training held often, with a threshold chosen on held-out sentences of its kind.

    Of these at most CAPTIONS_WARNED are warned of: the threshold is the one that warns of the most
    other sentences.
    """
    words, pairs = Counter[str](), Counter[tuple[str, str]]()
    for sentence in training:
        row = [EDGE, *map(fold_word, split_words(sentence)), EDGE]
        words.update(row)
        pairs.update(pairwise(row))
    common = [
        EDGE,
        *sorted(word for word, count in words.items() if count >= OFTEN and word != EDGE),
    ]
    numbers = {word: at for at, word in enumerate(common)}
    often = {(numbers[a], numbers[b]) for (a, b), count in pairs.items() if count >= OFTEN}
    found = Familiar(numbers, often)
    measures = np.sort([found.judge(sentence).measure for sentence in held_out])
    above = measures[len(measures) - 1 - int(CAPTIONS_WARNED * len(measures))]
    return Familiar(numbers, often, float(above))
