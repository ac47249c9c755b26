"""The labs, in teaching order. A lab is added by its name here and removed by deleting it together
with its folders."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from explorer.contract.lab import OpenLab
from explorer.page.lab import Lab, open_lab

NAMES = (
    "rnn_attention",
    "cost",
    "translation",
    "twins",
    "nonautoregressive",
    "image_transformer",
    "sagan",
    "music",
    "language_model",
    "graph_attention",
    "bert",
    "transformer_xl",
    "gtrxl",
    "adaptive_span",
    "sparse_transformer",
    "reformer",
    "act_rnn",
    "universal_transformer",
    "detection",
    "self_similarity",
    "speech",
)
DECLARED: tuple[Lab[Any, Any, Any, Any], ...] = tuple(
    import_module(f"explorer.labs.{name}.lab").LAB for name in NAMES
)
LABS: tuple[OpenLab, ...] = tuple(map(open_lab, DECLARED))
