"""Small models of music that have learned nothing, in the places of the shipped ones."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from models.checkpoint import CheckpointError
from models.music import chorales
from models.music.model import Config, MusicTransformer
from models.pretrained import Pretrained


def small_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chorales alone can be made, by two small networks from a fixed seed."""
    torch.manual_seed(8)
    config = Config(chorales.CELLS, 40, (4, 64), d_model=24, d_ff=32, n_heads=3, n_layers=2)
    networks = {
        "jsb_relative": MusicTransformer(config),
        "jsb_transformer": MusicTransformer(dataclasses.replace(config, distances=0)),
    }
    shipped = {name: Pretrained(network.eval().requires_grad_(False), {"variant": name}) for name, network in networks.items()}

    def load(variant: str, seed: int = 1) -> Pretrained:
        if variant not in shipped:
            raise CheckpointError(f"{variant} is not here")
        return shipped[variant]

    monkeypatch.setattr("models.music.explain.load", load)
