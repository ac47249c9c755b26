"""Heads that copy: repeated sequences of random symbols, and the heads that find their place in
them (Olsson et al., 2022).

A head of the first layer attends to the previous symbol; a head of the second layer can then find
the position after an earlier occurrence of the current symbol. One layer cannot, because a key does
not yet hold the symbol before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.explaining.trace import Trace
from models.language_model.model import LanguageModel

SHORTEST, LONGEST = 8, 40  # symbols of a sequence before it repeats


def sequences(
    letters: int, count: int, length: int, generator: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw sequences of different symbols, each repeated over its row, (row, position), and their
    lengths, (row,)."""
    periods = generator.integers(SHORTEST, LONGEST + 1, size=count)
    rows = np.stack(
        [np.resize(1 + generator.permutation(letters)[:period], length) for period in periods]
    )
    return rows.astype(np.int64), periods


def measure_copying(logits: Tensor, wanted: Tensor, periods: NDArray[np.int64]) -> float:
    """Return the share of correct predictions among the symbols that follow from the past: from the
    second repetition on, without its first symbol.

    logits: of the next symbol, (row, position, symbol). wanted: the true symbols, (row, position).
    """
    known = torch.arange(wanted.shape[1]) >= torch.from_numpy(periods)[:, None]
    return float((logits.argmax(-1).cpu() == wanted.cpu())[known].float().mean())


def scores(weights: NDArray[np.floating], periods: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each head's mean weight, over the second repetition, on the position after the earlier
    occurrence of the current symbol, (head,).

    weights: (row, head, query, key).
    """
    rows = []
    for row, period in enumerate(periods):
        queries = np.arange(period, min(2 * period, weights.shape[2]))
        rows.append(weights[row][:, queries, queries - period + 1].mean(1))
    return np.asarray(np.mean(rows, 0), np.float64)


@torch.no_grad()
def measure_induction(model: LanguageModel, count: int = 200, seed: int = 7) -> dict[str, Any]:
    """Measure how well new random sequences are copied.

    `value`: the share of correct predictions. `scores`: (layer, head). `head`: the layer and head
    that copies most, from 0. `silenced`: the share of correct predictions without it.
    """
    generator = np.random.default_rng(seed)
    window = model.config.window
    rows, periods = sequences(len(model.config.letters), count, window + 1, generator)
    before, wanted = torch.from_numpy(rows[:, :-1]), torch.from_numpy(rows[:, 1:])
    trace = Trace("*/self/weights", budget=1 << 30)
    logits = model(before, trace=trace)
    found = np.stack([scores(weights, periods) for weights in trace.stack("*/self/weights")])
    layer, head = (int(one) for one in np.unravel_index(found.argmax(), found.shape))
    gains = torch.ones(model.config.n_layers, count, model.config.n_heads)
    gains[layer, :, head] = 0
    return {
        "metric": "share copied",
        "value": round(measure_copying(logits, wanted, periods), 4),
        "n": int(sum(max(0, window - period) for period in periods)),
        "scores": found.round(4).tolist(),
        "head": [layer, head],
        "silenced": round(measure_copying(model(before, gains=gains), wanted, periods), 4),
    }
