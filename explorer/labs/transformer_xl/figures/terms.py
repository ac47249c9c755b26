"""The four terms of the relative score (Dai et al., 2019, §3.3), their sum and its softmax, on the
run in view.

It follows the model, the head and the character in view (view keys ``model``, ``head``, "3.2"
counted from 1, and ``pos``). View keys of its own: ``terms`` (open), ``tqueries`` (how many
queries), ``tcell`` ("2.13": the cell that is described, two queries before the last one, 13 back).
For another head, character or number of queries the browser sends a request: {"model", "head",
"pos", "tqueries"}, None where nobody chose.

The value of the picture:

    model: {en, zh}, whose numbers these are; other: {en, zh}, the model in view where it has no
        terms of this kind, or None
    layer, head: from 0; layers, heads: how many there are
    content, position, global_content, global_position, scores: packed (query, key), divided by
        √d_head, 0 where a query may not attend
    weights, allowed: packed (query, key); elsewhere: packed (query,) weight that goes to keys
        farther back than those shown
    u, v: packed (d_head,)
    queries, keys: {"positions": packed, "names": [character]}
    left_off: how many keys farther back there are; memory_until: how many of those shown are the
        memory's
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.values.packing import convert_to_json, pack_array

Array = NDArray[np.float32]
Text = Mapping[str, str]
Value = dict[str, object]

QUERIES = (16, 32, 64)  # choices for the number of queries
KEYS = 160  # keys that are drawn, at most
# the four terms, and their sum
TERMS = ("content", "position", "global_content", "global_position", "scores")
ALIKE = 1e-3  # largest difference between the sum of the terms and the scores, beside rounding


def draw_boards(
    model: Text,
    place: tuple[int, int],
    size: tuple[int, int],
    *,
    weights: Array,
    allowed: NDArray[np.bool_],
    u: Array,
    v: Array,
    queries: Sequence[tuple[int, str]],
    keys: Sequence[tuple[int, str]],
    memory_until: int,
    other: Text | None = None,
    **terms: Array,
) -> Value:
    """Draw the panel of one head. place: (layer, head) from 0; size: how many layers and heads
    there are.

    terms, by TERMS, and weights: (query, key); the last query stands at the last key. allowed:
    (query, key), True where a query may attend; elsewhere all are 0. u, v: (d_head,). queries:
    (position, character) that each query predicts. keys: (position, character) that each key
    carries, position −1 for what is no character of this text. memory_until: how many of the keys,
    the first ones, are the memory's. other: the model in view where it has no terms of this kind.
    If there are more than KEYS keys, the last ones are shown.

    Raise ValueError, with the sizes, where these do not fit each other, and where the four terms do
    not add up to the scores.
    """
    arrays, scores = {name: terms[name] for name in TERMS}, terms["scores"]
    shape = (len(queries), len(keys))
    shapes = [array.shape for array in (*arrays.values(), weights, allowed)]
    if any(one != shape for one in shapes) or not 0 < shape[0] <= shape[1]:
        raise ValueError(
            f"terms, scores, weights, allowed {shapes} for {shape[0]} queries and {shape[1]} keys"
        )
    if u.ndim != 1 or u.shape != v.shape:
        raise ValueError(f"u {u.shape} and v {v.shape}; expected (d_head,) for both")
    if not 0 <= memory_until <= shape[1]:
        raise ValueError(
            f"the memory has {memory_until} keys of {shape[1]}; expected no more than all"
        )
    missed = np.abs(sum(terms[name] for name in TERMS[:4]) - scores)[allowed]
    limit = ALIKE * (1 + float(np.abs(scores[allowed]).max(initial=0)))
    if missed.size and float(missed.max()) > limit:
        raise ValueError(f"the four terms miss the scores by {float(missed.max()):.3g}")
    off = max(0, shape[1] - KEYS)
    told = {
        "model": model,
        "other": other,
        "layer": place[0],
        "head": place[1],
        "layers": size[0],
        "heads": size[1],
        "u": u,
        "v": v,
    }
    return {
        **convert_to_json(told),
        **{
            name: pack_array(np.asarray(array[:, off:], np.float32), unit=False)
            for name, array in arrays.items()
        },
        "weights": pack_array(np.asarray(weights[:, off:], np.float32)),
        "allowed": pack_array(np.asarray(allowed[:, off:], np.bool_)),
        "elsewhere": pack_array(np.clip(weights[:, :off].sum(1), 0, 1).astype(np.float32)),
        "queries": _name_places(queries),
        "keys": _name_places(keys[off:]),
        "left_off": off,
        "memory_until": max(0, memory_until - off),
    }


def _name_places(places: Sequence[tuple[int, str]]) -> Value:
    return {
        "positions": pack_array(np.asarray([position for position, _ in places], np.int32)),
        "names": [name for _, name in places],
    }
