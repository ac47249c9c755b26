"""The four terms of the relative score (Dai et al., 2019, §3.3), their sum and its softmax, on the run in view.

It follows the model, the head and the character in view (view keys ``model``, ``head``, "3.2" counted from 1, and ``pos``). View keys of
its own: ``terms`` (open), ``tqueries`` (how many queries), ``tcell`` ("2.13": the cell that is told of, two queries before the last one, 13
back). Another head, character or number of queries asks the server: {"model", "head", "pos", "tqueries"}, None where nobody chose.

The value of the picture:

    model: {en, zh}, whose numbers these are; other: {en, zh}, the model in view that has no such terms, or None
    layer, head: from 0; layers, heads: how many there are
    content, position, global_content, global_position, scores: packed (query, key), divided by √d_head, 0 where a query may not attend
    weights, allowed: packed (query, key); elsewhere: packed (query,) weight that goes to keys farther back than those shown
    u, v: packed (d_head,)
    queries, keys: {"positions": packed, "names": [character]}
    left_off: how many keys farther back there are; memory_until: how many of those shown are the memory's
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.packing import pack, spelled

Array = NDArray[np.float32]
Text = Mapping[str, str]
Value = dict[str, object]

QUERIES = (16, 32, 64)  # how many may stand there
KEYS = 160  # how many stand there at most
TERMS = ("content", "position", "global_content", "global_position", "scores")  # the four, and their sum
ALIKE = 1e-3  # by how much the sum of the terms may miss the scores, beside rounding


def boards(
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
    """What the panel draws of one head. place: (layer, head) from 0; size: how many layers and heads there are.

    terms, by TERMS, and weights: (query, key); the last query stands at the last key. allowed: the same, True where a query may attend;
    elsewhere all are 0. u, v: (d_head,). queries: (position, character) of what each is to say. keys: (position, character) of what each
    carries, position −1 for what is no character of this text. memory_until: how many of the keys, the first ones, are the memory's.
    other: the model in view that has no such terms. Of more than KEYS keys the last ones are shown.

    Raises ValueError, with the sizes, where these do not fit each other, and where the four terms do not add up to the scores.
    """
    arrays, scores = {name: terms[name] for name in TERMS}, terms["scores"]
    shape = (len(queries), len(keys))
    shapes = [array.shape for array in (*arrays.values(), weights, allowed)]
    if any(one != shape for one in shapes) or not 0 < shape[0] <= shape[1]:
        raise ValueError(f"terms, scores, weights, allowed {shapes} for {shape[0]} queries and {shape[1]} keys")
    if u.ndim != 1 or u.shape != v.shape:
        raise ValueError(f"u {u.shape} and v {v.shape} of one head")
    if not 0 <= memory_until <= shape[1]:
        raise ValueError(f"a memory of {memory_until} among {shape[1]} keys")
    missed = np.abs(sum(terms[name] for name in TERMS[:4]) - scores)[allowed]
    limit = ALIKE * (1 + float(np.abs(scores[allowed]).max(initial=0)))
    if missed.size and float(missed.max()) > limit:
        raise ValueError(f"the four terms miss the scores by {float(missed.max()):.3g}")
    off = max(0, shape[1] - KEYS)
    told = {"model": model, "other": other, "layer": place[0], "head": place[1], "layers": size[0], "heads": size[1], "u": u, "v": v}
    return {
        **spelled(told),
        **{name: pack(np.asarray(array[:, off:], np.float32), unit=False) for name, array in arrays.items()},
        "weights": pack(np.asarray(weights[:, off:], np.float32)),
        "allowed": pack(np.asarray(allowed[:, off:], np.bool_)),
        "elsewhere": pack(np.clip(weights[:, :off].sum(1), 0, 1).astype(np.float32)),
        "queries": _named(queries),
        "keys": _named(keys[off:]),
        "left_off": off,
        "memory_until": max(0, memory_until - off),
    }


def _named(places: Sequence[tuple[int, str]]) -> Value:
    return {
        "positions": pack(np.asarray([position for position, _ in places], np.int32)),
        "names": [name for _, name in places],
    }
