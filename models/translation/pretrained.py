"""The shipped models."""

from __future__ import annotations

from pathlib import Path

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
from models.translation.ablation import Ablated, AblatedConfig
from models.translation.path_records import NETWORKS

SLUG = "translation"

Pretrained = Translator[Transformer]


def pieces(where: Path) -> Path:
    """Return the vocabulary of a model: its own, or that of the shipped one."""
    own = where / "tokenizer.json"
    return own if own.is_file() else checkpoint.find_folder(SLUG) / own.name


def read(where: Path, on: str | None = None) -> Pretrained:
    """Read a model as `models.checkpoints.pretrained.CheckpointReader` does."""
    build = build_by_variant(
        describe_builder(Transformer, Config),
        dict.fromkeys(NETWORKS, describe_builder(Ablated, AblatedConfig)),
    )
    found = check_vocabulary(read_checkpoint(where, build, on), pieces(where))
    lay_out_by_column(found.model)
    return found


load = load_once(SLUG, read)
