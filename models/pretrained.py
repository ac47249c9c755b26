"""The trained networks of a lab as they are shipped: each read once, strictly, and shared; and the stored run of its first example."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from torch import nn

from models import checkpoint, folders, stored
from models.device import device

NetworkT = TypeVar("NetworkT", bound=nn.Module, covariant=True)
ReadT = TypeVar("ReadT", covariant=True)
RequestT = TypeVar("RequestT")
Build = Callable[[dict[str, Any]], NetworkT]
"""What model.json says of a network -> the network, nothing learned yet. CheckpointError for a config that does not fit."""


@dataclass(frozen=True)
class Pretrained(Generic[NetworkT]):
    """A network ready to run, and what model.json says of it."""

    model: NetworkT
    facts: dict[str, Any]


class Read(Protocol[ReadT]):
    """Reads a checkpoint's folder, strictly; CheckpointError where anything does not fit. on: a device, by default the first GPU or the
    CPU."""

    def __call__(self, where: Path, on: str | None = None) -> ReadT:
        """Read it."""


class Load(Protocol[ReadT]):
    """A network of a lab by its variant, read once and shared: nothing may be changed on it."""

    def __call__(self, variant: str = ..., seed: int = 1) -> ReadT:
        """Read it, or give the one that was read before."""


def described(network: Callable[[Any], NetworkT], config: type[Any]) -> Build[NetworkT]:
    """What builds a network from the config in model.json."""
    return lambda facts: network(checkpoint.config_of(config, facts["config"]))


def by_variant(usual: Build[Any], others: Mapping[str, Build[Any]]) -> Build[Any]:
    """What builds a network by the variant in model.json: as `others` has it of the ending of its name, else as usual."""
    return lambda facts: next((build for end, build in others.items() if facts["variant"].endswith(end)), usual)(facts)


def restored(where: Path, build: Build[NetworkT], on: str | None = None) -> Pretrained[NetworkT]:
    """Read a checkpoint's folder as `Read` does."""
    facts = checkpoint.read_facts(where)
    network = build(facts)
    checkpoint.restore(where, network)
    network.requires_grad_(False)
    return Pretrained(network.eval().to(device(on)), facts)


def loader(slug: str, build: Build[NetworkT], variant: str) -> tuple[Read[Pretrained[NetworkT]], Load[Pretrained[NetworkT]]]:
    """What reads a lab's checkpoints, and what reads each of them once. variant: the one that is meant where none is named."""

    def read(where: Path, on: str | None = None) -> Pretrained[NetworkT]:
        return restored(where, build, on)

    return read, once(slug, read, variant)


def once(slug: str, read: Callable[[Path], ReadT], variant: str = "base") -> Load[ReadT]:
    """`read` of a lab's checkpoints, done once per variant and seed, however many threads ask at the same moment.

    variant: the one that is meant where none is named.
    """
    lock = threading.Lock()
    cached = lru_cache(maxsize=16)(lambda name, seed: read(checkpoint.folder(slug, name, seed)))
    usual = variant

    def load(variant: str = usual, seed: int = 1) -> ReadT:
        with lock:
            return cached(variant, seed)

    return load


def shipped(load: Load[ReadT], variants: Iterable[str], what: str) -> dict[str, ReadT]:
    """Those of some variants that are shipped. CheckpointError where none is; what: they all are models of."""
    found: dict[str, ReadT] = {}
    for variant in variants:
        try:
            found[variant] = load(variant)
        except checkpoint.CheckpointError:
            continue
    if not found:
        raise checkpoint.CheckpointError(f"no model of {what} is shipped: train one first")
    return found


def store_first(slug: str, explain: Callable[[Sequence[RequestT]], Iterable[Any]], request: RequestT, name: str = "first.npz") -> Path:
    """Store the explanation of a lab's first example, with the time it takes once the networks are there; returns the file, called `name`.

    Raises what `explain` answers in place of an explanation.
    """
    for _ in explain([request]):
        pass
    begin = time.perf_counter()
    *_, last = explain([request])  # of what yields, the end of its last turn
    seen = last[0] if isinstance(last, list) else last
    milliseconds = (time.perf_counter() - begin) * 1000
    if isinstance(seen, Exception):
        raise seen
    path = folders.lab(slug, checkpoint.ASSETS) / name
    stored.save(path, seen, max(1, round(milliseconds)), device().type)
    return path
