"""The shipped networks and their teacher, the Transformer of the translation lab, whose pieces they
share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from models.checkpoints import checkpoint
from models.checkpoints.pretrained import (
    build_by_variant,
    describe_builder,
    load_once,
    read_checkpoint,
)
from models.data.multi30k import Translator, check_vocabulary
from models.decoding.translation_search import lay_out_by_column
from models.networks.encoder import Config
from models.networks.encoder_decoder import Transformer
from models.nonautoregressive.model import AllAtOnce
from models.nonautoregressive.records import GREEDY

SLUG = "nonautoregressive"
TEACHER = "translation"
PIECES = checkpoint.ASSETS / TEACHER / "base/tokenizer.json"

Pretrained = Translator[Any]


def read(where: Path, on: str | None = None) -> Pretrained:
    """Read a network as `models.checkpoints.pretrained.CheckpointReader` does: an `AllAtOnce`, or a
    Transformer if the variant is autoregressive."""
    build = build_by_variant(
        describe_builder(AllAtOnce, Config),
        dict.fromkeys((GREEDY, "base"), describe_builder(Transformer, Config)),
    )
    found = check_vocabulary(read_checkpoint(where, build, on), PIECES)
    lay_out_by_column(found.model)
    return found


load, teacher = load_once(SLUG, read, "cmlm_distilled"), load_once(TEACHER, read)
