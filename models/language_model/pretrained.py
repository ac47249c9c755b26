"""The trained networks as they are shipped."""

from __future__ import annotations

from models.language_model.model import Config, LanguageModel
from models.pretrained import described, loader

SLUG = "language_model"
PIECES = "pieces.json"  # beside the weights of a model of pieces

read, load = loader(SLUG, described(LanguageModel, Config), "plain")
