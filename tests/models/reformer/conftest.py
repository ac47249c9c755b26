"""Tiny networks of every variant, and books of a few lines, in folders of their own."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from models import checkpoint
from models.reformer import explain, pretrained, recipe
from models.reformer.data import Curriculum
from models.reformer.model import Reformer
from models.reformer.recipe import VARIANTS, Recipe, task_of
from models.training import Schedule
from tests.models.networks import shelve

SMALL = {"d_model": 16, "d_ff": 16, "n_heads": 2}
PROSE = "Alice was beginning to get very tired of sitting by her sister on the bank. "


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Books in the layout of the real ones."""
    splits = ("train", "train", "valid", "test")
    return shelve(tmp_path, [(split, PROSE * (3 if split == "train" else 1)) for split in splits])


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every variant with a tiny network and a tiny recipe; its assets in a folder of its own."""
    schedule = Schedule(steps=4, warmup=1, decay=0.0, cooldown=2, average=2, every=2, precision="32-true")
    short = Recipe(schedule, Curriculum(tokens=600), batch=2, round=2, rate=3e-3)
    networks = {}
    for name in VARIANTS:
        task = task_of(name)
        config = dataclasses.replace(task.config, **SMALL, **({"length": 24, "chunk": 4} if task.of_text else {}))
        networks[name] = dataclasses.replace(task, config=config, recipe=short)
    monkeypatch.setattr(recipe.LAB, "variants", networks)
    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path / "assets")
    folder = checkpoint.folder
    monkeypatch.setattr(explain, "load", lambda variant, seed=1: pretrained.read(folder("reformer", variant, seed), "cpu"))


@pytest.fixture
def trained(small: None) -> None:
    """Models that have learned nothing, stored as if they had, for explaining."""
    for number, (name, rounds) in enumerate((("lsh_4", 4), ("full", 0), ("text", 2))):
        torch.manual_seed(number)
        letters = "".join(sorted(set(PROSE))) if name == "text" else ""
        task = recipe.task_of(name)
        config = dataclasses.replace(task.config, rounds=rounds, vocabulary=len(letters) + 1 if letters else task.config.vocabulary)
        config = dataclasses.replace(config, letters=letters, length=1024 if letters else config.length)
        facts = {"slug": "reformer", "variant": name, "config": dataclasses.asdict(config), "finished": True, "seed": 1, "licence": "none"}
        checkpoint.save(checkpoint.folder("reformer", name), Reformer(config).state_dict(), facts)
