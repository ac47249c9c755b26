"""The stored first example."""

from __future__ import annotations

import time
from pathlib import Path

from models import checkpoint, stored
from models.device import device


def examples() -> Path:
    """Store the first example's explanation, with the time it took once the models were there; returns the file."""
    from models.reformer.explain import EXAMPLES, Explanation, explain

    explain(EXAMPLES[:1])
    begin = time.perf_counter()
    (seen,) = explain(EXAMPLES[:1])
    milliseconds = (time.perf_counter() - begin) * 1000
    assert isinstance(seen, Explanation)
    path = checkpoint.ASSETS / "reformer" / "first.npz"
    stored.save(path, seen, max(1, round(milliseconds)), device().type)
    return path
