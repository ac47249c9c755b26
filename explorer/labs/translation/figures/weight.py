"""The arithmetic of one weight: query times key, scaled, masked, through the softmax, and the share
of the value that it takes.

The picture follows the cell that attention has in view (view keys ``kind``, ``head``, ``row``,
``col``); its own view key ``wstep`` says which of the five steps is shown, 1 to 5. Only for another
head does the browser send a request: {"kind", "layer", "head"}, from 0; it has every row and column
of a head already.

The value of the picture:

    kind, layer, head: whose these are, from 0; layers, heads: how many there are
    query, key, values: packed arrays (query, d_head), (key, d_head), (key, d_head)
    queries, keys: pieces; causal: a query may not attend to keys behind it; hidden: keys that
    nothing may attend to; scaled: whether scores are divided by √d_head; silenced: whether the
    head's output counts 0
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.values.packing import convert_to_json, pack_array

Array = NDArray[np.float32]
Value = dict[str, object]


def describe_head(
    kind: str,
    place: tuple[int, int],
    size: tuple[int, int],
    *,
    query: Array,
    key: Array,
    value: Array,
    queries: Sequence[str],
    keys: Sequence[str],
    **told: object,
) -> Value:
    """Return the value of the picture for one head. place: (layer, head) from 0; size: how many
    layers and heads there are. told: causal; scaled, hidden and silenced where they differ from the
    default.

    Raise ValueError, with the sizes, where arrays and pieces do not fit.
    """
    expected = (len(queries), len(keys), len(keys))
    if (len(query), len(key), len(value)) != expected or query.shape[1] != key.shape[1]:
        raise ValueError(
            f"query {query.shape}, key {key.shape}, value {value.shape} for {len(queries)} queries"
            f" and {len(keys)} keys"
        )
    return {
        "kind": kind,
        "layer": place[0],
        "head": place[1],
        "layers": size[0],
        "heads": size[1],
        "query": pack_array(query, unit=False),
        "key": pack_array(key, unit=False),
        "values": pack_array(value, unit=False),
        "queries": list(queries),
        "keys": list(keys),
        "scaled": True,
        "hidden": [],
        "silenced": False,
        **convert_to_json(told),
    }
