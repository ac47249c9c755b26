"""The queries and keys of the model of characters over the stored lines."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from models.checkpoints.device import answer_without_gradients
from models.explaining.query_key_plane import Vectors, collect_vectors, make_plane_function
from models.explaining.trace import Trace
from models.language_model.pretrained import load
from models.language_model.records import KINDS, LINES, VARIANTS


@answer_without_gradients
def vectors(line: str) -> Mapping[str, Vectors]:
    """Return the queries and keys of all heads in a line."""
    model, trace = load(VARIANTS[0]).model, Trace("*/self/queries", "*/self/keys")
    read = torch.from_numpy(model.alphabet.encode(line).astype("int64")).to(
        model.readout.weight.device
    )
    model(torch.cat((read.new_full((1,), model.start), read[:-1]))[None], trace=trace)
    return {KINDS[0]: collect_vectors(trace, "*/self", line, line, ("⏎", *line[:-1]), causal=True)}


planes = make_plane_function(vectors, {KINDS[0]: LINES})
