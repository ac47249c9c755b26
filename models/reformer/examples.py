"""The stored first example, and the hashing of its heads."""

from __future__ import annotations

from pathlib import Path

from models.checkpoints import stored_results
from models.checkpoints.device import choose_device
from models.checkpoints.pretrained import store_first
from models.reformer.records import EXAMPLES, Explanation, Hashings


def examples() -> Path:
    """Store the first example's explanation with its time, without that of loading the models, and
    every round of its first model's heads; return the first file."""
    from models.reformer.explain import explain, hash_round

    path = store_first("reformer", explain, EXAMPLES[0])
    seen, _, _ = stored_results.load(path, Explanation)
    read = seen.read[0]
    layers, heads, rounds, _ = read.buckets.shape
    if rounds:
        found = tuple(
            tuple(
                tuple(hash_round(seen, read.variant, layer, head, turn) for turn in range(rounds))
                for head in range(heads)
            )
            for layer in range(layers)
        )
        stored_results.save(
            path.with_name("hashings.npz"), Hashings(found), 1, choose_device().type
        )
    return path
