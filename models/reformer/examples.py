"""The stored first example, and how its heads hash it."""

from __future__ import annotations

import time
from pathlib import Path

from models import checkpoint, stored
from models.device import device
from models.reformer.records import Hashings


def examples() -> Path:
    """Store the first example's explanation, with the time it took once the models were there, and every round of its first model's
    heads beside it; returns the first file."""
    from models.reformer.explain import EXAMPLES, Explanation, explain, hashing

    explain(EXAMPLES[:1])
    begin = time.perf_counter()
    (seen,) = explain(EXAMPLES[:1])
    milliseconds = (time.perf_counter() - begin) * 1000
    assert isinstance(seen, Explanation)
    path = checkpoint.ASSETS / "reformer" / "first.npz"
    stored.save(path, seen, max(1, round(milliseconds)), device().type)
    read = seen.read[0]
    layers, heads, rounds, _ = read.buckets.shape
    if rounds:
        found = tuple(
            tuple(tuple(hashing(seen, read.variant, layer, head, turn) for turn in range(rounds)) for head in range(heads))
            for layer in range(layers)
        )
        stored.save(path.with_name("hashings.npz"), Hashings(found), 1, device().type)
    return path
