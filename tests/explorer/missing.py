"""What hashing misses of a head with queries of a fixed seed, as
`models.reformer.explain.measure_missed` works it out."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from models.reformer.explain import measure_missed
from models.reformer.records import Explanation
from tests.explorer import hashed

KINDS = (2, 4, 8, 16, 32, 64)
TOKENS = hashed.twice("to be, or not to be")


@cache
def head(
    layer: int = 0, number: int = 0, chosen: int = 8, tokens: tuple[str, ...] = TOKENS
) -> dict[str, Any]:
    """Everything that `missed.boards` wants of a head that was hashed in 4 rounds with 8
    buckets."""
    read = hashed.read("lsh_4", tokens, None, kinds=8, chunk=6, layers=2)
    found = measure_missed(
        Explanation(tokens, np.zeros(0, np.int16), (read,), 1), "lsh_4", layer, number, chosen
    )
    told = {
        name: getattr(found, name)
        for name in ("log_full", "first", "table", "pairs", "kinds", "chosen")
    }
    return {**told, "ran": (4, 8), "trained": 4, "chunk": 6, "seed": 1, "tokens": tokens}
