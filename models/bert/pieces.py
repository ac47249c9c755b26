"""Text as pieces of words (WordPiece, Wu et al., 2016), without capitals and accents, between [CLS] and [SEP]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from models.vocabulary import Vocabulary

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
GOES_ON = "##"  # in front of a piece that goes on with a word


@dataclass(frozen=True)
class Encoded:
    """One text in pieces, [CLS] first and [SEP] last."""

    ids: NDArray[np.int64]  # (piece,)
    shown: tuple[str, ...]  # as the vocabulary has them; an unknown one shows the text it stands for
    word: NDArray[np.int64]  # (piece,) which word, counted from 0, each belongs to; −1: none


class Pieces(Vocabulary):
    """Text <-> numbers of pieces."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__(tokenizer)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.special: tuple[int, ...] = tuple(map(tokenizer.token_to_id, SPECIAL))  # type: ignore[arg-type]  # of what is no text
        self.pad, self.unknown, self.cls, self.sep, self.mask = self.special

    @classmethod
    def train(cls, texts: Iterable[str], vocabulary: int) -> Pieces:
        """Learn so many pieces, the special ones among them; the rarest characters stay unknown."""
        tokenizer = Tokenizer(models.WordPiece(unk_token=SPECIAL[1]))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=vocabulary, special_tokens=list(SPECIAL), limit_alphabet=56, show_progress=False)
        tokenizer.train_from_iterator(texts, trainer)
        return cls(tokenizer)

    def encode(self, text: str) -> Encoded:
        """A text between [CLS] and [SEP]."""
        found = self._tokenizer.encode(text, add_special_tokens=False)
        shown = [text[a:b] if name == SPECIAL[1] else name for name, (a, b) in zip(found.tokens, found.offsets, strict=True)]
        ids = np.array([self.cls, *found.ids, self.sep], np.int64)
        return Encoded(ids, (SPECIAL[2], *shown, SPECIAL[3]), np.array([-1, *found.word_ids, -1], np.int64))

    def folds(self, text: str) -> bool:
        """Does reading take capitals or accents off this text?"""
        normal = self._tokenizer.normalizer.normalize_str(text)
        return "".join(normal.split()) != "".join(text.split())

    def encode_words(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(piece,) numbers and words, as `Encoded` has them, of a text that somebody else has cut into words."""
        found = self._tokenizer.encode(list(words), is_pretokenized=True, add_special_tokens=False)
        return self.row(np.array(found.ids, np.int64)), np.array([-1, *found.word_ids, -1], np.int64)

    def row(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Bare pieces between [CLS] and [SEP]."""
        return np.concatenate(([self.cls], ids, [self.sep])).astype(np.int64)

    def shown(self, ids: Iterable[int]) -> list[str]:
        """Each piece as the vocabulary has it."""
        return [str(self._tokenizer.id_to_token(int(one))) for one in ids]
