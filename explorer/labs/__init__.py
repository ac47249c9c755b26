"""The labs, in teaching order. A lab is added by its name here and removed by deleting it together
with its folders."""

from __future__ import annotations

from importlib import import_module

from explorer.contract.lab import Lab

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
LABS: tuple[Lab, ...] = tuple(import_module(f"explorer.labs.{name}.lab").LAB for name in NAMES)
