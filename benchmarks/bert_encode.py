"""How fast the pretrained encoder reads, beside transformers' own class with the same weights, and whether both say the same.

Sentences of PIECES pieces in float32. Above 1 ours is faster: batch 1, and batch16_… sixteen sentences at a time. max_difference: the
largest between the two last layers, and weights_difference between all weights of attention, on a text of real pieces.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from transformers import BertConfig, BertForMaskedLM, BertModel

from benchmarks.measure import Bound, Report, interleaved, median, ratio
from models.bert.minilm import VARIANT, renamed
from models.bert.model import EPSILON, Encoder
from models.bert.pretrained import load, pieces_of
from models.trace import Trace

PIECES = 24
BATCH = 16
TEXT = "The old man gave his dog a bone after dinner, and both of them fell asleep beside the fire."


def peer(ours: Encoder, attention: str = "sdpa") -> Any:
    """transformers' class with the weights of one of ours."""
    config = ours.config
    how = BertConfig(
        vocab_size=config.vocabulary,
        hidden_size=config.d_model,
        intermediate_size=config.d_ff,
        num_attention_heads=config.n_heads,
        num_hidden_layers=config.n_layers,
        max_position_embeddings=config.max_positions,
        type_vocab_size=max(1, config.types),
        layer_norm_eps=EPSILON,
    )
    how._attn_implementation = attention
    theirs: Any = BertForMaskedLM(how) if config.predicts else BertModel(how, add_pooling_layer=False)
    state, kinds = ours.state_dict(), ("query", "key", "value")
    copied = {}
    for name, tensor in theirs.state_dict().items():
        if ".attention.self." in name:
            layer, kind, what = name.split("layer.")[1].split(".")[0], name.split(".")[-2], name.split(".")[-1]
            copied[name] = state[f"layers.{layer}.self_attention.project_in.{what}"].chunk(3)[kinds.index(kind)]
        elif "cls.predictions.decoder" in name:
            copied[name] = state["words.weight" if name.endswith("weight") else "bias"]
        else:
            (own,) = renamed({name: tensor})
            copied[name] = state.get(own, torch.zeros_like(tensor))  # a kind of segment that ours does not have
    theirs.load_state_dict(copied)
    return theirs.eval().requires_grad_(False)


@torch.no_grad()
def measure(device: torch.device) -> Report:
    """All figures of this benchmark."""
    torch.manual_seed(1)
    ours = load(VARIANT).model.to(device)
    theirs, watched = peer(ours).to(device), peer(ours, "eager").to(device)
    real, trace = torch.from_numpy(pieces_of(VARIANT).encode(TEXT).ids)[None].to(device), Trace("*/self/weights")
    seen = watched(real, output_attentions=True)
    behind = ours(real, trace=trace)
    weights = np.stack([one.cpu().numpy() for one in seen.attentions])
    rows = {"": torch.randint(1000, 30_000, (1, PIECES), device=device)}
    rows[f"batch{BATCH}_"] = torch.randint(1000, 30_000, (BATCH, PIECES), device=device)
    sides = {f"{name}ours": lambda ids=ids: ours(ids) for name, ids in rows.items()}
    sides |= {f"{name}automodel": lambda ids=ids: theirs(ids) for name, ids in rows.items()}
    seconds = interleaved(sides, device, calls=10)
    figures = {f"{name}_ms": 1000 * median(seconds[name]) for name in sides}
    figures |= {f"{name}ours_vs_automodel_ratio": ratio(seconds, f"{name}automodel", f"{name}ours") for name in rows}
    figures["max_difference"] = float((seen.last_hidden_state - behind).abs().max())
    figures["weights_difference"] = float(np.abs(weights - trace.stack("*/self/weights")).max())
    bounds = {"ours_vs_automodel_ratio": Bound(0.9, at_least=True), "max_difference": Bound(1e-5), "weights_difference": Bound(1e-5)}
    return Report(figures, bounds)
