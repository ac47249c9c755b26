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
from models.universal_transformer.model import Config, OrdinaryConfig, OrdinaryTransformer, UniversalTransformer

SLUG = "universal_transformer"
ORDINARY = "_ordinary"  # what the name of a variant with a stack of layers ends in
FIXED = "_fixed"  # and of one whose positions all take the same number of steps

Model = UniversalTransformer | OrdinaryTransformer


@dataclass(frozen=True)
class Shipped:
    """A network ready to run, and what model.json says of it."""

    model: Model
    facts: dict[str, Any]


def read(where: Path, on: str | None = None) -> Shipped:
    """Read a checkpoint's folder, strictly; CheckpointError where anything does not fit."""
    facts = checkpoint.read_facts(where)
    model: Model
    if facts["variant"].endswith(ORDINARY):
        model = OrdinaryTransformer(checkpoint.config_of(OrdinaryConfig, facts["config"]))
    else:
        model = UniversalTransformer(checkpoint.config_of(Config, facts["config"]))
    checkpoint.restore(where, model)
    model.requires_grad_(False)
    return Shipped(model.eval().to(device(on)), facts)


def _once() -> Callable[[str, int], Shipped]:
    """`read`, done once per variant and seed, however many threads ask at the same moment."""
    lock = threading.Lock()
    cached = lru_cache(maxsize=16)(lambda variant, seed: read(checkpoint.folder(SLUG, variant, seed)))

    def ask(variant: str, seed: int) -> Shipped:
        with lock:
            return cached(variant, seed)

    return ask


_ask = _once()


def load(variant: str = "stories", seed: int = 1) -> Shipped:
    """A shipped network, read once and shared: nothing may be changed on it."""
    return _ask(variant, seed)
