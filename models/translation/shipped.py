"""The trained model as it is shipped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from models import checkpoint
from models.device import device
from models.translation.data import Tokenizer
from models.translation.decode import laid_out
from models.translation.model import Config, Transformer


@dataclass(frozen=True)
class Shipped:
    """A model ready to run, its vocabulary, and what model.json says of it."""

    model: Transformer
    tokenizer: Tokenizer
    facts: dict[str, Any]


def read(where: Path, on: str | None = None) -> Shipped:
    """Read a checkpoint's folder, strictly; CheckpointError where anything does not fit."""
    facts = checkpoint.read_facts(where)
    config = checkpoint.config_of(Config, facts["config"])
    model = Transformer(config)
    checkpoint.restore(where, model)
    tokenizer = Tokenizer.load(where / "tokenizer.json")
    if len(tokenizer) != config.vocabulary:
        raise checkpoint.CheckpointError(f"{len(tokenizer)} pieces for a model of {config.vocabulary}")
    model.requires_grad_(False)
    return Shipped(laid_out(model.eval().to(device(on))), tokenizer, facts)


def _once() -> Callable[[str, int], Shipped]:
    """`read`, done once per variant and seed, however many threads ask at the same moment."""
    lock = threading.Lock()
    cached = lru_cache(maxsize=4)(lambda variant, seed: read(checkpoint.folder("translation", variant, seed)))

    def ask(variant: str, seed: int) -> Shipped:
        with lock:
            return cached(variant, seed)

    return ask


_ask = _once()


def load(variant: str = "base", seed: int = 1) -> Shipped:
    """The shipped model, read once and shared: nothing may be changed on it."""
    return _ask(variant, seed)
