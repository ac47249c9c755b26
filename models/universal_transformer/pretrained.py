"""The shipped networks."""

from __future__ import annotations

from models.checkpoints.pretrained import Build, build_by_variant, describe_builder, make_loader
from models.universal_transformer.model import (
    Config,
    OrdinaryConfig,
    OrdinaryTransformer,
    UniversalTransformer,
)

SLUG = "universal_transformer"
ORDINARY = "_ordinary"  # the ending of the name of a variant with a stack of layers
FIXED = "_fixed"  # the ending for a fixed number of steps

Model = UniversalTransformer | OrdinaryTransformer

EMPTY: Build[Model] = build_by_variant(
    describe_builder(UniversalTransformer, Config),
    {ORDINARY: describe_builder(OrdinaryTransformer, OrdinaryConfig)},
)
read, load = make_loader(SLUG, EMPTY, "stories")
