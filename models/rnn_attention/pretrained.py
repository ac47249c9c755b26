"""The trained networks as they are shipped, with the pieces of the translation lab."""

from __future__ import annotations

from pathlib import Path

from models import checkpoint
from models.multi30k import Translator, with_pieces
from models.pretrained import described, once, restored
from models.rnn_attention.model import Config, RecurrentTranslator

SLUG = "rnn_attention"
PIECES = checkpoint.ASSETS / "translation/base/tokenizer.json"  # the same pieces as the Transformer's

Pretrained = Translator[RecurrentTranslator]


def read(where: Path, on: str | None = None) -> Pretrained:
    """As `models.pretrained.Read`."""
    return with_pieces(restored(where, described(RecurrentTranslator, Config), on), PIECES)


load = once(SLUG, read, "additive")
