"""The stored first example, and how its heads hash it."""

from __future__ import annotations

from pathlib import Path

from models import stored
from models.device import device
from models.pretrained import store_first
from models.reformer.records import EXAMPLES, Explanation, Hashings


def examples() -> Path:
    """Store the first example's explanation, with the time it took once the models were there, and every round of its first model's
    heads beside it; returns the first file."""
    from models.reformer.explain import explain, hashing

    path = store_first("reformer", explain, EXAMPLES[0])
    seen, _, _ = stored.load(path, Explanation)
    read = seen.read[0]
    layers, heads, rounds, _ = read.buckets.shape
    if rounds:
        found = tuple(
            tuple(tuple(hashing(seen, read.variant, layer, head, turn) for turn in range(rounds)) for head in range(heads))
            for layer in range(layers)
        )
        stored.save(path.with_name("hashings.npz"), Hashings(found), 1, device().type)
    return path
