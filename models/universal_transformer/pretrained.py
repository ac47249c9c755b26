"""The trained networks as they are shipped."""

from __future__ import annotations

from models.pretrained import Build, by_variant, described, loader
from models.universal_transformer.model import Config, OrdinaryConfig, OrdinaryTransformer, UniversalTransformer

SLUG = "universal_transformer"
ORDINARY = "_ordinary"  # what the name of a variant with a stack of layers ends in
FIXED = "_fixed"  # and of one whose positions all take the same number of steps

Model = UniversalTransformer | OrdinaryTransformer

EMPTY: Build[Model] = by_variant(described(UniversalTransformer, Config), {ORDINARY: described(OrdinaryTransformer, OrdinaryConfig)})
read, load = loader(SLUG, EMPTY, "stories")
