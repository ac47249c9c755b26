"""What is shipped beside the models: held-out pictures to begin with, and the stored first example."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models import folders
from models.image_transformer.data import OWN, colour, fashion, reduced
from models.image_transformer.records import LARGE, offered
from models.pretrained import store_first

FILE = "examples.npz"
GREY, COLOURED = 24, 8  # held-out pictures of each set
LOOKED_AT = 200  # test pictures among which they are found


def mixed(kinds: NDArray[np.int64], count: int) -> list[int]:
    """The first `count` pictures such that no kind comes again before the others had their turn; their indices, in order of turns.

    ValueError where there are too few pictures for that.
    """
    turn: dict[int, int] = {}
    turns = []
    for kind in kinds.tolist():
        turn[kind] = turn.get(kind, -1) + 1
        turns.append(turn[kind])
    chosen = sorted(range(len(kinds)), key=lambda i: (turns[i], i))[:count]
    kinds_there = len(turn)
    if len(chosen) < count or any(turns[i] > j // kinds_there for j, i in enumerate(chosen)):
        raise ValueError(f"{count} mixed pictures of {kinds_there} kinds are not among {len(kinds)}")
    return chosen


def choose(data: Path, path: Path) -> None:
    """Write the held-out pictures: grey (24, 28, 28) and colour (8, 16, 16, 3) levels, and the kind of each.

    They come from the test sets, the first of every kind in turn; nobody looked at them. FileNotFoundError where the data are missing. Of
    somebody's own pictures the first of their test part, which are all coloured.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if (data / OWN).is_file():
        mine = colour(data, "test", COLOURED)
        np.savez_compressed(path, colour=reduced(mine.levels, LARGE), colour_kinds=mine.kinds)
        return
    grey, coloured = fashion(data, "test")[:LOOKED_AT], colour(data, "test", LOOKED_AT)
    first, second = mixed(grey.kinds, GREY), mixed(coloured.kinds, COLOURED)
    np.savez_compressed(
        path,
        grey=grey.levels[first],
        grey_kinds=grey.kinds[first],
        colour=reduced(coloured.levels[second], LARGE),
        colour_kinds=coloured.kinds[second],
    )


def examples() -> Path:
    """Store the first example's explanation, with the time it took once the models were there; returns the file.

    Where the held-out pictures are not there yet they are chosen first, from the data in $EXPLORER_DATA.
    """
    from models.image_transformer.explain import explain

    pictures = folders.lab("image_transformer") / FILE
    if not pictures.is_file():
        choose(Path(os.environ.get("EXPLORER_DATA", "data")), pictures)
    return store_first("image_transformer", explain, offered()[0])
