"""The trained networks as they are shipped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from models import checkpoint
from models.characters import Alphabet
from models.device import device
from models.transformer_xl import absolute, model
from models.transformer_xl.absolute import AbsoluteTransformer
from models.transformer_xl.model import TransformerXL

SLUG = "transformer_xl"
ABSOLUTE = "absolute"  # the variant without a memory

Network = TransformerXL | AbsoluteTransformer


@dataclass(frozen=True)
class Shipped:
    """A network ready to run, and what model.json says of it."""

    model: Network
    facts: dict[str, Any]

    @property
    def alphabet(self) -> Alphabet:
        """The characters that it knows."""
        return Alphabet(self.model.config.letters)


def empty(facts: dict[str, Any]) -> Network:
    """The network that model.json describes, with nothing learned. CheckpointError for a config that does not fit."""
    if facts["variant"] == ABSOLUTE:
        return AbsoluteTransformer(checkpoint.config_of(absolute.Config, facts["config"]))
    return TransformerXL(checkpoint.config_of(model.Config, facts["config"]))


def read(where: Path, on: str | None = None) -> Shipped:
    """Read a checkpoint's folder, strictly; CheckpointError where anything does not fit."""
    facts = checkpoint.read_facts(where)
    network = empty(facts)
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


def load(variant: str = "xl", seed: int = 1) -> Shipped:
    """A shipped model, read once and shared: nothing may be changed on it."""
    return _ask(variant, seed)
