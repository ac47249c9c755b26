"""The trained models as they are shipped."""

from __future__ import annotations

from pathlib import Path

from models import checkpoint
from models.encoder import Config
from models.encoder_decoder import Transformer
from models.multi30k import Translator, with_pieces
from models.pretrained import by_variant, described, once, restored
from models.searching import laid_out
from models.translation.ablation import Ablated, AblatedConfig
from models.translation.path_records import NETWORKS

SLUG = "translation"

Pretrained = Translator[Transformer]


def pieces(where: Path) -> Path:
    """The vocabulary of a model: its own, or that of the shipped one."""
    own = where / "tokenizer.json"
    return own if own.is_file() else checkpoint.folder(SLUG) / own.name


def read(where: Path, on: str | None = None) -> Pretrained:
    """As `models.pretrained.Read`."""
    build = by_variant(described(Transformer, Config), dict.fromkeys(NETWORKS, described(Ablated, AblatedConfig)))
    found = with_pieces(restored(where, build, on), pieces(where))
    laid_out(found.model)
    return found


load = once(SLUG, read)
