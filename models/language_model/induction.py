"""Heads that copy: a sequence of random symbols that is said again, and who finds its place in it (Olsson et al., 2022).

A head of the first layer looks at the symbol before; a head of the second can then look for the place behind an earlier occurrence of the
symbol that is being read. One layer cannot: what stands before a key is not written there yet.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.language_model.model import LanguageModel
from models.trace import Trace

SHORTEST, LONGEST = 8, 40  # symbols of a sequence before it is said again


def sequences(letters: int, count: int, length: int, generator: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(row, position) symbols, each row one sequence of different symbols again and again; (row,) how many symbols it has."""
    periods = generator.integers(SHORTEST, LONGEST + 1, size=count)
    rows = np.stack([np.resize(1 + generator.permutation(letters)[:period], length) for period in periods])
    return rows.astype(np.int64), periods


def copied(logits: Tensor, wanted: Tensor, periods: NDArray[np.int64]) -> float:
    """The share of symbols guessed right, of those that a reader of the past can know: from the second time on, its first symbol apart.

    logits: (row, position, symbol) of what comes after each position; wanted: (row, position).
    """
    known = torch.arange(wanted.shape[1]) >= torch.from_numpy(periods)[:, None]
    return float((logits.argmax(-1).cpu() == wanted.cpu())[known].float().mean())


def scores(weights: NDArray[np.floating], periods: NDArray[np.int64]) -> NDArray[np.float64]:
    """(head,) how much each looks at what came behind the earlier occurrence of the symbol that it reads; its mean over the second time.

    weights: (row, head, query, key).
    """
    rows = []
    for row, period in enumerate(periods):
        queries = np.arange(period, min(2 * period, weights.shape[2]))
        rows.append(weights[row][:, queries, queries - period + 1].mean(1))
    return np.asarray(np.mean(rows, 0), np.float64)


@torch.no_grad()
def measured(model: LanguageModel, count: int = 200, seed: int = 7) -> dict[str, Any]:
    """Copying of sequences that nobody has learned: `value`, the share that is right; `scores`, (layer, head); `head`, the layer and head
    that copies most, counted from 0; `silenced`: what is right without it."""
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
        "value": round(copied(logits, wanted, periods), 4),
        "n": int(sum(max(0, window - period) for period in periods)),
        "scores": found.round(4).tolist(),
        "head": [layer, head],
        "silenced": round(copied(model(before, gains=gains), wanted, periods), 4),
    }
