"""The trained networks as they are shipped, and their teacher: the Transformer of the translation lab, whose pieces they share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from models import checkpoint
from models.encoder import Config
from models.encoder_decoder import Transformer
from models.multi30k import Translator, with_pieces
from models.nonautoregressive.model import AllAtOnce
from models.nonautoregressive.records import GREEDY
from models.pretrained import by_variant, described, once, restored
from models.searching import laid_out

SLUG = "nonautoregressive"
TEACHER = "translation"
PIECES = checkpoint.ASSETS / TEACHER / "base/tokenizer.json"

Pretrained = Translator[Any]


def read(where: Path, on: str | None = None) -> Pretrained:
    """As `models.pretrained.Read`: an `AllAtOnce`, or a Transformer where the variant is autoregressive."""
    build = by_variant(described(AllAtOnce, Config), dict.fromkeys((GREEDY, "base"), described(Transformer, Config)))
    found = with_pieces(restored(where, build, on), PIECES)
    laid_out(found.model)
    return found


load, teacher = once(SLUG, read, "cmlm_distilled"), once(TEACHER, read)
