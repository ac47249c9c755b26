"""The BERT class of transformers with an encoder's weights, for comparison."""

from __future__ import annotations

from typing import Any

import torch
from transformers import BertConfig, BertForMaskedLM, BertModel

from models.bert.minilm import rename_parameters
from models.bert.model import EPSILON, Encoder
from models.bert.pieces import Pieces

TEXT = "The old man gave his dog a bone after dinner, and both of them fell asleep beside the fire."


def peer(ours: Encoder, attention: str = "sdpa") -> Any:
    """Return the class of transformers with an encoder's weights."""
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
    theirs: Any = (
        BertForMaskedLM(how) if config.predicts else BertModel(how, add_pooling_layer=False)
    )
    state, kinds = ours.state_dict(), ("query", "key", "value")
    copied = {}
    for name, tensor in theirs.state_dict().items():
        if ".attention.self." in name:
            layer, kind, what = (
                name.split("layer.")[1].split(".")[0],
                name.split(".")[-2],
                name.split(".")[-1],
            )
            copied[name] = state[f"layers.{layer}.self_attention.project_in.{what}"].chunk(3)[
                kinds.index(kind)
            ]
        elif "cls.predictions.decoder" in name:
            copied[name] = state["words.weight" if name.endswith("weight") else "bias"]
        else:
            (own,) = rename_parameters({name: tensor})
            # A kind of segment that our encoder does not have.
            copied[name] = state.get(own, torch.zeros_like(tensor))
    theirs.load_state_dict(copied)
    return theirs.eval().requires_grad_(False)


@torch.no_grad()
def measure_max_difference(ours: Encoder, pieces: Pieces) -> float:
    """Return the largest difference on TEXT between the last layers of an encoder and of
    transformers' class."""
    ids = torch.from_numpy(pieces.encode(TEXT).ids)[None].to(ours.words.weight.device)
    theirs = peer(ours).to(ids.device)(ids).last_hidden_state
    return float((theirs - ours(ids)).abs().max())
