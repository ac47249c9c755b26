"""Attention by hashing as its picture draws it: buckets of every head and round, and one head and
round step by step, as JSON.

Shared queries are their own keys; h(x) = argmax[xR; −xR] is the bucket; positions are sorted by
(bucket, position), cut into chunks, and a query attends to its own chunk and the one before, its
own past only. The browser derives order, chunks and pairs from the buckets alone. Rotated vectors
and weights arrive on demand, when a visitor selects a head and round: the event ``look`` carries
{query, model, head ("2.3", from 1), round (from 1; 0: all rounds together)}, and brings `looked`,
`together` or `unseen`.

The word task reads 0 w 0 w: position i of the second word predicts the letter at i − |w|.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.values.packing import pack_array, pack_raw

Array = NDArray[np.floating[Any]]
Whole = NDArray[np.integer[Any]]
Text = Mapping[str, str]
Value = dict[str, object]

KIND = "hashing"  # kind of an answer that came through the companion
ALL = 0  # stands for a round: all rounds together


def draw_hashing(
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
    """Draw a finished run.

    tokens: the input as text, for each position. wanted: (letter,) positions whose next token is
    predicted. names: display names of the models, by variant. read: `models.reformer.records.Read`
    of each model. of: query, the run's permalink, and state, "stored" or "live". pick: {model, head
    ("2.3", from 1), pos, round (from 1)}, the selection on arrival. word: letters of the word in 0
    w 0 w, or None for a text. look: `looked` for the head and round of `pick`, which the browser
    then does not request. Raise ValueError where positions do not fit one another.
    """
    length = len(tokens)
    for one in read:
        if one.buckets.ndim != 4 or one.buckets.shape[3] != length:
            raise ValueError(
                f"buckets {one.buckets.shape} of {one.variant} for {length} tokens; expected"
                " (layer, head, round, position)"
            )
        if (
            one.buckets.size
            and not 0 <= int(one.buckets.min()) <= int(one.buckets.max()) < one.kinds
        ):
            raise ValueError(
                f"buckets {one.buckets.min()} … {one.buckets.max()} of {one.variant}, which has"
                f" {one.kinds}"
            )
    if word is not None and length != 2 * word + 1:
        raise ValueError(
            f"{length} tokens for a word of {word} letters read as 0 w 0 w; expected {2 * word + 1}"
        )
    models = [
        {
            "key": one.variant,
            "name": dict(names[one.variant]),
            **dict(zip(("layers", "heads", "rounds"), one.buckets.shape, strict=False)),
            "buckets": pack_raw(one.buckets.astype("u1")),  # there are no more than 256
            "chunk": min(one.chunk, length),
            "kinds": one.kinds,
        }
        for one in read
    ]
    run: Value = {
        **of,
        "tokens": list(tokens),
        "wanted": pack_array(np.asarray(wanted, np.int32)),
        "word": word,
    }
    return {
        **run,
        "models": models,
        "pick": dict(pick),
        "looked": None if look is None else dict(look),
    }


def answer_look(address: Value, explanation: Any) -> Value:
    """Answer the event `look` for one head and round. address: its detail. explanation: a
    `models.reformer.records.Hashing`.

    Weights are sent by the place of the query and the places it may see: (place, slot), where slot
    j is place (c − 1) · chunk + j for a query of chunk c. A slot before the first place, or behind
    the last, is 0.
    """
    chunk = min(explanation.chunk, len(explanation.order))
    rotated, weights = (
        pack_array(np.asarray(explanation.rotated, np.float32), unit=False),
        pack_array(sort_into_slots(explanation.weights, explanation.order, chunk)),
    )
    return {
        **address,
        "kind": KIND,
        "rotated": rotated,
        "chunk": chunk,
        "weights": weights,
        "error": None,
    }


def answer_all_rounds(address: Value, weights: Array) -> Value:
    """Answer the event `look` for all rounds of one head (round 0). weights: (query, key) of all
    that any round sees."""
    return {
        **address,
        "kind": KIND,
        "weights": pack_array(np.asarray(weights, np.float32)),
        "error": None,
    }


def refuse_look(address: Value, error: Text) -> Value:
    """Return why a request of the event `look` is refused."""
    return {**address, "kind": KIND, "error": dict(error)}


def sort_into_slots(weights: Array, order: Whole, chunk: int) -> NDArray[np.float32]:
    """Sort the weights (query, key) of a round into (place, slot), as `looked` sends them. order:
    (place,)."""
    length = len(order)
    place = np.arange(length)[:, None]
    other = (place // chunk - 1) * chunk + np.arange(2 * chunk)
    there = (other >= 0) & (other < length)
    key = order[np.clip(other, 0, length - 1)]
    return np.where(there, np.asarray(weights, np.float32)[order[:, None], key], np.float32(0))
