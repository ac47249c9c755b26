"""The trained models as they are shipped, and the held-out pictures beside them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from torch import nn

from models import checkpoint
from models.device import device
from models.errors import reading
from models.image_transformer import colour, model, pixelcnn
from models.image_transformer.colour import ColourTransformer
from models.image_transformer.model import ImageTransformer
from models.image_transformer.pixelcnn import PixelCNN
from models.image_transformer.records import PATTERNS, Levels

SLUG = "image_transformer"
ModelT = TypeVar("ModelT", bound=nn.Module)


@dataclass(frozen=True)
class Shipped(Generic[ModelT]):
    """A model ready to run, and what model.json says of it."""

    model: ModelT
    facts: dict[str, Any]


@dataclass(frozen=True)
class Together:
    """All that looks at grey pictures.

    patterns: in the order of PATTERNS. surprising_above: bits/dim under local_2d that 99 of 100 held-out pictures stay below, or None
    where it was not measured.
    """

    patterns: tuple[ImageTransformer, ...]
    pixelcnn: PixelCNN
    surprising_above: float | None


@dataclass(frozen=True)
class HeldOut:
    """Pictures that no model has learned from: grey (picture, row, column), colour (picture, row, column, channel); kinds (picture,)."""

    grey: Levels
    grey_kinds: NDArray[np.int64]
    colour: Levels
    colour_kinds: NDArray[np.int64]


def empty(variant: str, facts: dict[str, Any]) -> nn.Module:
    """The network of a variant, with nothing learned. CheckpointError for a config that does not fit."""
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in facts["config"].items()}
    if variant in PATTERNS:
        return ImageTransformer(checkpoint.config_of(model.Config, values))
    if variant == "pixelcnn":
        return PixelCNN(checkpoint.config_of(pixelcnn.Config, values))
    if variant == "colour":
        return ColourTransformer(checkpoint.config_of(colour.Config, values))
    raise checkpoint.CheckpointError(f"image_transformer has no variant {variant}")


def read(variant: str, where: Path, on: str | None = None) -> Shipped[nn.Module]:
    """Read a checkpoint's folder, strictly; CheckpointError where anything does not fit."""
    facts = checkpoint.read_facts(where)
    network = empty(variant, facts)
    checkpoint.restore(where, network)
    network.requires_grad_(False)
    return Shipped(network.eval().to(device(on)), facts)


def _once() -> Callable[[str, int], Shipped[nn.Module]]:
    """`read`, done once per variant and seed, however many threads ask at the same moment."""
    lock = threading.Lock()
    cached = lru_cache(maxsize=8)(lambda variant, seed: read(variant, checkpoint.folder(SLUG, variant, seed)))

    def ask(variant: str, seed: int) -> Shipped[nn.Module]:
        with lock:
            return cached(variant, seed)

    return ask


_ask = _once()


def load(variant: str = "local_1d", seed: int = 1) -> Shipped[nn.Module]:
    """A shipped model, read once and shared: nothing may be changed on it."""
    return _ask(variant, seed)


def together() -> Together:
    """The models of grey pictures, each read once and shared."""
    patterns = tuple(load(pattern) for pattern in PATTERNS)
    threshold = patterns[PATTERNS.index("local_2d")].facts.get("surprising_above")
    networks = tuple(cast(ImageTransformer, one.model) for one in patterns)
    return Together(networks, cast(PixelCNN, load("pixelcnn").model), threshold)


def enlarger() -> ColourTransformer:
    """The model that raises small coloured pictures, read once and shared."""
    return cast(ColourTransformer, load("colour").model)


@lru_cache(maxsize=1)
def held_out() -> HeldOut:
    """The shipped held-out pictures, read once."""
    path = checkpoint.ASSETS / SLUG / "examples.npz"
    with reading(path), np.load(path, allow_pickle=False) as file:
        return HeldOut(file["grey"], file["grey_kinds"], file["colour"], file["colour_kinds"])
