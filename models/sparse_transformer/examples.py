"""The assets beside the models: held-out digits for examples, and the stored first example."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from models.checkpoints import checkpoint
from models.checkpoints.pretrained import store_first
from models.sparse_transformer.data import digits
from models.sparse_transformer.records import EXAMPLES

COUNT = 20  # held-out digits, two of each kind
LOOKED_AT = 200  # test digits from which they are chosen


def choose(data: Path, path: Path) -> None:
    """Write the held-out digits: the first two of each kind in the test set, binarised, kinds in
    turn, without a selection by eye.

    Raise FileNotFoundError if the data are missing.
    """
    found = digits(data, "test")
    kinds = found.kinds[:LOOKED_AT]
    chosen = [
        int(np.flatnonzero(kinds == kind)[turn])
        for turn in range(COUNT // 10)
        for kind in range(10)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, pixels=found.pixels[chosen], kinds=kinds[chosen])


def examples() -> Path:
    """Store the first example's explanation with its time, without that of loading the models;
    return the file.

    If the held-out digits are missing, choose them first from the data in $EXPLORER_DATA.
    """
    from models.sparse_transformer.explain import explain

    folder = checkpoint.ASSETS / "sparse_transformer"
    if not (folder / "examples.npz").is_file():
        choose(Path(os.environ.get("EXPLORER_DATA", "data")), folder / "examples.npz")
    return store_first("sparse_transformer", explain, EXAMPLES[0])
