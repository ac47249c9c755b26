"""The shipped networks."""

from __future__ import annotations

from models.checkpoints.pretrained import Build, build_by_variant, describe_builder, make_loader
from models.transformer_xl import absolute, model
from models.transformer_xl.absolute import AbsoluteTransformer
from models.transformer_xl.model import TransformerXL

SLUG = "transformer_xl"
ABSOLUTE = "absolute"  # the variant without a memory

Network = TransformerXL | AbsoluteTransformer

EMPTY: Build[Network] = build_by_variant(
    describe_builder(TransformerXL, model.Config),
    {ABSOLUTE: describe_builder(AbsoluteTransformer, absolute.Config)},
)
read, load = make_loader(SLUG, EMPTY, "xl")
