"""A few reversible layers of a fixed seed, forward and back with NumPy alone, and results as
benchmarks save them, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from models.reformer.records import InChunks

LAYERS = 4
TOKENS = tuple("Alice was beginning")
REVERSIBLE: dict[str, Any] = {
    "name": "reversible",
    "device": "cpu",
    "threads": 2,
    "figures": {
        **{f"ordinary_{count}_mb": 62.5 * count for count in (4, 8, 16, 32)},
        **{f"checkpointed_{count}_mb": 60 + 4.25 * count for count in (4, 8, 16, 32)},
        **{f"reversible_{count}_mb": 80 + 0.25 * count for count in (4, 8, 16, 32)},
        "reversible_growth_ratio": 1.09,
        "feedforward_1_mb": 33.5,
        "reversible_ms": 812.5,
    },
}
LSH: dict[str, Any] = {
    "name": "lsh_attention",
    "device": "cpu",
    "threads": 1,
    "figures": {
        "ours_mb": 110.4,
        "dense_mb": 40.2,
        "reformer_pytorch_mb": 418.0,
        "transformers_mb": 359.0,
        "explicit_mb": 4311.7,
        "ours_1024_ms": 24.0,
    },
}


def there_and_back(dtype: type[np.floating]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """What goes into each layer and what comes back: (position, 2 · width) for each."""
    generator = np.random.default_rng(3)
    weights = [generator.normal(size=(2, 8, 8)) / 2 for _ in range(LAYERS)]
    x1 = x2 = generator.normal(size=(len(TOKENS), 8)).astype(dtype)
    inputs, again = [], []
    for f, g in weights:
        inputs.append(np.concatenate((x1, x2), 1))
        x1 = x1 + np.tanh(x2 @ f.astype(dtype))
        x2 = x2 + np.tanh(x1 @ g.astype(dtype))
    for f, g in reversed(weights):
        x2 = x2 - np.tanh(x1 @ g.astype(dtype))
        x1 = x1 - np.tanh(x2 @ f.astype(dtype))
        again.append(np.concatenate((x1, x2), 1))
    return inputs, again[::-1]


def parts() -> dict[str, Any]:
    """What `rewind.boards` wants beside the names."""
    counts = (1, 2, 4, 8, 16)
    (inputs, again), (exact, exactly) = there_and_back(np.float32), there_and_back(np.float64)
    return {
        "forward": np.stack([np.linalg.norm(one, axis=1) for one in inputs]),
        "again": np.stack([np.linalg.norm(one, axis=1) for one in again]),
        "single": np.array([np.abs(a - b).max() for a, b in zip(inputs, again, strict=True)]),
        "double": np.array([np.abs(a - b).max() for a, b in zip(exact, exactly, strict=True)]),
        "tokens": TOKENS,
        "hashed": True,
        "layer": 1,
        "parts": InChunks(
            counts,
            (0.0, 1.2e-7, 1.2e-7, 2.4e-7, 1.8e-7),
            tuple(2048 * -(-19 // count) for count in counts),
        ),
    }
