"""Text as pieces: byte-pair encoding over bytes (Radford et al., 2019, §2.2), so that no text is unknown."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from models.vocabulary import Vocabulary

END = 0  # stands before a text and behind it
VOCABULARY = 5000


class Pieces(Vocabulary):
    """Text <-> numbers of pieces."""

    @classmethod
    def train(cls, texts: Iterable[str], vocabulary: int = VOCABULARY) -> Pieces:
        """Learn so many pieces: END, every byte, and what merging the most frequent pairs gives."""
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=["<end>"], initial_alphabet=alphabet, show_progress=False)
        tokenizer.train_from_iterator(texts, trainer)
        return cls(tokenizer)

    def encode(self, text: str) -> NDArray[np.int64]:
        """(piece,) the numbers of a text's pieces, END not among them."""
        return np.array(self._tokenizer.encode(text, add_special_tokens=False).ids, np.int64)

    def decode(self, pieces: Iterable[int]) -> str:
        """The text again; what is cut off in the middle of a character shows the replacement character."""
        return str(self._tokenizer.decode([int(one) for one in pieces if one != END]))

    def shown(self, pieces: Iterable[int]) -> list[str]:
        """Each piece as it stands in the text, its space in front included."""
        return [self.decode([one]) for one in pieces]
