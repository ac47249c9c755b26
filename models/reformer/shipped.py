"""The trained networks as they are shipped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from models import checkpoint
from models.device import device
from models.reformer.model import Config, Reformer

SLUG = "reformer"


@dataclass(frozen=True)
class Shipped:
    """A network ready to run, and what model.json says of it."""

    model: Reformer
    facts: dict[str, Any]


def read(where: Path, on: str | None = None) -> Shipped:
    """Read a checkpoint's folder, strictly; CheckpointError where anything does not fit."""
    facts = checkpoint.read_facts(where)
    network = Reformer(checkpoint.config_of(Config, facts["config"]))
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


def load(variant: str = "lsh_4", seed: int = 1) -> Shipped:
    """A shipped model, read once and shared: nothing may be changed on it."""
    return _ask(variant, seed)
