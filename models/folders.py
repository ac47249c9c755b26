"""Where the files of a lab lie: the shipped ones, or those of somebody's own training, whose folder $EXPLORER_ASSETS names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

ASSETS = Path(__file__).resolve().parent.parent / "assets"
NAME = "EXPLORER_ASSETS"


def own(slug: str) -> Path | None:
    """The folder of a lab's own models, or None where there are none."""
    root = os.environ.get(NAME)
    return found if root and (found := Path(root).resolve() / slug).is_dir() else None


def trained(slug: str, variants: Iterable[str]) -> tuple[str, ...]:
    """Those of a lab's variants of which a model is there, in their order."""
    return tuple(variant for variant in variants if (lab(slug) / variant / "model.json").is_file())


def lab(slug: str, shipped: Path | None = None) -> Path:
    """The folder of a lab's files: nothing shipped stands beside a model of somebody's own, which may be of another size."""
    return own(slug) or (shipped or ASSETS) / slug
