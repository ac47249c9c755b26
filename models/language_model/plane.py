"""The queries and keys of a head of the model of characters over the stored lines."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from models.arrays import frozen
from models.errors import check_heads
from models.language_model.pretrained import load
from models.language_model.records import KINDS, LINES, VARIANTS
from models.plane import Watched, drawn_by
from models.trace import Trace


@torch.no_grad()
def q_k(kind: str, layer: int, head: int) -> Sequence[Watched]:
    """What a head asked and was asked in each line. InputError for a head that there is not."""
    model = load(VARIANTS[0]).model
    check_heads([(kind, layer, head)], {KINDS[0]: (model.config.n_layers, model.config.n_heads)})
    found = []
    for line in LINES:
        trace, looked = Trace(f"{layer}/self/queries", f"{layer}/self/keys"), ("⏎", *line[:-1])
        read = torch.from_numpy(model.alphabet.encode(line).astype("int64")).to(model.readout.weight.device)
        model(torch.cat((read.new_full((1,), model.start), read[:-1]))[None], trace=trace)
        query, key = (frozen(trace.stack(f"{layer}/self/{name}")[0, 0, head]) for name in ("queries", "keys"))
        found.append(Watched(query, key, tuple(line), looked, causal=True))
    return found


planes = drawn_by(q_k)
