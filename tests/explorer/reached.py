"""How far a pixel can see, worked out again beside the browser's own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.labs.image_transformer.drawn import Layout


def reach(layout: Layout, position: int, layers: int) -> list[NDArray[np.bool_]]:
    """What a position can know of, layer by layer: for each layer (position,) bool, the keys that
    reach it through so many layers.

    One layer sees the keys of the query's block; each further one also what those keys saw. A key
    stands for the level made just before
    it, so the pixels known of are as many as the keys, less one where position 0 is among them:
        before it stands nothing.
    """
    seen = np.zeros(layout.length, bool)
    seen[layout.list_keys(position)] = True
    found = [seen]
    for _ in range(layers - 1):
        wider = found[-1].copy()
        for block, (start, stop) in enumerate(zip(layout.starts, layout.starts[1:], strict=False)):
            inside = np.flatnonzero(found[-1][start:stop])
            if len(inside):
                wider[layout.memory[block]] = True
                wider[start : start + int(inside[-1]) + 1] = True
        found.append(wider)
    return found


def known(seen: NDArray[np.bool_]) -> int:
    """How many levels made earlier stand behind a set of keys."""
    return int(seen.sum()) - int(seen[0])
