"""One head with shared queries of a fixed seed, hashed with NumPy alone, for tests of what draws hashing."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUNDS = 16
KINDS = (2, 4, 8, 16, 32, 64)
WORD = "to be, or not to be"
TOKENS = ("0", *WORD, "0", *WORD[:-1])


def logs(query: NDArray[np.floating]) -> NDArray[np.float32]:
    """(query, key) log of the weights of everything before, 0 where a query may not look."""
    length = len(query)
    scores = query @ (query / np.linalg.norm(query, axis=1, keepdims=True)).T
    scores = np.where(np.tri(length, k=-1, dtype=bool), scores, -np.inf)
    scores[0, 0] = 0
    most = scores.max(1, keepdims=True)
    found = scores - most - np.log(np.exp(scores - most).sum(1, keepdims=True))
    return np.where(np.isfinite(found), found, 0).astype(np.float32)


def meetings(query: NDArray[np.floating], kinds: int, chunk: int, seed: int) -> NDArray[np.uint8]:
    """(query, key) the round from 1 on in which a pair first meets, 0 for never, for itself and for the future."""
    length, d_head = query.shape
    generator = np.random.default_rng((seed, kinds))
    first = np.zeros((length, length), np.uint8)
    rounds = [generator.normal(size=(d_head, kinds // 2)) for _ in range(ROUNDS)]
    for number in range(ROUNDS, 0, -1):
        rotated = query @ rounds[number - 1]
        buckets = np.concatenate((rotated, -rotated), 1).argmax(1)
        place = np.empty(length, int)
        place[np.argsort(buckets, kind="stable")] = np.arange(length)
        apart = (place // chunk)[:, None] - (place // chunk)[None]
        first[(apart == 0) | (apart == 1)] = number
    return np.tril(first, -1)


@cache
def head(layer: int = 0, number: int = 0, chosen: int = 8, chunk: int = 6, tokens: tuple[str, ...] = TOKENS) -> dict[str, Any]:
    """Everything that `missed.boards` wants of a head; letters have vectors of their own, so that like looks at like."""
    generator = np.random.default_rng((7, layer, number))
    letters = {letter: generator.normal(size=16) * 1.6 for letter in sorted(set(tokens))}
    query = np.stack([letters[token] for token in tokens]) + 0.5 * generator.normal(size=(len(tokens), 16))
    log_full = logs(query)
    below = np.tri(len(tokens), k=-1, dtype=bool)
    weights = np.where(below, np.exp(log_full), 0)
    table, pairs = np.zeros((2, ROUNDS, len(KINDS)), np.float32)
    for column, kinds in enumerate(KINDS):
        first = meetings(query, kinds, chunk, layer)
        for rounds in range(1, ROUNDS + 1):
            met = (first > 0) & (first <= rounds)
            table[rounds - 1, column] = 100 * np.where(met, 0, weights)[1:].sum(1).mean()
            pairs[rounds - 1, column] = 100 * met.sum() / below.sum()
    return {
        "log_full": log_full,
        "first": meetings(query, chosen, chunk, layer),
        "table": table,
        "pairs": pairs,
        "kinds": KINDS,
        "chosen": chosen,
        "ran": (4, 8),
        "trained": 4,
        "chunk": chunk,
        "seed": 1,
        "tokens": tokens,
    }
