"""The trained networks of a lab as they are shipped: each is read once, strictly, and shared; and
the stored run of its first example."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from torch import nn

from models.checkpoints import checkpoint, folders, stored_results
from models.checkpoints.device import choose_device

NetworkT = TypeVar("NetworkT", bound=nn.Module, covariant=True)
ReadT = TypeVar("ReadT", covariant=True)
RequestT = TypeVar("RequestT")
Build = Callable[[dict[str, Any]], NetworkT]
"""Build an untrained network from the content of its model.json. Raise CheckpointError for a config
that does not fit."""


@dataclass(frozen=True)
class Pretrained(Generic[NetworkT]):
    """A network ready to run, and the content of its model.json."""

    model: NetworkT
    facts: dict[str, Any]


class CheckpointReader(Protocol[ReadT]):
    """A function that reads a checkpoint's folder, strictly, and raises CheckpointError where
    anything does not fit. on: a device, by default the first GPU or the CPU."""

    def __call__(self, where: Path, on: str | None = None) -> ReadT:
        """Read the checkpoint."""


class Load(Protocol[ReadT]):
    """A function that returns a network of a lab by its variant. It is read once and shared, so
    nothing may be changed on it."""

    def __call__(self, variant: str = ..., seed: int = 1) -> ReadT:
        """Read the network, or return the one that was read before."""


def describe_builder(network: Callable[[Any], NetworkT], config: type[Any]) -> Build[NetworkT]:
    """Return the function that builds a network from the config in model.json."""
    return lambda facts: network(checkpoint.build_config(config, facts["config"]))


def build_by_variant(usual: Build[Any], others: Mapping[str, Build[Any]]) -> Build[Any]:
    """Return the function that builds a network by the variant in model.json: with the entry of
    `others` for the ending of its name, else as usual."""
    return lambda facts: next(
        (build for end, build in others.items() if facts["variant"].endswith(end)), usual
    )(facts)


def read_checkpoint(
    where: Path, build: Build[NetworkT], on: str | None = None
) -> Pretrained[NetworkT]:
    """Read a checkpoint's folder as `CheckpointReader` does."""
    facts = checkpoint.read_facts(where)
    network = build(facts)
    checkpoint.restore_parameters(where, network)
    network.requires_grad_(False)
    return Pretrained(network.eval().to(choose_device(on)), facts)


def make_loader(
    slug: str, build: Build[NetworkT], variant: str
) -> tuple[CheckpointReader[Pretrained[NetworkT]], Load[Pretrained[NetworkT]]]:
    """Return the function that reads a lab's checkpoints, and the one that reads each of them once.
    variant: the default where none is named."""

    def read(where: Path, on: str | None = None) -> Pretrained[NetworkT]:
        return read_checkpoint(where, build, on)

    return read, load_once(slug, read, variant)


def load_once(slug: str, read: Callable[[Path], ReadT], variant: str = "base") -> Load[ReadT]:
    """Return `read` of a lab's checkpoints, done once per variant and seed, however many threads
    ask at the same moment.

    variant: the default where none is named.
    """
    lock = threading.Lock()
    cached = lru_cache(maxsize=16)(
        lambda name, seed: read(checkpoint.find_folder(slug, name, seed))
    )
    usual = variant

    def load(variant: str = usual, seed: int = 1) -> ReadT:
        with lock:
            return cached(variant, seed)

    return load


def load_shipped(load: Load[ReadT], variants: Iterable[str], what: str) -> dict[str, ReadT]:
    """Return the shipped networks among some variants. Raise CheckpointError where none is. what: a
    word for these models, for the message."""
    found: dict[str, ReadT] = {}
    for variant in variants:
        try:
            found[variant] = load(variant)
        except checkpoint.CheckpointError:
            continue
    if not found:
        raise checkpoint.CheckpointError(f"no model of {what} is shipped: train one first")
    return found


def store_first(
    slug: str,
    explain: Callable[[Sequence[RequestT]], Iterable[Any]],
    request: RequestT,
    name: str = "first.npz",
) -> Path:
    """Store the explanation of a lab's first example, with the time it takes once the networks are
    loaded; return the file, called `name`.

    Raise the error that `explain` answers in place of an explanation.
    """
    for _ in explain([request]):
        pass
    begin = time.perf_counter()
    *_, last = explain([request])  # a generator's last turn is its result
    seen = last[0] if isinstance(last, list) else last
    milliseconds = (time.perf_counter() - begin) * 1000
    if isinstance(seen, Exception):
        raise seen
    path = folders.find_lab_folder(slug, checkpoint.ASSETS) / name
    stored_results.save(path, seen, max(1, round(milliseconds)), choose_device().type)
    return path
