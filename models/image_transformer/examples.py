"""The assets beside the models: held-out pictures for examples, and the stored first example."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.checkpoints import folders
from models.checkpoints.pretrained import store_first
from models.image_transformer.data import OWN, colour, fashion, reduce_pictures
from models.image_transformer.records import LARGE, list_examples

FILE = "examples.npz"
GREY, COLOURED = 24, 8  # held-out pictures of each set
LOOKED_AT = 200  # test pictures from which they are chosen


def mix_kinds(kinds: NDArray[np.int64], count: int) -> list[int]:
    """Return the indices of the first `count` pictures in which no kind repeats before every other
    kind had its turn, in order of turns.

    Raise ValueError if there are too few pictures.
    """
    turn: dict[int, int] = {}
    turns = []
    for kind in kinds.tolist():
        turn[kind] = turn.get(kind, -1) + 1
        turns.append(turn[kind])
    chosen = sorted(range(len(kinds)), key=lambda i: (turns[i], i))[:count]
    kinds_there = len(turn)
    if len(chosen) < count or any(turns[i] > j // kinds_there for j, i in enumerate(chosen)):
        raise ValueError(
            f"{count} mixed pictures of {kinds_there} kinds are not among {len(kinds)}"
        )
    return chosen


def choose(data: Path, path: Path) -> None:
    """Write the held-out pictures: grey (24, 28, 28) and colour (8, 16, 16, 3) levels, and the kind
    of each.

    They are the first of every kind in turn from the test sets, without a selection by eye. Raise
    FileNotFoundError if the data are missing. A user's own pictures come from their test part and
    are all coloured.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if (data / OWN).is_file():
        mine = colour(data, "test", COLOURED)
        np.savez_compressed(
            path, colour=reduce_pictures(mine.levels, LARGE), colour_kinds=mine.kinds
        )
        return
    grey, coloured = fashion(data, "test")[:LOOKED_AT], colour(data, "test", LOOKED_AT)
    first, second = mix_kinds(grey.kinds, GREY), mix_kinds(coloured.kinds, COLOURED)
    np.savez_compressed(
        path,
        grey=grey.levels[first],
        grey_kinds=grey.kinds[first],
        colour=reduce_pictures(coloured.levels[second], LARGE),
        colour_kinds=coloured.kinds[second],
    )


def examples() -> Path:
    """Store the first example's explanation with its time, without that of loading the models;
    return the file.

    If the held-out pictures are missing, choose them first from the data in $EXPLORER_DATA.
    """
    from models.image_transformer.explain import explain

    pictures = folders.find_lab_folder("image_transformer") / FILE
    if not pictures.is_file():
        choose(Path(os.environ.get("EXPLORER_DATA", "data")), pictures)
    return store_first("image_transformer", explain, list_examples()[0])
