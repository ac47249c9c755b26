"""Graph attention beside PyTorch Geometric, on a graph of the size of Cora, one thread, float32.

The graph has 2,708 nodes and 5,278 random edges, each node 18 of 1,433 words. The peer's layers
hold the same parameters.
layer_vs_pyg_ratio, layer_v2_vs_pyg_ratio: time of the peer's layer over ours, 64 -> 8 heads of 8,
    forward and backward, dense inputs for both.
step_vs_pyg_ratio: the same of a whole training step of two layers with dropout and Adam. The words
    are sparse in ours and dense in the peer's, which takes nothing else.
forward_ms: our two layers without gradients.
max_difference: the largest difference between the outputs of the layers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.measure import (
    Bound,
    Figure,
    Report,
    both_ways,
    median,
    ratio,
    threads,
    time_in_turns,
)
from benchmarks.sizes import size
from models.data.windows import move_batch
from models.graph_attention.layer import Edges, GraphAttention, Words, join_neighbours
from models.graph_attention.model import CitationNetwork, Config

NODES, PAIRS, WORDS = size((2708, 5278, 1433), (60, 100, 40))
CLASSES, EACH = 7, 18  # words of a node


def build_inputs() -> tuple[Words, Tensor, Edges]:
    """Return words as a sparse and as a dense matrix, and edges, from a fixed seed."""
    generator = np.random.default_rng(1)
    chosen = np.sort(generator.random((NODES, WORDS)).argsort(1)[:, :EACH], 1)
    words = Words.build(np.arange(NODES + 1) * EACH, chosen.ravel(), WORDS)
    dense = torch.zeros(NODES, WORDS)
    dense[np.arange(NODES).repeat(EACH), chosen.ravel()] = words.share
    return words, dense, join_neighbours(generator.integers(0, NODES, (PAIRS, 2)), NODES)


def copy_layer(kind: str, layer: GraphAttention) -> Any:
    """Return the peer's layer with the parameters of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from torch_geometric.nn import (  # type: ignore[import-untyped]
            GATConv,
            GATv2Conv,
        )
    sizes = len(layer.key), layer.d_head
    how = {"heads": layer.heads, "concat": layer.concat, "add_self_loops": False}
    assert layer.vector is not None
    with torch.no_grad():
        if kind == "gat":
            peer = GATConv(*sizes, **how)
            peer.lin.weight.copy_(layer.key.T)
            peer.att_dst[0].copy_(layer.vector[0])
            peer.att_src[0].copy_(layer.vector[1])
            return peer
        assert layer.query is not None
        peer = GATv2Conv(*sizes, **how)
        peer.lin_l.weight.copy_(layer.key.T)
        peer.lin_r.weight.copy_(layer.query.T)
        peer.att[0].copy_(layer.vector[0])
        peer.lin_l.bias.zero_()
        peer.lin_r.bias.zero_()
    return peer


class Peer(nn.Module):
    """The two layers of `CitationNetwork`, of the peer's parts."""

    def __init__(self, model: CitationNetwork) -> None:
        super().__init__()
        self.layers = nn.ModuleList(copy_layer("gat", layer) for layer in model.layers)  # type: ignore[arg-type]
        for layer in self.layers:
            layer.dropout = model.config.dropout  # type: ignore[assignment]

    def forward(self, x: Tensor, index: Tensor) -> Tensor:
        """Return logits (node, class)."""
        first, second = self.layers
        hidden = F.elu(first(F.dropout(x, 0.6, self.training), index))
        return second(F.dropout(hidden, 0.6, self.training), index)  # type: ignore[no-any-return]


def make_step(model: nn.Module, run: Callable[[], Tensor], targets: Tensor) -> Callable[[], object]:
    """Return a function that takes one training step."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005, weight_decay=5e-4, fused=True)

    def step() -> None:
        F.cross_entropy(run(), targets).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad()

    return step


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    torch.manual_seed(1)
    with threads(1):
        return _measure(device)


def _measure(device: torch.device) -> Report:
    words, dense, edges = build_inputs()
    words, edges = move_batch(words, device), move_batch(edges, device)
    dense, index = dense.to(device), torch.stack((edges.key, edges.query))
    figures: dict[str, Figure] = {}
    worst = 0.0
    x = torch.randn(NODES, 64, device=device, requires_grad=True)
    for kind, name in (("gat", "layer"), ("gatv2", "layer_v2")):
        ours = GraphAttention(kind, 64, 8, 8).to(device)
        peer = copy_layer(kind, ours).to(device)
        worst = max(worst, float((ours(x, edges) - peer(x, index)).detach().abs().max()))
        sides = {
            "ours": both_ways(partial(ours, x, edges), [x, *ours.parameters()]),
            "pyg": both_ways(partial(peer, x, index), [x, *peer.parameters()]),
        }
        times = time_in_turns(sides, device, calls=7)
        figures |= {f"{name}_{side}_ms": median(times[side]) * 1e3 for side in sides}
        least = Bound(1.5 if kind == "gat" else 1.2, at_least=True)
        figures[f"{name}_vs_pyg_ratio"] = ratio(times, "pyg", "ours"), least
    model = CitationNetwork(Config("cora", "gat", WORDS, CLASSES, dropout=0.6)).to(device).train()
    other = Peer(model).to(device).train()
    targets = torch.arange(NODES, device=device) % CLASSES
    sides = {
        "ours": make_step(model, lambda: model(words, edges), targets),
        "pyg": make_step(other, lambda: other(dense, index), targets),
    }
    times = time_in_turns(sides, device, calls=5)
    figures |= {f"step_{side}_ms": median(times[side]) * 1e3 for side in sides}
    figures["step_vs_pyg_ratio"] = ratio(times, "pyg", "ours"), Bound(3.0, at_least=True)
    model.eval()
    with torch.no_grad():
        times = time_in_turns({"ours": lambda: model(words, edges)}, device, calls=9)
    figures["forward_ms"] = median(times["ours"]) * 1e3, Bound(10)
    figures["max_difference"] = worst, Bound(1e-5)
    return Report.of(figures, {"pyg": "GATConv and GATv2Conv of PyTorch Geometric"})
