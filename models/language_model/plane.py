"""The queries and keys of the model of characters over the stored lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from models.arrays import frozen
from models.errors import InputError
from models.language_model.pretrained import load
from models.language_model.records import KINDS, LINES, VARIANTS
from models.plane import Vectors, drawn_by
from models.trace import Trace


@torch.no_grad()
def vectors(lines: Sequence[str]) -> list[Mapping[str, Vectors] | InputError]:
    """What the heads asked and were asked in each line."""
    model = load(VARIANTS[0]).model
    found: list[Mapping[str, Vectors] | InputError] = []
    for line in lines:
        trace = Trace("*/self/queries", "*/self/keys")
        read = torch.from_numpy(model.alphabet.encode(line).astype("int64")).to(model.readout.weight.device)
        model(torch.cat((read.new_full((1,), model.start), read[:-1]))[None], trace=trace)
        query, key = (frozen(trace.stack(f"*/self/{name}")[:, 0]) for name in ("queries", "keys"))
        found.append({KINDS[0]: Vectors(line, query, key, tuple(line), ("⏎", *line[:-1]), causal=True)})
    return found


planes = drawn_by(vectors, {KINDS[0]: LINES})
