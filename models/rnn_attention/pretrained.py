"""The shipped networks, with the pieces of the translation lab."""

from __future__ import annotations

from pathlib import Path

from models.checkpoints import checkpoint
from models.checkpoints.pretrained import describe_builder, load_once, read_checkpoint
from models.data.multi30k import Translator, check_vocabulary
from models.rnn_attention.model import Config, RecurrentTranslator

SLUG = "rnn_attention"
# the same pieces as the Transformer's
PIECES = checkpoint.ASSETS / "translation/base/tokenizer.json"

Pretrained = Translator[RecurrentTranslator]


def read(where: Path, on: str | None = None) -> Pretrained:
    """Read a network as `models.checkpoints.pretrained.CheckpointReader` does."""
    return check_vocabulary(
        read_checkpoint(where, describe_builder(RecurrentTranslator, Config), on), PIECES
    )


load = load_once(SLUG, read, "additive")
