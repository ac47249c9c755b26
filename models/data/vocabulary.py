"""The common part of all vocabularies of pieces, however text is cut into them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from models.explaining.errors import reading_file

# The letters by which byte-level pieces spell bytes (Radford et al., 2019): visible bytes are
# themselves.
_VISIBLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_BYTES = {chr(byte): byte for byte in _VISIBLE}
_BYTES |= {chr(256 + at): byte for at, byte in enumerate(sorted(set(range(256)) - set(_VISIBLE)))}
_FALLBACK = re.compile("<0x([0-9A-F]{2})>")  # a byte in the vocabularies of SentencePiece


def spell_piece(name: str) -> str:
    """Return what a byte-level piece stands for, by its name in the vocabulary. Bytes that are no
    whole character are spelled as bytes: the first half of "é" is "⟨C3⟩"."""
    if found := _FALLBACK.fullmatch(name):
        return f"⟨{found[1]}⟩"
    if not all(letter in _BYTES for letter in name):
        return name  # a special piece
    text = bytes(_BYTES[letter] for letter in name).decode("utf-8", "surrogateescape")
    return "".join(
        f"⟨{ord(letter) - 0xDC00:02X}⟩" if "\udc80" <= letter <= "\udcff" else letter
        for letter in text
    )


class Vocabulary:
    """Text <-> numbers of pieces. A visitor's text never becomes a special piece."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote. Raise DamagedFile where that cannot be read."""
        with reading_file(path):
            return cls(Tokenizer.from_file(str(path)))

    def save(self, path: Path) -> None:
        """Write the vocabulary as JSON."""
        self._tokenizer.save(str(path), pretty=False)

    def __len__(self) -> int:
        return int(self._tokenizer.get_vocab_size())

    def encode_all(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """Return the pieces of many texts at once, (piece,) each, special pieces not among them."""
        return [
            np.array(one.ids, np.int64)
            for one in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        ]
