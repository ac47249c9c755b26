"""Text as pieces: byte-pair encoding over bytes (Radford et al., 2019, §2.2), so that no text is
unknown.

A piece includes the space before its word. A text to continue is therefore read without its last
space, and the next piece starts with one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from models.data.vocabulary import Vocabulary, spell_piece

END = 0  # precedes and follows a text
VOCABULARY = 5000


class Pieces(Vocabulary):
    """A vocabulary that converts text to numbers of pieces and back."""

    @classmethod
    def train(cls, texts: Iterable[str], vocabulary: int = VOCABULARY) -> Pieces:
        """Learn a vocabulary of a given size: END, every byte, and merges of the most frequent
        pairs."""
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=vocabulary,
            special_tokens=["<end>"],
            initial_alphabet=alphabet,
            show_progress=False,
        )
        tokenizer.train_from_iterator(texts, trainer)
        return cls(tokenizer)

    def encode(self, text: str) -> NDArray[np.int64]:
        """Return the numbers of a text's pieces, without END, (piece,)."""
        return np.array(self._tokenizer.encode(text, add_special_tokens=False).ids, np.int64)

    @cached_property
    def with_space(self) -> NDArray[np.bool_]:
        """Whether each piece starts with a space, (piece,)."""
        return np.array([self.decode([one])[:1] == " " for one in range(len(self))])

    def decode(self, pieces: Iterable[int]) -> str:
        """Return the text of pieces; an incomplete character becomes the replacement character."""
        return str(self._tokenizer.decode([int(one) for one in pieces if one != END]))

    def show_pieces(self, pieces: Iterable[int]) -> list[str]:
        """Return each piece as in the text, with its leading space; parts of a character appear as
        bytes."""
        return [
            "" if one == END else spell_piece(str(self._tokenizer.id_to_token(int(one))))
            for one in pieces
        ]
