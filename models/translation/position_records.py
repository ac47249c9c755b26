"""What the model tells a page about word order: frozen records of NumPy arrays, strings and numbers. No torch here."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models import fields

Array = NDArray[np.float32]

MAX_SEED = 9_999
TEXTBOOK = (32, 128)  # positions and dimensions of the picture that texts on the Transformer print


@dataclass(frozen=True)
class Shuffle:
    """A sentence that is read in its own order and in another one. sentence: English text. seed: of the other order, 1 to MAX_SEED."""

    sentence: str = fields.anything("")
    seed: int = fields.number(1, 1, MAX_SEED, en="number of the order", zh="打乱方式的编号")

    def group(self) -> Hashable:
        """Requests of one group may share a batch."""
        return ()


@dataclass(frozen=True)
class TwoOrders:
    """One sentence in two orders, read by the same encoder.

    distances: (piece,), how far the vector that the encoder gives piece i of the shuffled sentence lies from the one that it gave the same
    piece before, Euclidean. largest: the largest difference of any single number of these vectors.
    before, after: the translations of the sentence in its own order and shuffled, greedy.
    """

    distances: Array
    largest: float
    before: str
    after: str


@dataclass(frozen=True)
class Positions:
    """What tells the model where a word stands, and what is left of order without it.

    source, source_space: the pieces as shown, True where a space stood before the piece. order: piece i of the shuffled sentence stood at
    order[i]. size: mean Euclidean length of the encoder's vectors. signal, silence: with and without the sinusoids added to the encoder's
    embeddings; the decoder keeps its own in both.
    own: (position, d_model), the sinusoids of this model as far as a sentence may reach; textbook: (32, 128), the same formula.
    """

    source: tuple[str, ...]
    source_space: tuple[bool, ...]
    order: tuple[int, ...]
    size: float
    signal: TwoOrders
    silence: TwoOrders
    own: Array
    textbook: Array
