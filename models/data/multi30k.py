"""Multi30k and its pieces: text <-> tokens, pairs -> batches."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer as Pieces
from tokenizers import models, normalizers, pre_tokenizers, trainers
from torch import Tensor

from models.checkpoints.checkpoint import CheckpointError
from models.checkpoints.pretrained import NetworkT, Pretrained
from models.data.familiarity import Familiar, load_familiar
from models.data.vocabulary import Vocabulary
from models.explaining.errors import InputError

PAD, UNKNOWN, START, STOP = 0, 1, 2, 3
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")
SPACE = "\u2581"  # stands for a space inside pieces
BLANK = "\u2423"  # shows a piece that is nothing but a space
# characters, by their category
READ_AS = dict.fromkeys(("Cc", "Cs", "Zs", "Zl", "Zp"), " ") | dict.fromkeys(("Cf", "Cn"), "")


def clean_sentence(sentence: str) -> str:
    """Return a sentence in NFC with control characters and lone surrogates as spaces, without
    formatting characters, with single spaces and none at the ends."""
    plain = (
        READ_AS.get(unicodedata.category(character), character)
        for character in unicodedata.normalize("NFC", sentence)
    )
    return " ".join("".join(plain).split())


@dataclass(frozen=True)
class Encoded:
    """One text in pieces."""

    ids: tuple[int, ...]
    pieces: tuple[str, ...]  # as shown: an unknown piece shows the text it stands for
    space: tuple[bool, ...]  # True where a space stood before the piece

    @property
    def text(self) -> str:
        """The sentence that the pieces were cut from."""
        parts = zip(self.pieces, self.space, strict=True)
        return "".join(" " * space + piece.replace(BLANK, "") for piece, space in parts).strip()


class Tokenizer(Vocabulary):
    """Joint byte-pair encoding (Sennrich et al., 2016) of English and German, punctuation apart
    from words."""

    @classmethod
    def train(cls, texts: Iterable[str], vocabulary: int) -> Tokenizer:
        """Learn `vocabulary` pieces, the special ones included; the rarest characters stay unknown,
        so that `<unk>` is learned too."""
        pieces = Pieces(models.BPE(unk_token=SPECIAL[UNKNOWN], fuse_unk=True))
        pieces.normalizer = normalizers.NFC()
        pieces.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Metaspace(SPACE, "always"), pre_tokenizers.Punctuation("isolated")]
        )
        trainer = trainers.BpeTrainer(
            vocab_size=vocabulary,
            special_tokens=list(SPECIAL),
            limit_alphabet=90,
            show_progress=False,
        )
        pieces.train_from_iterator(texts, trainer)
        return cls(pieces)

    def encode(self, text: str) -> Encoded:
        """Return the pieces of a text, without start or stop token. A special token's name in the
        text is read as ordinary characters."""
        text = unicodedata.normalize("NFC", text)
        found = self._tokenizer.encode(text, add_special_tokens=False)
        shown, space = [], []
        for token, piece, (begin, end) in zip(found.ids, found.tokens, found.offsets, strict=True):
            starts = piece.startswith(SPACE) or (
                token == UNKNOWN and (begin == 0 or text[begin : begin + 1].isspace())
            )
            label = (text[begin:end] if token == UNKNOWN else piece.replace(SPACE, " ")).strip()
            shown.append(label or BLANK)
            space.append(starts)
        return Encoded(tuple(found.ids), tuple(shown), tuple(space))

    def encode_all(self, texts: Sequence[str]) -> list[NDArrayInt]:
        """Return the token ids of many texts at once."""
        return super().encode_all([unicodedata.normalize("NFC", text) for text in texts])

    def show_piece(self, token: int) -> tuple[str, bool]:
        """Return a produced token as shown, and whether a space stands before it."""
        piece = self._tokenizer.id_to_token(token)
        if piece is None:
            raise IndexError(f"token {token} of a vocabulary of {len(self)}")
        return (
            (piece, False)
            if token < len(SPECIAL)
            else (piece.replace(SPACE, "") or BLANK, piece.startswith(SPACE))
        )

    def show_pieces(self, tokens: Iterable[int]) -> tuple[tuple[str, ...], tuple[bool, ...]]:
        """Return produced tokens as shown, and whether a space stands before each."""
        found = [self.show_piece(token) for token in tokens]
        return tuple(piece for piece, _ in found), tuple(space for _, space in found)

    def find_token(self, piece: str, space: bool) -> int:
        """Return the token that `show_piece` shows as `piece`. Raise KeyError where there is
        none."""
        written = piece if not space else SPACE + piece.replace(BLANK, "")
        token = self._tokenizer.token_to_id(written)
        if token is None:
            raise KeyError(f"no piece {piece!r}")
        return int(token)

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the text of produced tokens, detokenised: special ones leave no trace, and there
        is no space at either end."""
        return (
            "".join(str(self._tokenizer.id_to_token(t)) for t in tokens if t >= len(SPECIAL))
            .replace(SPACE, " ")
            .strip()
        )


def read_sentence(sentence: str, tokenizer: Tokenizer, most: int) -> Encoded:
    """Return the pieces of a visitor's English sentence. Raise InputError where it is empty, has
    more than `most` pieces, or no letter that is known."""
    text = clean_sentence(sentence)
    if not text:
        raise InputError(
            "empty",
            en="The text is empty: type an English sentence.",
            zh="文本为空：请输入一个英文句子。",
        )
    pieces = tokenizer.encode(text)
    if len(pieces.ids) > most:
        words = most * 3 // 4
        raise InputError(
            "too_long",
            en=(
                f"Your text has {len(pieces.ids)} word pieces ({len(text.split())} words); "
                f"at most {most} pieces, about {words} words, can be read."
            ),
            zh=(
                f"您的文本有 {len(pieces.ids)} 个词片（{len(text.split())} 个词）；最多可读取"
                f" {most} 个词片，约 {words} 个词。"
            ),
        )
    if not any(
        token != UNKNOWN and any(c.isalnum() for c in piece)
        for token, piece in zip(pieces.ids, pieces.pieces, strict=True)
    ):
        raise InputError(
            "unreadable",
            en="Your text has no letter that this model knows; it reads English sentences.",
            zh="您的文本中没有该模型认识的字母；它只读英文句子。",
        )
    return pieces


NDArrayInt = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


class SentenceBatch(NamedTuple):
    """Sentence pairs, padded behind.

    source: (batch, source).
    target: from the start token, (batch, target).
    wanted: the target one position later.
    """

    source: Tensor
    target: Tensor
    wanted: Tensor


def pad_rows(rows: Sequence[Sequence[int] | NDArrayInt]) -> Tensor:
    """Return rows of tokens as (batch, longest) int64, padded behind."""
    result = np.full((len(rows), max(len(row) for row in rows)), PAD, dtype=np.int64)
    for i, row in enumerate(rows):
        result[i, : len(row)] = row
    return torch.from_numpy(result)


@dataclass(frozen=True)
class Pairs:
    """Encoded sentence pairs."""

    source: list[NDArrayInt]
    target: list[NDArrayInt]

    def make_batch(self, chosen: Sequence[int] | NDArrayInt) -> SentenceBatch:
        """Return the chosen pairs as one batch."""
        return SentenceBatch(
            pad_rows([self.source[i] for i in chosen]),
            pad_rows([np.concatenate(([START], self.target[i])) for i in chosen]),
            pad_rows([np.concatenate((self.target[i], [STOP])) for i in chosen]),
        )

    def draw_batches(self, tokens: int, seed: int, epoch: int) -> list[NDArrayInt]:
        """Return the pairs that share a batch in an epoch: neighbours in length, at most `tokens`
        target positions with padding.

        Seed and epoch decide the order of the batches and which equally long pairs meet.
        """
        rng = np.random.default_rng((seed, epoch))
        lengths = np.array(
            [(len(t) + 1, len(s)) for s, t in zip(self.source, self.target, strict=True)]
        )
        # Ties are broken differently every epoch.
        key = lengths[:, 0] * 1000.0 + lengths[:, 1] * 10.0 + rng.random(len(lengths)) * 10.0
        result: list[NDArrayInt] = []
        begin, order = 0, np.argsort(key, kind="stable")
        for end in range(1, len(order) + 1):
            if end == len(order) or (end + 1 - begin) * lengths[order[end], 0] > tokens:
                result.append(order[begin:end])
                begin = end
        return [result[i] for i in rng.permutation(len(result))]


def encode_pairs(tokenizer: Tokenizer, english: Sequence[str], german: Sequence[str]) -> Pairs:
    """Encode both sides. Pairs with an empty side are refused."""
    source, target = tokenizer.encode_all(english), tokenizer.encode_all(german)
    if any(len(row) == 0 for row in (*source, *target)):
        raise ValueError("the sentence has 0 pieces; expected one or more")
    return Pairs(source, target)


@dataclass(frozen=True)
class Translator(Generic[NetworkT]):
    """A network that translates, its vocabulary, and the content of its model.json.

    familiar: the words that training held often; None where nobody counted them.
    """

    model: NetworkT
    tokenizer: Tokenizer
    facts: dict[str, Any]
    familiar: Familiar | None = None


def check_vocabulary(found: Pretrained[NetworkT], path: Path) -> Translator[NetworkT]:
    """Return the network with its vocabulary. Raise CheckpointError where the network was made for
    another number of pieces."""
    tokenizer, wanted = Tokenizer.load(path), found.facts["config"]["vocabulary"]
    if len(tokenizer) != wanted:
        raise CheckpointError(f"{len(tokenizer)} pieces for a model of {wanted}")
    return Translator(found.model, tokenizer, found.facts, load_familiar(path.parent))
