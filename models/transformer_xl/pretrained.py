"""The trained networks as they are shipped."""

from __future__ import annotations

from models.pretrained import Build, by_variant, described, loader
from models.transformer_xl import absolute, model
from models.transformer_xl.absolute import AbsoluteTransformer
from models.transformer_xl.model import TransformerXL

SLUG = "transformer_xl"
ABSOLUTE = "absolute"  # the variant without a memory

Network = TransformerXL | AbsoluteTransformer

EMPTY: Build[Network] = by_variant(described(TransformerXL, model.Config), {ABSOLUTE: described(AbsoluteTransformer, absolute.Config)})
read, load = loader(SLUG, EMPTY, "xl")
