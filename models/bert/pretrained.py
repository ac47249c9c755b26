"""The shipped networks."""

from __future__ import annotations

from functools import cache

from models.bert.model import Config, Encoder
from models.bert.pieces import Pieces
from models.checkpoints import checkpoint
from models.checkpoints.pretrained import describe_builder, make_loader

SLUG = "bert"
PIECES = "tokenizer.json"  # next to the weights

read, load = make_loader(SLUG, describe_builder(Encoder, Config), "mlm")


@cache
def pieces_of(variant: str) -> Pieces:
    """Return the vocabulary of a model; it is read once."""
    return Pieces.load(checkpoint.find_folder(SLUG, variant) / PIECES)
