"""The trained networks as they are shipped, with the pieces of the translation lab."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from models import checkpoint
from models.multi30k import Tokenizer
from models.pretrained import once, restored
from models.rnn_attention.model import Config, RecurrentTranslator

SLUG = "rnn_attention"
PIECES = checkpoint.ASSETS / "translation/base/tokenizer.json"  # the same pieces as the Transformer's


class Pretrained(NamedTuple):
    """A network ready to run, its vocabulary, and what model.json says of it."""

    model: RecurrentTranslator
    tokenizer: Tokenizer
    facts: dict[str, Any]


def read(where: Path, on: str | None = None) -> Pretrained:
    """Read a checkpoint's folder, strictly; CheckpointError where anything does not fit."""
    found = restored(where, lambda facts: RecurrentTranslator(checkpoint.config_of(Config, facts["config"])), on)
    tokenizer = Tokenizer.load(PIECES)
    if len(tokenizer) != found.model.config.vocabulary:
        raise checkpoint.CheckpointError(f"{len(tokenizer)} pieces for a model of {found.model.config.vocabulary}")
    return Pretrained(found.model, tokenizer, found.facts)


load = once(SLUG, read, "additive")
