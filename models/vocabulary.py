"""What vocabularies of pieces have alike, however text is cut into them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from models.errors import reading


class Vocabulary:
    """Text <-> numbers of pieces. What a visitor types is never a special piece."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote. DamagedFile where that cannot be read."""
        with reading(path):
            return cls(Tokenizer.from_file(str(path)))

    def save(self, path: Path) -> None:
        """Write the vocabulary as JSON."""
        self._tokenizer.save(str(path), pretty=False)

    def __len__(self) -> int:
        return int(self._tokenizer.get_vocab_size())

    def encode_all(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """(piece,) of many texts at once, special pieces not among them."""
        return [np.array(one.ids, np.int64) for one in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]
