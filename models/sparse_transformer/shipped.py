"""The trained networks as they are shipped, and the held-out digits beside them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models import checkpoint
from models.device import device
from models.errors import reading
from models.sparse_transformer.model import Config, SparseTransformer

SLUG = "sparse_transformer"


@dataclass(frozen=True)
class Shipped:
    """A network ready to run, and what model.json says of it."""

    model: SparseTransformer
    facts: dict[str, Any]


@dataclass(frozen=True)
class HeldOut:
    """Digits that no model has learned from: pixels (digit, row, column) 0 or 1; kinds (digit,)."""

    pixels: NDArray[np.uint8]
    kinds: NDArray[np.int64]


def read(where: Path, on: str | None = None) -> Shipped:
    """Read a checkpoint's folder, strictly; CheckpointError where anything does not fit."""
    facts = checkpoint.read_facts(where)
    network = SparseTransformer(checkpoint.config_of(Config, facts["config"]))
    checkpoint.restore(where, network)
    network.requires_grad_(False)
    return Shipped(network.eval().to(device(on)), facts)


def _once() -> Callable[[str, int], Shipped]:
    """`read`, done once per variant and seed, however many threads ask at the same moment."""
    lock = threading.Lock()
    cached = lru_cache(maxsize=8)(lambda variant, seed: read(checkpoint.folder(SLUG, variant, seed)))

    def ask(variant: str, seed: int) -> Shipped:
        with lock:
            return cached(variant, seed)

    return ask


_ask = _once()


def load(variant: str = "strided", seed: int = 1) -> Shipped:
    """A shipped model, read once and shared: nothing may be changed on it."""
    return _ask(variant, seed)


@lru_cache(maxsize=1)
def held_out() -> HeldOut:
    """The shipped held-out digits, read once."""
    path = checkpoint.ASSETS / SLUG / "examples.npz"
    with reading(path), np.load(path, allow_pickle=False) as file:
        return HeldOut(file["pixels"], file["kinds"])
