"""The shipped networks."""

from __future__ import annotations

from models.checkpoints.pretrained import describe_builder, make_loader
from models.language_model.model import Config, LanguageModel

SLUG = "language_model"
PIECES = "pieces.json"  # next to the weights of a model of pieces

read, load = make_loader(SLUG, describe_builder(LanguageModel, Config), "plain")
