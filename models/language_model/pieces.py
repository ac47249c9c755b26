"""Text as pieces: byte-pair encoding over bytes (Radford et al., 2019, §2.2), so that no text is unknown."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from models.characters import books
from models.errors import reading

END = 0  # stands before a text and behind it
VOCABULARY = 5000
WORDS_IN_A_ROW = 8  # a sentence that shares so many with a held-out one is the same sentence
Labelled = tuple[str, int]  # a sentence, and whether it is positive


class Pieces:
    """Text <-> numbers of pieces."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    @classmethod
    def train(cls, texts: Iterable[str], vocabulary: int = VOCABULARY) -> Pieces:
        """Learn so many pieces: END, every byte, and what merging the most frequent pairs gives."""
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=["<end>"], initial_alphabet=alphabet, show_progress=False)
        tokenizer.train_from_iterator(texts, trainer)
        tokenizer.encode_special_tokens = True  # what a visitor types is never a special piece
        return cls(tokenizer)

    @classmethod
    def load(cls, path: Path) -> Pieces:
        """Read what `save` wrote. DamagedFile where that cannot be read."""
        with reading(path):
            tokenizer = Tokenizer.from_file(str(path))
        tokenizer.encode_special_tokens = True
        return cls(tokenizer)

    def save(self, path: Path) -> None:
        """Write the vocabulary and its merges as JSON."""
        self._tokenizer.save(str(path), pretty=False)

    def __len__(self) -> int:
        return int(self._tokenizer.get_vocab_size())

    def encode(self, text: str) -> NDArray[np.int64]:
        """(piece,) the numbers of a text's pieces, END not among them."""
        return np.array(self._tokenizer.encode(text, add_special_tokens=False).ids, np.int64)

    def encode_all(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """The same of many texts at once."""
        return [np.array(one.ids, np.int64) for one in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def decode(self, pieces: Iterable[int]) -> str:
        """The text again; what is cut off in the middle of a character shows the replacement character."""
        return str(self._tokenizer.decode([int(one) for one in pieces if one != END]))

    def shown(self, pieces: Iterable[int]) -> list[str]:
        """Each piece as it stands in the text, its space in front included."""
        return [self.decode([one]) for one in pieces]


def unwrapped(text: str) -> str:
    """A book whose lines are not broken: a paragraph is one line."""
    return re.sub(r"[ \t]+", " ", re.sub(r"(?<!\n)\n(?!\n)", " ", text)).replace("\n\n", "\n")


def polarity(data: Path, split: str) -> list[Labelled]:
    """Sentences of film reviews, each with 1 where it is positive and 0 where it is negative."""
    with gzip.open(data / "sentences" / "polarity.json.gz", "rt", encoding="utf-8") as file:
        found = json.load(file)
    positive = found["labels"].index("positive") if "positive" in found["labels"] else 1
    return [(text, int(label == positive)) for text, label in found[split]]


def corpus(data: Path) -> list[str]:
    """What the model of pieces learns from: the books of training, and the polarity sentences of training without their labels.

    A sentence that shares WORDS_IN_A_ROW with one of the held-out parts is left out.
    """
    held_out = {run for split in ("valid", "test") for text, _ in polarity(data, split) for run in _runs(text)}
    sentences = [text for text, _ in polarity(data, "train") if not held_out & set(_runs(text))]
    return [*(unwrapped(book.text) for book in books(data, "train")), "\n".join(sentences)]


def _runs(text: str) -> list[tuple[str, ...]]:
    words = text.split()
    return [tuple(words[i : i + WORDS_IN_A_ROW]) for i in range(max(1, len(words) - WORDS_IN_A_ROW + 1))]
