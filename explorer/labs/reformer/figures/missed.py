"""The part of one head's full attention that hashing misses, by rounds and by buckets (Kitaev et
al., 2020, §2), for labs/reformer/missed.js.

It follows the model, the head and the position in view (view keys ``model``, ``head``, "1.2"
counted from 1, and ``pos``, "12" or "3,12"). View keys of its own: ``missed`` (open),
``missedrounds`` and ``missedbuckets``. The browser answers rounds, and the line of every number of
buckets; for another number of buckets it requests a map from the server: {"model", "head",
"buckets"}, None where nobody chose.

The value:

    model: {en, zh}, whose numbers these are
    layer, head: from 0; layers, heads: how many there are
    log_full: packed (query, key) log of the weights of everything before, 0 where a query may not
        look
    first: packed (query, key) round from 1 on in which a pair first met, 0: in none
    kinds: numbers of buckets; table, pairs: packed (round, kind), missed weight and pairs that met,
        in per cent
    chosen: number of buckets that `first` belongs to; ran: [rounds, buckets] of the run, no rounds
        where it did not hash
    trained: rounds in training, 0 without hashing; chunk: places of a chunk; seed: of the rotations
    tokens: [text], by position; pos: the query that is described before anybody chose
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.values.packing import convert_to_json, pack_array

Text = Mapping[str, str]
Value = dict[str, object]


def draw_boards(
    model: Text,
    place: tuple[int, int],
    size: tuple[int, int],
    *,
    pos: int | None = None,
    **told: Any,
) -> Value:
    """Draw the panel of one head. place: (layer, head) from 0; size: how many layers and heads
    there are. told: all other fields of the value.

    log_full: (query, key) log of the weights of everything before, 0 where a query may not look;
    the weights that some rounds see follow from it by another softmax. first: (query, key), the
    round from 1 on in which a pair first met, 0 for pairs that no round lets meet, for the query
    itself and for its future. table, pairs: (round, kind) missed weight, and pairs that met, in per
    cent. ran: (rounds, buckets) of the run, (0, …) where it did not hash. tokens: (position,) the
    text of each position. pos: the query that is described before anybody chose; None: the one in
    the second half that misses most in the rounds of the run.
    """
    first, log_full, half = told["first"], told["log_full"], len(told["tokens"]) // 2
    lost = np.where(
        (first > 0) & (first <= max(1, told["ran"][0])), 0, np.tril(np.exp(log_full), -1)
    ).sum(1)
    told |= {"log_full": np.tril(log_full, -1), "table": np.clip(told["table"], 0, 100)}
    # packed as if they were weights: whole numbers would travel as 32 bits
    told["first"] = pack_array(np.asarray(first, np.uint8) / np.float32(255))
    where = dict(zip(("layer", "head", "layers", "heads"), (*place, *size), strict=True))
    return convert_to_json(  # type: ignore[no-any-return]
        {
            "model": model,
            **where,
            **told,
            "pos": half + int(lost[half:].argmax()) if pos is None else pos,
        }
    )
