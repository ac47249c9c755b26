"""Text as word pieces (WordPiece, Wu et al., 2016), without capitals and accents, between [CLS] and
[SEP]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from models.data.vocabulary import Vocabulary

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
GOES_ON = "##"  # the prefix of a piece that continues a word


@dataclass(frozen=True)
class Encoded:
    """A text as pieces, [CLS] first and [SEP] last."""

    ids: NDArray[np.int64]  # (piece,)
    # As in the vocabulary; an unknown piece shows its text.
    shown: tuple[str, ...]
    word: NDArray[np.int64]  # the word of each piece, from 0; −1: none


class Pieces(Vocabulary):
    """A vocabulary that converts text to numbers of pieces and back."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__(tokenizer)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.special: tuple[int, ...] = tuple(map(tokenizer.token_to_id, SPECIAL))  # type: ignore[arg-type]  # of what is no text
        self.pad, self.unknown, self.cls, self.sep, self.mask = self.special

    @classmethod
    def train(cls, texts: Iterable[str], vocabulary: int) -> Pieces:
        """Learn a vocabulary of a given size, special pieces included; the rarest characters stay
        unknown."""
        tokenizer = Tokenizer(models.WordPiece(unk_token=SPECIAL[1]))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(
            vocab_size=vocabulary,
            special_tokens=list(SPECIAL),
            limit_alphabet=56,
            show_progress=False,
        )
        tokenizer.train_from_iterator(texts, trainer)
        return cls(tokenizer)

    def encode(self, text: str) -> Encoded:
        """Encode a text between [CLS] and [SEP]."""
        found = self._tokenizer.encode(text, add_special_tokens=False)
        shown = [
            text[a:b] if name == SPECIAL[1] else name
            for name, (a, b) in zip(found.tokens, found.offsets, strict=True)
        ]
        ids = np.array([self.cls, *found.ids, self.sep], np.int64)
        return Encoded(
            ids, (SPECIAL[2], *shown, SPECIAL[3]), np.array([-1, *found.word_ids, -1], np.int64)
        )

    def folds(self, text: str) -> bool:
        """Return whether reading removes capitals or accents from a text."""
        normal = self._tokenizer.normalizer.normalize_str(text)
        return "".join(normal.split()) != "".join(text.split())

    def encode_words(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers and words of a text that is already split into words, (piece,) each,
        as in `Encoded`."""
        found = self._tokenizer.encode(list(words), is_pretokenized=True, add_special_tokens=False)
        return self.row(np.array(found.ids, np.int64)), np.array(
            [-1, *found.word_ids, -1], np.int64
        )

    def row(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return pieces between [CLS] and [SEP]."""
        return np.concatenate(([self.cls], ids, [self.sep])).astype(np.int64)

    def show_pieces(self, ids: Iterable[int]) -> list[str]:
        """Return each piece as in the vocabulary."""
        return [str(self._tokenizer.id_to_token(int(one))) for one in ids]
