"""The trained networks as they are shipped."""

from models.pretrained import described, loader
from models.sparse_transformer.model import Config, SparseTransformer

SLUG = "sparse_transformer"


read, load = loader(SLUG, described(SparseTransformer, Config), "strided")
