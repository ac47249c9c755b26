"""The networks over graphs: one that classifies the papers of Cora, one that looks up a dictionary,
and a Transformer whose attention knows the distance of two nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.explaining.trace import OFF, Trace
from models.graph_attention.layer import Edges, GraphAttention, Words

NEAR = 6  # the largest distance with a bias of its own
FAR = NEAR + 1  # stands for every larger distance, and for nodes that no path joins


@dataclass(frozen=True)
class Config:
    """The sizes of a network."""

    task: str  # "cora", "dictionary" or "distance"
    kind: str  # of attention: "gat", "gatv2", "dot"; "bias" or "blind" for the Transformer
    inputs: int  # words, attributes or colours
    outputs: int  # classes
    heads: int = 8
    d_head: int = 8
    n_layers: int = 2
    dropout: float = 0.0  # of features and of α


@dataclass(frozen=True)
class Change:
    """A change of the attention. Each entry belongs to a layer; layers that have none are as
    trained.

    sharpness: a factor on scores; with 0, α is uniform. gain: a factor on each head, (head,).
    bias: a factor on the bias by distance, for all layers.
    """

    sharpness: Sequence[float] = ()
    gain: Sequence[Tensor | None] = ()
    bias: float = 1.0

    def at(self, layer: int) -> tuple[float, Tensor | None]:
        """Return the sharpness and the gain of a layer."""
        sharpness = self.sharpness[layer] if layer < len(self.sharpness) else 1.0
        return sharpness, self.gain[layer] if layer < len(self.gain) else None


AS_TRAINED = Change()


class CitationNetwork(nn.Module):
    """Two layers of graph attention that classify papers by their words and citations
    (Veličković et al., 2018, §3.3).

    The first concatenates its heads and applies ELU; the second has one head. Dropout acts on the
    features and on α of both layers.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.layers = nn.ModuleList(
            (
                GraphAttention(config.kind, config.inputs, config.heads, config.d_head),
                GraphAttention(
                    config.kind, config.heads * config.d_head, 1, config.outputs, concat=False
                ),
            )
        )

    def forward(
        self, words: Words, edges: Edges, change: Change = AS_TRAINED, trace: Trace = OFF
    ) -> Tensor:
        """Return the logits of every paper, (node, class)."""
        first, second = self.layers
        hidden = F.elu(self.attend(first, 0, words, edges, change, trace))
        return self.attend(second, 1, self.drop(hidden), edges, change, trace)

    def attend(
        self,
        layer: Any,
        at: int,
        x: Tensor | Words,
        edges: Edges,
        change: Change,
        trace: Trace,
    ) -> Tensor:
        """Return the output of a layer, with dropout on its α and on sparse features."""
        sharpness, gain = change.at(at)
        share = self.drop(x.share) if isinstance(x, Words) else None
        keep = None
        if self.training:
            keep = self.drop(torch.ones(len(edges.key), layer.heads, device=edges.key.device))
        return layer(  # type: ignore[no-any-return]
            x,
            edges,
            share=share,
            keep=keep,
            sharpness=sharpness,
            gain=gain,
            trace=trace.within("layer", at),
        )

    def drop(self, values: Tensor) -> Tensor:
        """Return the values after dropout."""
        return F.dropout(values, self.config.dropout, self.training)


class LookupNetwork(nn.Module):
    """One layer of graph attention from queries to keys; a linear readout names the value that it
    brought (after Brody et al., 2022, §4.1).

    A key node has an attribute and a value; a query node has an attribute, and 0 as its value.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        width = config.heads * config.d_head
        self.attribute = nn.Embedding(config.inputs, width)
        self.value = nn.Embedding(config.outputs + 1, width)
        self.layers = nn.ModuleList(
            (GraphAttention(config.kind, width, config.heads, config.d_head),)
        )
        self.readout = nn.Linear(width, config.outputs)

    def forward(
        self,
        attributes: Tensor,
        values: Tensor,
        edges: Edges,
        change: Change = AS_TRAINED,
        trace: Trace = OFF,
    ) -> Tensor:
        """Return the logits of the value of every node, (node, value). attributes, values:
        (node,)."""
        x = self.attribute(attributes) + self.value(values)
        sharpness, gain = change.at(0)
        result = self.layers[0](
            x, edges, sharpness=sharpness, gain=gain, trace=trace.within("layer", 0)
        )
        return self.readout(F.elu(result))  # type: ignore[no-any-return]


class RelativeAttention(nn.Module):
    """softmax(q_i · k_j / √d_head + b_head[D_ij]) over all nodes j, D the length of the shortest
    path. On a path graph D = |i − j|: the relative position of Shaw et al. (2018)."""

    def __init__(self, d_model: int, heads: int, biased: bool) -> None:
        super().__init__()
        self.heads = heads
        self.project_in = nn.Linear(d_model, 3 * d_model)
        self.project_out = nn.Linear(d_model, d_model)
        self.bias = nn.Parameter(torch.zeros(heads, FAR + 1)) if biased else None

    def forward(
        self,
        x: Tensor,
        distances: Tensor,
        sharpness: float,
        gain: Tensor | None,
        bias: float,
        trace: Trace,
    ) -> Tensor:
        """Return (graph, node, d_model).

        x: (graph, node, d_model). distances: (graph, node, node), at most FAR. sharpness, gain,
        bias: as in `Change`. Taps `scores` and `weights`, (graph, head, node, node).
        """
        query, key, value = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in self.project_in(x).chunk(3, dim=-1)
        )
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        if self.bias is not None:
            scores = scores + bias * self.bias[:, distances].transpose(0, 1)
        scores = scores * sharpness
        weights = scores.softmax(-1)
        trace.tap("scores", "graph head query key", scores)
        trace.tap("weights", "graph head query key", weights)
        output = weights @ value
        output = output if gain is None else output * gain[:, None, None]
        return self.project_out(output.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]


class RelativeLayer(nn.Module):
    """Relative attention and a feed-forward network, each behind a norm and beside a residual
    connection."""

    def __init__(self, width: int, heads: int, biased: bool) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.attention = RelativeAttention(width, heads, biased)
        self.forward_network = nn.Sequential(
            nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width)
        )

    def forward(self, x: Tensor, *how: Any) -> Tensor:
        """Return (graph, node, d_model). how: as in `RelativeAttention.forward`."""
        x = x + self.attention(self.norms[0](x), *how)
        return x + self.forward_network(self.norms[1](x))  # type: ignore[no-any-return]


class DistanceTransformer(nn.Module):
    """A Transformer encoder over the nodes of a graph. Without a bias by distance it sees a set of
    colours and no edges."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        width = config.heads * config.d_head
        self.colour = nn.Embedding(config.inputs, width)
        self.layers = nn.ModuleList(
            RelativeLayer(width, config.heads, config.kind == "bias")
            for _ in range(config.n_layers)
        )
        self.norm = nn.LayerNorm(width)
        self.readout = nn.Linear(width, config.outputs)

    @property
    def bias(self) -> Tensor | None:
        """The learned bias by distance, (layer, head, distance), or None."""
        result = [layer.attention.bias for layer in self.layers]  # type: ignore[union-attr]
        return None if result[0] is None else torch.stack(result)  # type: ignore[arg-type]

    def forward(
        self,
        colours: Tensor,
        distances: Tensor,
        change: Change = AS_TRAINED,
        trace: Trace = OFF,
    ) -> Tensor:
        """Return logits (graph, node, colour). colours: (graph, node); distances: (graph, node,
        node), at most FAR."""
        x = self.colour(colours)
        for at, layer in enumerate(self.layers):
            inner = trace.within("layer", at)
            x = layer(x, distances, *change.at(at), change.bias, inner)
        return self.readout(self.norm(x))  # type: ignore[no-any-return]


NETWORKS: dict[str, Callable[[Config], Any]] = {
    "cora": CitationNetwork,
    "dictionary": LookupNetwork,
    "distance": DistanceTransformer,
}


def build_network(config: Config) -> Any:
    """Return an untrained network of a task."""
    return NETWORKS[config.task](config)
