"""Text as pieces: byte-pair encoding over bytes (Radford et al., 2019, §2.2), so that no text is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from models.errors import reading

END = 0  # stands before a text and behind it
VOCABULARY = 5000


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
