"""The detector of the lab on one scene, beside the DETR of transformers with as many layers, heads
and units.

scene_ms: one scene with all attention maps, as the page answers it, without loading the network.
vs_transformers_ratio: time of transformers' encoder and decoder layers over ours, on the same 144
    tokens and 12 queries, without attention maps. Backbones and readouts, which differ, are left
    out.
max_difference: the largest difference between the states of the queries of the two, with copied
    parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.measure import Bound, Figure, Report, median, ratio, time_in_turns
from benchmarks.sizes import size
from models.detection.explain import explain
from models.detection.model import Config, Detector, PlacedAttention
from models.detection.records import EXAMPLES

BATCH = size(8, 1)


def copy_attention(ours: PlacedAttention, theirs: Any) -> None:
    """Copy the parameters of an attention into that of transformers."""
    parts = zip(ours.project_in.weight.chunk(3), ours.project_in.bias.chunk(3), strict=True)
    for name, (weight, bias) in zip(("q_proj", "k_proj", "v_proj"), parts, strict=True):
        getattr(theirs, name).load_state_dict({"weight": weight, "bias": bias})
    theirs.o_proj.load_state_dict(ours.project_out.state_dict())


def copy_layer(ours: Any, theirs: Any) -> nn.Module:
    """Copy the parameters of a layer into one of transformers, and return that one."""
    copy_attention(ours.self_attention, theirs.self_attn)
    names = ["self_attn_layer_norm", "final_layer_norm"]
    if hasattr(ours, "cross_attention"):
        copy_attention(ours.cross_attention, theirs.encoder_attn)
        names.insert(1, "encoder_attn_layer_norm")
    for norm, name in zip(ours.norms, names, strict=True):
        getattr(theirs, name).load_state_dict(norm.state_dict())
    theirs.mlp.fc1.load_state_dict(ours.feed_forward.inner.state_dict())
    theirs.mlp.fc2.load_state_dict(ours.feed_forward.outer.state_dict())
    return theirs.eval()  # type: ignore[no-any-return]


def make_sides(device: torch.device) -> dict[str, Callable[[], Tensor]]:
    """Return ours and theirs: the states of the queries of a batch of random tokens."""
    from transformers import DetrConfig
    from transformers.models.detr.modeling_detr import DetrDecoderLayer, DetrEncoderLayer

    torch.manual_seed(1)
    config = Config()
    model = Detector(config).to(device).eval()
    sizes: dict[str, int] = {"encoder_ffn_dim": config.d_ff, "decoder_ffn_dim": config.d_ff}
    heads = dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), config.n_heads)
    peer_config = DetrConfig(d_model=config.d_model, dropout=0, **sizes, **heads)
    peer_config._attn_implementation = "sdpa"
    encoder = [
        copy_layer(layer, DetrEncoderLayer(peer_config).to(device)) for layer in model.encoder
    ]
    decoder = [
        copy_layer(layer, DetrDecoderLayer(peer_config).to(device)) for layer in model.decoder
    ]
    tokens = torch.randn(BATCH, len(model.place), config.d_model, device=device)
    place = model.place[None].expand(BATCH, -1, -1)
    query_place = model.queries.weight[None].expand(BATCH, -1, -1)

    def run_ours() -> Tensor:
        memory, x = tokens, torch.zeros_like(query_place)
        for layer in model.encoder:
            memory = layer(memory, place)
        for layer in model.decoder:
            x = layer(x, query_place, memory, place)
        return x

    def run_theirs() -> Tensor:
        memory, x = tokens, torch.zeros_like(query_place)
        for layer in encoder:
            memory = take_states(layer(memory, None, spatial_position_embeddings=place))
        for layer in decoder:
            x = take_states(
                layer(
                    x,
                    spatial_position_embeddings=place,
                    object_queries_position_embeddings=query_place,
                    encoder_hidden_states=memory,
                )
            )
        return x

    return {"ours": run_ours, "theirs": run_theirs}


def take_states(output: Any) -> Tensor:
    """Return the states of a layer of transformers, which may come in a tuple."""
    states: Tensor = output[0] if isinstance(output, tuple) else output
    return states


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    with torch.no_grad():
        both = make_sides(device)
        difference = float((both["ours"]() - both["theirs"]()).abs().max())
        times = time_in_turns(both, device, calls=2)
        scene = time_in_turns({"scene": lambda: explain([EXAMPLES[0]])}, device)
    figures: dict[str, Figure] = {
        "scene_ms": (1000 * median(scene["scene"]), Bound(40)),
        "vs_transformers_ratio": (ratio(times, "theirs", "ours"), Bound(1, at_least=True)),
        "max_difference": (difference, Bound(1e-4)),
    }
    return Report.of(figures, {"theirs": "DetrEncoderLayer and DetrDecoderLayer of transformers"})
