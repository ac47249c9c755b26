"""The trained models as they are shipped, and the held-out pictures beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from torch import nn

from models import checkpoint
from models.image_transformer import colour, model, pixelcnn
from models.image_transformer.colour import ColourTransformer
from models.image_transformer.model import ImageTransformer
from models.image_transformer.pixelcnn import PixelCNN
from models.image_transformer.records import PATTERNS
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
