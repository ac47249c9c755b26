"""The trained networks as they are shipped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from models import checkpoint
from models.adaptive_span.model import KINDS, Config, SpanTransformer, network
from models.device import device

SLUG = "adaptive_span"


@dataclass(frozen=True)
class Shipped:
    """A network ready to run, and what model.json says of it."""

    model: SpanTransformer
    facts: dict[str, Any]


def empty(facts: dict[str, Any]) -> SpanTransformer:
    """The network that model.json describes, with nothing learned. CheckpointError for a config that does not fit."""
    if facts["variant"] not in KINDS:
        raise checkpoint.CheckpointError(f"{SLUG} has no variant {facts['variant']}")
    return network(facts["variant"], checkpoint.config_of(Config, facts["config"]))


def read(where: Path, on: str | None = None) -> Shipped:
    """Read a checkpoint's folder, strictly; CheckpointError where anything does not fit."""
    facts = checkpoint.read_facts(where)
    model = empty(facts)
    checkpoint.restore(where, model)
    model.requires_grad_(False)
    return Shipped(model.eval().to(device(on)), facts)


def _once() -> Callable[[str, int], Shipped]:
    """`read`, done once per variant and seed, however many threads ask at the same moment."""
    lock = threading.Lock()
    cached = lru_cache(maxsize=8)(lambda variant, seed: read(checkpoint.folder(SLUG, variant, seed)))

    def ask(variant: str, seed: int) -> Shipped:
        with lock:
            return cached(variant, seed)

    return ask


_ask = _once()


def load(variant: str = "adaptive", seed: int = 1) -> Shipped:
    """A shipped model, read once and shared: nothing may be changed on it."""
    return _ask(variant, seed)
