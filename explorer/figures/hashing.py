"""Attention by hashing as its picture draws it: buckets of every head and round, and one head and round step by step, as JSON.

Shared queries are their own keys; h(x) = argmax[xR; −xR] is the bucket; positions are sorted by (bucket, position), cut into chunks, and a
query attends to its own chunk and the one before, its own past only. What follows from buckets alone (order, chunks, who meets whom) is
worked out in the browser. Rotated vectors and weights of a head and round that was not looked at yet are asked for: the event ``look``
carries {query, model, head ("2.3", from 1), round (from 1; 0: all rounds together)}, and brings `looked`, `together` or `unseen`.

The word task reads 0 w 0 w: position i of the second word is to say the letter that stands at i − |w|.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from explorer.packing import Packed, pack, raw

Array = NDArray[np.floating[Any]]
Whole = NDArray[np.integer[Any]]
Text = Mapping[str, str]
Value = dict[str, object]

KIND = "hashing"  # of an answer that came through the companion
ALL = 0  # in place of a round: all rounds together
NEAR = 0.02  # weights so close are as telling as the largest
SPREAD = 16  # positions of a text that are watched for a telling one, evenly spread


class Read(Protocol):
    """What one model made of a sequence: `models.reformer.records.Read` and whatever has the same parts."""

    @property
    def variant(self) -> str:
        """Its name in the address."""

    @property
    def buckets(self) -> NDArray[np.int16]:
        """(layer, head, round, position); no rounds where it does not hash."""

    @property
    def chunk(self) -> int:
        """Places of a chunk."""

    @property
    def kinds(self) -> int:
        """Number of buckets."""


class Hashing(Protocol):
    """One round of one head: `models.reformer.records.Hashing` and whatever has the same parts."""

    @property
    def rotated(self) -> NDArray[np.float32]:
        """(position, half) q_i R / |q_i|."""

    @property
    def buckets(self) -> NDArray[np.int16]:
        """(position,)."""

    @property
    def order(self) -> NDArray[np.int16]:
        """(place,) positions in order of (bucket, position)."""

    @property
    def chunk(self) -> int:
        """Places of a chunk."""

    @property
    def weights(self) -> NDArray[np.float16]:
        """(query, key) of this round alone."""


Look = Callable[[int, int, int], Hashing]  # (layer, head, round), from 0


def value(
    *,
    tokens: Sequence[str],
    wanted: Whole,
    read: Sequence[Read],
    names: Mapping[str, Text],
    query: str,
    state: str,
    pick: Mapping[str, object],
    word: int | None = None,
    look: Mapping[str, object] | None = None,
) -> Value:
    """A finished run.

    tokens: what was read, as text for each position. wanted: (letter,) positions whose next token is wanted. read: each model's buckets.
    names: of the models for readers, by variant. query: the run's permalink. state: "stored", "live" or "stale".
    pick: {model, head ("2.3", from 1), pos, round (from 1)}, what is shown on arrival, of `telling`.
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
    return {
        "state": state,
        "query": query,
        "tokens": list(tokens),
        "wanted": pack(np.asarray(wanted, np.int32)),
        "word": word,
        "models": [
            {
                "key": one.variant,
                "name": dict(names[one.variant]),
                "layers": one.buckets.shape[0],
                "heads": one.buckets.shape[1],
                "rounds": one.buckets.shape[2],
                "buckets": _bytes(one.buckets),
                "chunk": min(one.chunk, length),
                "kinds": one.kinds,
            }
            for one in read
        ],
        "pick": dict(pick),
        "looked": None if look is None else dict(look),
    }


def looked(*, query: str, model: str, layer: int, head: int, turn: int, seen: Hashing) -> Value:
    """One head and round, what the event `look` asks for; layer, head and turn from 0.

    Weights are sent by the place of the query and by what it may see: (place, slot), slot j being place (c − 1) · chunk + j for a query of
    chunk c. A slot before the first place, or behind the last, is 0.
    """
    chunk = min(seen.chunk, len(seen.order))
    return {
        **_address(query, model, layer, head, turn + 1),
        "rotated": pack(np.asarray(seen.rotated, np.float32), unit=False),
        "chunk": chunk,
        "weights": pack(slots(seen.weights, seen.order, chunk)),
        "error": None,
    }


def together(*, query: str, model: str, layer: int, head: int, weights: Array) -> Value:
    """All rounds of one head: what `look` asks for with round 0. weights: (query, key) of all that any round sees."""
    return {**_address(query, model, layer, head, ALL), "weights": pack(np.asarray(weights, np.float32)), "error": None}


def unseen(*, query: str, model: str, layer: int, head: int, turn: int, error: Text) -> Value:
    """Why what was asked for cannot be had; turn from 0, −1 for all rounds."""
    return {**_address(query, model, layer, head, turn + 1), "error": dict(error)}


def slots(weights: Array, order: Whole, chunk: int) -> NDArray[np.float32]:
    """weights (query, key) of a round -> (place, slot), as `looked` sends them. order: (place,)."""
    length = len(order)
    place = np.arange(length)[:, None]
    other = (place // chunk - 1) * chunk + np.arange(2 * chunk)
    there = (other >= 0) & (other < length)
    key = order[np.clip(other, 0, length - 1)]
    return np.where(there, np.asarray(weights, np.float32)[order[:, None], key], np.float32(0))


def telling(read: Sequence[Read], look: Callable[[str], Look], word: int | None) -> dict[str, object]:
    """What is shown on arrival: {model, head, round, pos}, head and round from 1.

    Of the first model that hashes, the head, round and position where the second word finds the letter that it is to say with the largest
    weight; of those as good, the earliest round and the middle of the word. Of a text (word None), in the first round, the position that
    looks hardest far back. look: of a variant, one head and round.
    """
    model = next((one for one in read if one.buckets.shape[2]), None)
    if model is None:
        first = read[0].variant if read else None
        return {"model": first, "head": "1.1", "round": 1, "pos": max(0, read[0].buckets.shape[3] - 1) if read else 0}
    layers, heads, rounds, length = model.buckets.shape
    one, found = look(model.variant), []
    for layer in range(layers):
        for head in range(heads):
            for turn in range(rounds if word is not None else 1):
                weights = np.asarray(one(layer, head, turn).weights, np.float32)
                positions, telling_weight = _copies(weights, word) if word is not None else _far(weights)
                found += [(float(w), turn, int(at), layer, head) for at, w in zip(positions, telling_weight, strict=True)]
    most = max(each[0] for each in found)
    middle = length - 1 - (word or length // 2) // 2
    _, turn, at, layer, head = min((each for each in found if each[0] >= most - NEAR), key=lambda each: (each[1], abs(each[2] - middle)))
    return {"model": model.variant, "head": f"{layer + 1}.{head + 1}", "round": turn + 1, "pos": at}


def _copies(weights: NDArray[np.float32], word: int) -> tuple[Whole, NDArray[np.float32]]:
    """Positions of the second word, without the 0 before it where there is more, and the weight of the letter that each is to say."""
    positions = np.arange(word + 2 if word > 1 else word + 1, 2 * word + 1)
    return positions, weights[positions, positions - word]


def _far(weights: NDArray[np.float32]) -> tuple[Whole, NDArray[np.float32]]:
    """Positions of the second half, and how hard each looks at one key, more the farther back it stands."""
    length = len(weights)
    positions = np.unique(np.linspace(length // 2, length - 1, min(SPREAD, length)).round().astype(np.int64))
    keys = weights[positions].argmax(1)
    back = np.maximum(positions - keys, 0) / max(1, length)
    return positions, weights[positions, keys] * np.sqrt(back).astype(np.float32)


def _address(query: str, model: str, layer: int, head: int, turn: int) -> Value:
    return {"kind": KIND, "query": query, "model": model, "head": f"{layer + 1}.{head + 1}", "round": turn}


def _bytes(buckets: NDArray[np.int16]) -> Packed:
    """Numbers of buckets, 0 … 255, in a byte each."""
    return raw(buckets.astype("u1"))
