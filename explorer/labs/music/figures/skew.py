"""Skewing, step by step, on the numbers of the run in view (Huang et al., 2018, fig. 1).

It follows the model and the head in view (view keys ``model`` and ``head``, "3.4" counted from 1).
View keys of its own: ``skew`` (open), ``sstep`` (the step in view), ``squeries`` (how many
queries), ``sfrom`` (the first of them), ``scell`` (the number that is followed, by its place in the
padded tensor). For another head, size or beginning the browser sends a request: {"model", "head",
"squeries", "sfrom"}, as the address names them.

The value of the picture:

    model: {en, zh}, whose numbers these are; other: {en, zh}, the model in view where it has no
        relative term, or None
    layer, head: from 0; layers, heads: how many there are; distances: how many E_r was trained for
    first: the event that the first query predicts; events: how many there are
    product, padded, reshaped, sliced, direct: packed (L, L), (L, L + 1), (L + 1, L), (L, L), (L,
        L); difference: the largest one
    makes, reads: [{en, zh}] for each query the event it predicts, for each key the event it read
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.values.packing import convert_to_json

Text = Mapping[str, str]
Value = dict[str, object]

QUERIES = (6, 8, 12)  # choices for the number of queries


def list_steps(
    model: Text,
    place: tuple[int, int],
    size: tuple[int, int],
    *,
    allowed: NDArray[np.bool_],
    **told: Any,
) -> Value:
    """Draw the panel of one head. place: (layer, head) from 0; size: how many layers and heads
    there are. allowed: (L, L) True where a query may look. told: the value's tensors, first,
    events, distances, makes, reads and other."""
    where = dict(zip(("layer", "head", "layers", "heads"), (*place, *size), strict=True))
    off = float(np.abs(told["sliced"] - told["direct"])[allowed].max())
    return convert_to_json({"model": model, "other": None, **where, **told, "difference": off})  # type: ignore[no-any-return]
