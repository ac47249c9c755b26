"""The trained model as it is shipped."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from models.encoder_decoder import Config, Transformer
from models.multi30k import Translator, with_pieces
from models.pretrained import described, once, restored
from models.searching import laid_out

Pretrained = Translator[Transformer]


def read(where: Path, on: str | None = None) -> Pretrained:
    """As `models.pretrained.Read`."""
    found = with_pieces(restored(where, described(Transformer, Config), on), where / "tokenizer.json")
    return dataclasses.replace(found, model=laid_out(found.model))


load = once("translation", read)
