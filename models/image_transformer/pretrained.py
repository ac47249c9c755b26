"""The trained models as they are shipped, and the held-out pictures beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from torch import nn

from models import checkpoint
from models.errors import reading
from models.image_transformer import colour, model, pixelcnn
from models.image_transformer.colour import ColourTransformer
from models.image_transformer.model import ImageTransformer
from models.image_transformer.pixelcnn import PixelCNN
from models.image_transformer.records import PATTERNS, Levels
from models.pretrained import Build, described, loader

SLUG = "image_transformer"


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


def empty(facts: dict[str, Any]) -> nn.Module:
    """The network that model.json describes, with nothing learned. CheckpointError for a config that does not fit."""
    kinds: dict[str, Build[nn.Module]] = dict.fromkeys(PATTERNS, described(ImageTransformer, model.Config))
    kinds |= {"pixelcnn": described(PixelCNN, pixelcnn.Config), "colour": described(ColourTransformer, colour.Config)}
    if facts["variant"] not in kinds:
        raise checkpoint.CheckpointError(f"image_transformer has no variant {facts['variant']}")
    return kinds[facts["variant"]](facts)


read, load = loader(SLUG, empty, "local_1d")


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
