"""The trained networks as they are shipped."""

from __future__ import annotations

from functools import cache

from models import checkpoint
from models.bert.model import Config, Encoder
from models.bert.pieces import Pieces
from models.pretrained import described, loader

SLUG = "bert"
PIECES = "tokenizer.json"  # beside the weights

read, load = loader(SLUG, described(Encoder, Config), "mlm")


@cache
def pieces_of(variant: str) -> Pieces:
    """The vocabulary of a model, read once."""
    return Pieces.load(checkpoint.folder(SLUG, variant) / PIECES)
