"""The facts beside the mechanism: figures from each model.json and the training replayed. Every
number is read from a file."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from explorer.components.card import TitleFigure
from explorer.contract import labels
from explorer.contract.labels import fill_text
from explorer.labs.sagan import texts
from explorer.page import card_facts
from models.checkpoints import folders
from models.explaining.errors import reading_file

SLUG = "sagan"
VARIANTS = ("attention", "residual", "twins", "twins_control", "classifier")


def facts() -> dict[str, dict[str, Any]]:
    """Return the model.json of each shipped variant, by variant; variants that are not shipped are
    missing."""
    return card_facts.read_models(SLUG, VARIANTS)


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: size, data, distance, training time."""
    known = facts()
    if "attention" not in known:
        return ()
    ours = known["attention"]
    distances = [
        TitleFigure(
            fill_text(texts.DISTANCE, split=labels.name_split(figure["split"])),
            f"{figure['value']:.1f}",
            fill_text(texts.KEPT, kept=f"{figure['class_kept']:.3f}"),
            texts.UNPUBLISHED,
        )
        for figure in (ours.get("figure"),)
        if figure
    ]
    data = TitleFigure(labels.CARD["data"], texts.DATA)
    return card_facts.pairs({"attention": ours}, data, distances)


def list_curves() -> dict[str, list[tuple[float, float]]]:
    """Return losses, γ and distances over training, (step, value) by name; also the distances of
    the control, as far as the training with attention goes, where it is shipped."""
    log, other = (card_facts.read_training_log(SLUG, name) for name in VARIANTS[:2])
    last = log[-1]["step"] if log else 0
    curves = {
        key: [(row["step"], row[key]) for row in log if key in row]
        for key in ("loss_d", "loss_g", "gamma_d", "gamma_g", "distance")
    }
    alike = [row for row in other if "distance" in row and row["step"] <= last]
    curves["control"] = [(row["step"], row["distance"]) for row in alike]
    return {key: rows for key, rows in curves.items() if rows}


@cache
def load_replay() -> dict[str, Any] | None:
    """Return the training replayed: pictures from the same noise, (frame, 10, 32, 32), the step of
    each frame, and the curves; None where it is not stored."""
    path = folders.find_lab_folder(SLUG, folders.ASSETS) / "attention" / "frames.npz"
    if not path.is_file():
        return None
    with reading_file(path), np.load(path, allow_pickle=False) as file:
        return {
            "frames": file["frames"],
            "steps": [int(step) for step in file["steps"]],
            "curves": list_curves(),
        }
