"""The requests about word order and their results: frozen records of NumPy arrays, strings and
numbers, without torch."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.explaining import request_fields

Array = NDArray[np.float32]

MAX_SEED = 9_999
TEXTBOOK = (32, 128)  # positions and dimensions of the picture that texts on the Transformer print


@dataclass(frozen=True)
class Shuffle:
    """A sentence to read in its own order and in another one.

    sentence: English text. seed: of the other order, 1 to MAX_SEED.
    """

    sentence: str = request_fields.any_field("")
    seed: int = request_fields.number_field(
        1, 1, MAX_SEED, en="number of the order", zh="打乱方式的编号"
    )

    def group(self) -> Hashable:
        """Return the key of a batch: requests of one group may share one."""
        return ()


@dataclass(frozen=True)
class TwoOrders:
    """One sentence in two orders, read by the same encoder.

    distances: the Euclidean distance between the encoder's vectors of piece i in the shuffled
    sentence and of the same piece before, (piece,). largest: the largest difference of any single
    number in these vectors. before, after: the greedy translations of the sentence in its own order
    and shuffled.
    """

    distances: Array
    largest: float
    before: str
    after: str


@dataclass(frozen=True)
class Positions:
    """The effect of the position signal, and of its removal, on a shuffled sentence.

    source, source_space: the pieces as displayed, and whether a space precedes each. order: piece i
    of the shuffled sentence comes from order[i]. size: the mean Euclidean length of the encoder's
    vectors. signal, silence: with and without sinusoids in the encoder's embeddings; the decoder
    keeps its own in both. own: the sinusoids of this model up to the longest sentence, (position,
    d_model). textbook: the same formula, (32, 128).
    """

    source: tuple[str, ...]
    source_space: tuple[bool, ...]
    order: tuple[int, ...]
    size: float
    signal: TwoOrders
    silence: TwoOrders
    own: Array
    textbook: Array
