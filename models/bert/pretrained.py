"""The trained networks as they are shipped."""

from __future__ import annotations

from models.bert.model import Config, Encoder
from models.pretrained import described, loader

SLUG = "bert"
PIECES = "tokenizer.json"  # beside the weights

read, load = loader(SLUG, described(Encoder, Config), "mlm")
