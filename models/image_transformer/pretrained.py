"""The shipped models, and the held-out pictures beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from torch import nn

from models.checkpoints import checkpoint
from models.checkpoints.pretrained import Build, describe_builder, make_loader
from models.image_transformer import colour, model, pixelcnn
from models.image_transformer.colour import ColourTransformer
from models.image_transformer.model import ImageTransformer
from models.image_transformer.pixelcnn import PixelCNN
from models.image_transformer.records import PATTERNS

SLUG = "image_transformer"


@dataclass(frozen=True)
class Together:
    """The models of grey pictures.

    patterns: in the order of PATTERNS. surprising_above: bits/dim under local_2d below which 99 of
    100 held-out pictures stay, or None if not measured.
    """

    patterns: tuple[ImageTransformer, ...]
    pixelcnn: PixelCNN
    surprising_above: float | None


def empty(facts: dict[str, Any]) -> nn.Module:
    """Return the untrained network that model.json describes.

    Raise CheckpointError if its config does not fit.
    """
    kinds: dict[str, Build[nn.Module]] = dict.fromkeys(
        PATTERNS, describe_builder(ImageTransformer, model.Config)
    )
    kinds |= {
        "pixelcnn": describe_builder(PixelCNN, pixelcnn.Config),
        "colour": describe_builder(ColourTransformer, colour.Config),
    }
    if facts["variant"] not in kinds:
        raise checkpoint.CheckpointError(f"image_transformer has no variant {facts['variant']}")
    return kinds[facts["variant"]](facts)


read, load = make_loader(SLUG, empty, "local_1d")


def together() -> Together:
    """Return the models of grey pictures; each is read once and shared."""
    patterns = tuple(load(pattern) for pattern in PATTERNS)
    threshold = patterns[PATTERNS.index("local_2d")].facts.get("surprising_above")
    networks = tuple(cast(ImageTransformer, one.model) for one in patterns)
    return Together(networks, cast(PixelCNN, load("pixelcnn").model), threshold)


def enlarger() -> ColourTransformer:
    """Return the model that enlarges small coloured pictures; it is read once and shared."""
    return cast(ColourTransformer, load("colour").model)
