"""Skewing, step by step, on the numbers of the run in view (Huang et al., 2018, fig. 1).

It follows the model and the head in view (view keys ``model`` and ``head``, "3.4" counted from 1). View keys of its own: ``skew`` (open),
``sstep`` (which of the steps stands there), ``squeries`` (how many queries), ``sfrom`` (the first of them), ``scell`` (the number that is
followed, by its place in the padded tensor). Another head, size or beginning asks the server: {"model", "head",
"squeries", "sfrom"}, as the address says them.

The value of the picture:

    model: {en, zh}, whose numbers these are; other: {en, zh}, the model in view that has no relative term, or None
    layer, head: from 0; layers, heads: how many there are; distances: how many E_r was trained for
    first: the event that the first query makes; events: how many there are
    product, padded, reshaped, sliced, direct: packed (L, L), (L, L + 1), (L + 1, L), (L, L), (L, L); difference: the largest one
    makes, reads: [{en, zh}] for each query what it makes, for each key what it has read
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.packing import spelled

Text = Mapping[str, str]
Value = dict[str, object]

QUERIES = (6, 8, 12)  # how many may stand there


def steps(model: Text, place: tuple[int, int], size: tuple[int, int], *, allowed: NDArray[np.bool_], **told: Any) -> Value:
    """What the panel draws of one head. place: (layer, head) from 0; size: how many layers and heads there are. allowed: (L, L) what a
    query may look at. told: the value's tensors, first, events, distances, makes, reads and other."""
    where = dict(zip(("layer", "head", "layers", "heads"), (*place, *size), strict=True))
    off = float(np.abs(told["sliced"] - told["direct"])[allowed].max())
    return spelled({"model": model, "other": None, **where, **told, "difference": off})  # type: ignore[no-any-return]
