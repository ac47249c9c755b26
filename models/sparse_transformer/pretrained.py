"""The trained networks as they are shipped, and the held-out digits beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models import checkpoint
from models.errors import reading
from models.pretrained import Pretrained, once, restored
from models.sparse_transformer.model import Config, SparseTransformer

SLUG = "sparse_transformer"


@dataclass(frozen=True)
class HeldOut:
    """Digits that no model has learned from: pixels (digit, row, column) 0 or 1; kinds (digit,)."""

    pixels: NDArray[np.uint8]
    kinds: NDArray[np.int64]


def read(where: Path, on: str | None = None) -> Pretrained[SparseTransformer]:
    """Read a checkpoint's folder, strictly; CheckpointError where anything does not fit."""
    return restored(where, lambda facts: SparseTransformer(checkpoint.config_of(Config, facts["config"])), on)


load = once(SLUG, read, "strided")


@lru_cache(maxsize=1)
def held_out() -> HeldOut:
    """The shipped held-out digits, read once."""
    path = checkpoint.ASSETS / SLUG / "examples.npz"
    with reading(path), np.load(path, allow_pickle=False) as file:
        return HeldOut(file["pixels"], file["kinds"])
