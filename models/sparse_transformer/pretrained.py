"""The shipped networks."""

from models.checkpoints.pretrained import describe_builder, make_loader
from models.sparse_transformer.model import Config, SparseTransformer

SLUG = "sparse_transformer"


read, load = make_loader(SLUG, describe_builder(SparseTransformer, Config), "strided")
