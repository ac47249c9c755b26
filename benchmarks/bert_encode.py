"""The reading speed of the pretrained encoder, beside transformers' own class with the same
weights, and the difference of their results.

Sentences of PIECES pieces in float32. Above 1 ours is faster: batch 1, and batch16_… sixteen
sentences at a time.
max_difference: the largest between the two last layers.
weights_difference: the largest between all weights of attention. Both are measured on a text of
    real pieces.
"""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.measure import Bound, Report, median, ratio, time_in_turns
from models.bert.minilm import VARIANT
from models.bert.pretrained import load, pieces_of
from models.bert.reference import TEXT, peer
from models.explaining.trace import Trace

PIECES = 24
BATCH = 16


@torch.no_grad()
def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    torch.manual_seed(1)
    ours = load(VARIANT).model.to(device)
    theirs, watched = peer(ours).to(device), peer(ours, "eager").to(device)
    real, trace = (
        torch.from_numpy(pieces_of(VARIANT).encode(TEXT).ids)[None].to(device),
        Trace("*/self/weights"),
    )
    seen = watched(real, output_attentions=True)
    behind = ours(real, trace=trace)
    weights = np.stack([one.cpu().numpy() for one in seen.attentions])
    rows = {"": torch.randint(1000, 30_000, (1, PIECES), device=device)}
    rows[f"batch{BATCH}_"] = torch.randint(1000, 30_000, (BATCH, PIECES), device=device)
    sides = {f"{name}ours": lambda ids=ids: ours(ids) for name, ids in rows.items()}
    sides |= {f"{name}automodel": lambda ids=ids: theirs(ids) for name, ids in rows.items()}
    seconds = time_in_turns(sides, device, calls=10)
    figures = {f"{name}_ms": 1000 * median(seconds[name]) for name in sides}
    figures |= {
        f"{name}ours_vs_automodel_ratio": ratio(seconds, f"{name}automodel", f"{name}ours")
        for name in rows
    }
    figures["max_difference"] = float((seen.last_hidden_state - behind).abs().max())
    figures["weights_difference"] = float(np.abs(weights - trace.stack("*/self/weights")).max())
    bounds = {
        "ours_vs_automodel_ratio": Bound(0.9, at_least=True),
        "max_difference": Bound(1e-5),
        "weights_difference": Bound(1e-5),
    }
    return Report(figures, bounds)
