"""The trained networks as they are shipped, and the held-out digits beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from models import checkpoint
from models.errors import reading
from models.pretrained import described, loader
from models.sparse_transformer.model import Config, SparseTransformer

SLUG = "sparse_transformer"


@dataclass(frozen=True)
class HeldOut:
    """Digits that no model has learned from: pixels (digit, row, column) 0 or 1; kinds (digit,)."""

    pixels: NDArray[np.uint8]
    kinds: NDArray[np.int64]


read, load = loader(SLUG, described(SparseTransformer, Config), "strided")


@lru_cache(maxsize=1)
def held_out() -> HeldOut:
    """The shipped held-out digits, read once."""
    path = checkpoint.ASSETS / SLUG / "examples.npz"
    with reading(path), np.load(path, allow_pickle=False) as file:
        return HeldOut(file["pixels"], file["kinds"])
