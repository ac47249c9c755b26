"""Attention by hashing as its picture draws it: buckets of every head and round, and one head and round step by step, as JSON.

Shared queries are their own keys; h(x) = argmax[xR; −xR] is the bucket; positions are sorted by (bucket, position), cut into chunks, and a
query attends to its own chunk and the one before, its own past only. What follows from buckets alone (order, chunks, who meets whom) is
worked out in the browser. Rotated vectors and weights of a head and round that was not looked at yet are asked for: the event ``look``
carries {query, model, head ("2.3", from 1), round (from 1; 0: all rounds together)}, and brings `looked`, `together` or `unseen`.

The word task reads 0 w 0 w: position i of the second word is to say the letter that stands at i − |w|.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.packing import pack, raw

Array = NDArray[np.floating[Any]]
Whole = NDArray[np.integer[Any]]
Text = Mapping[str, str]
Value = dict[str, object]

KIND = "hashing"  # of an answer that came through the companion
ALL = 0  # in place of a round: all rounds together


def value(
    *,
    tokens: Sequence[str],
    wanted: Whole,
    read: Sequence[Any],
    names: Mapping[str, Text],
    pick: Mapping[str, object],
    word: int | None = None,
    look: Mapping[str, object] | None = None,
    **of: str,
) -> Value:
    """A finished run.

    tokens: what was read, as text for each position. wanted: (letter,) positions whose next token is wanted. names: of the models for
    readers, by variant. read: `models.reformer.records.Read` of each model. of: query, the run's permalink, and state, "stored" or "live".
    pick: {model, head ("2.3", from 1), pos, round (from 1)}, what is shown on arrival.
    word: letters of the word in 0 w 0 w, or None for a text. look: `looked` for the head and round of `pick`, which is then not asked for.
    ValueError where positions do not fit one another.
    """
    length = len(tokens)
    for one in read:
        if one.buckets.ndim != 4 or one.buckets.shape[3] != length:
            raise ValueError(f"buckets {one.buckets.shape} of {one.variant} for {length} tokens; (layer, head, round, position) is meant")
        if one.buckets.size and not 0 <= int(one.buckets.min()) <= int(one.buckets.max()) < one.kinds:
            raise ValueError(f"buckets {one.buckets.min()} … {one.buckets.max()} of {one.variant}, which has {one.kinds}")
    if word is not None and length != 2 * word + 1:
        raise ValueError(f"{length} tokens for a word of {word} letters read as 0 w 0 w; {2 * word + 1} are meant")
    models = [
        {
            "key": one.variant,
            "name": dict(names[one.variant]),
            **dict(zip(("layers", "heads", "rounds"), one.buckets.shape, strict=False)),
            "buckets": raw(one.buckets.astype("u1")),  # there are no more than 256
            "chunk": min(one.chunk, length),
            "kinds": one.kinds,
        }
        for one in read
    ]
    run: Value = {**of, "tokens": list(tokens), "wanted": pack(np.asarray(wanted, np.int32)), "word": word}
    return {**run, "models": models, "pick": dict(pick), "looked": None if look is None else dict(look)}


def looked(address: Value, seen: Any) -> Value:
    """One head and round, what the event `look` asks for. address: its detail. seen: a `models.reformer.records.Hashing`.

    Weights are sent by the place of the query and by what it may see: (place, slot), slot j being place (c − 1) · chunk + j for a query of
    chunk c. A slot before the first place, or behind the last, is 0.
    """
    chunk = min(seen.chunk, len(seen.order))
    rotated, weights = pack(np.asarray(seen.rotated, np.float32), unit=False), pack(slots(seen.weights, seen.order, chunk))
    return {**address, "kind": KIND, "rotated": rotated, "chunk": chunk, "weights": weights, "error": None}


def together(address: Value, weights: Array) -> Value:
    """All rounds of one head: what `look` asks for with round 0. weights: (query, key) of all that any round sees."""
    return {**address, "kind": KIND, "weights": pack(np.asarray(weights, np.float32)), "error": None}


def unseen(address: Value, error: Text) -> Value:
    """Why what was asked for cannot be had."""
    return {**address, "kind": KIND, "error": dict(error)}


def slots(weights: Array, order: Whole, chunk: int) -> NDArray[np.float32]:
    """weights (query, key) of a round -> (place, slot), as `looked` sends them. order: (place,)."""
    length = len(order)
    place = np.arange(length)[:, None]
    other = (place // chunk - 1) * chunk + np.arange(2 * chunk)
    there = (other >= 0) & (other < length)
    key = order[np.clip(other, 0, length - 1)]
    return np.where(there, np.asarray(weights, np.float32)[order[:, None], key], np.float32(0))
