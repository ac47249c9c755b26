"""The folders of a lab's files: the shipped ones, or those of a user's own training in
$EXPLORER_ASSETS."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[2] / "assets"
NAME = "EXPLORER_ASSETS"


def find_user_folder(slug: str) -> Path | None:
    """Return the folder of a lab's user-trained models, or None where there are none."""
    root = os.environ.get(NAME)
    return found if root and (found := Path(root).resolve() / slug).is_dir() else None


def list_trained(slug: str, variants: Iterable[str]) -> tuple[str, ...]:
    """Return the variants of a lab that have a model, in their order."""
    return tuple(
        variant
        for variant in variants
        if (find_lab_folder(slug) / variant / "model.json").is_file()
    )


def find_lab_folder(slug: str, shipped: Path | None = None) -> Path:
    """Return the folder of a lab's files: no shipped file is used beside a user-trained model,
    which may be of another size."""
    return find_user_folder(slug) or (shipped or ASSETS) / slug
