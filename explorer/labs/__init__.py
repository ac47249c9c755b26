"""The labs, in teaching order. A lab is added by its name here and removed by deleting it together with its folders."""

from __future__ import annotations

from importlib import import_module

from explorer.lab import Lab

NAMES = (
    "rnn_attention",
    "cost",
    "translation",
    "nonautoregressive",
    "image_transformer",
    "music",
    "language_model",
    "bert",
    "transformer_xl",
    "adaptive_span",
    "sparse_transformer",
    "reformer",
    "act_rnn",
    "universal_transformer",
)
LABS: tuple[Lab, ...] = tuple(import_module(f"explorer.labs.{name}.page").LAB for name in NAMES)
