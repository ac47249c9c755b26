"""The queries and keys of the model of characters over the stored lines."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from models.device import answered
from models.language_model.pretrained import load
from models.language_model.records import KINDS, LINES, VARIANTS
from models.plane import Vectors, drawn_by, watched
from models.trace import Trace


@answered
def vectors(line: str) -> Mapping[str, Vectors]:
    """What the heads asked and were asked in a line."""
    model, trace = load(VARIANTS[0]).model, Trace("*/self/queries", "*/self/keys")
    read = torch.from_numpy(model.alphabet.encode(line).astype("int64")).to(model.readout.weight.device)
    model(torch.cat((read.new_full((1,), model.start), read[:-1]))[None], trace=trace)
    return {KINDS[0]: watched(trace, "*/self", line, line, ("⏎", *line[:-1]), causal=True)}


planes = drawn_by(vectors, {KINDS[0]: LINES})
