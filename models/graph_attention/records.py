"""The requests to the networks over graphs and their explanations: frozen records of NumPy arrays,
strings and numbers, without torch."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.explaining.request_fields import (
    any_field,
    choice_field,
    heads_field,
    number_field,
    seed_field,
    text_field,
)
from models.media.graphs import MOST_NODES

TASKS = ("cora", "dictionary", "distance", "own")
MODELS = ("gat", "gatv2", "dot")
NETWORKS = ("bias", "blind")  # the Transformers with and without a bias by distance
SHAPES = ("tree", "path", "ring", "own")
PLACES = ("none", "first", "last", "all")  # layers whose α is made uniform
PAPERS = 2_708
MOST_CHARACTERS = 200_000  # of an own graph
PAIRS_DRAWN = 64  # nodes whose attention to all others is kept
# layers and heads of each network
SIZES = {"cora": (2, 8), "dictionary": (1, 4), "distance": (2, 4), "own": (1, 8)}
OWN = """Ada: engines numbers poems
Babbage: engines money
Lovelace: poems numbers
Turing: machines numbers logic
Shannon: machines logic messages
Hopper: machines compilers messages
Ada, Babbage
Ada, Lovelace
Ada, Turing
Turing, Shannon
Shannon, Hopper
Turing, Hopper
"""

Array = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Request:
    """A request: a graph, a node of it, and the changes to the attention. Nodes count from 1.

    task: "cora", "dictionary", "distance" or "own". model: the kind of graph attention. network:
        the Transformer of the distance task.
    paper, node: the one whose neighbourhood is shown.
    shape: the graph of the distance task, "own" for that of `graph`. nodes: its size. seed: draws
        it, or the dictionary. graph: the text of an own graph.
    uniform: the layers whose α is uniform. silenced: (task, layer, head) of heads, from 0.
    cut: nodes whose edge to this one is cut. join: a node that is joined to it, 0 for none.
    bias: the factor on the bias by distance.
    """

    task: str = choice_field("cora", TASKS, en="task", zh="任务")
    model: str = choice_field("gat", MODELS, en="kind of attention", zh="注意力类型")
    network: str = choice_field("bias", NETWORKS, en="network", zh="网络")
    paper: int = number_field(1_762, 1, PAPERS, en="paper", zh="论文")
    node: int = number_field(1, 1, MOST_NODES, en="node", zh="节点")
    shape: str = choice_field("tree", SHAPES, en="graph", zh="图")
    nodes: int = number_field(16, 4, 32, en="number of nodes", zh="节点数")
    seed: int = seed_field(1)
    graph: str = text_field("", MOST_CHARACTERS)
    uniform: str = choice_field("none", PLACES, en="choice of layers", zh="层的选择")
    silenced: tuple[tuple[str, int, int], ...] = heads_field(TASKS)
    cut: tuple[int, ...] = any_field(())
    join: int = number_field(0, 0, PAPERS, en="node to join", zh="要连接的节点")
    bias: float = number_field(1.0, 0, 2, en="factor on the bias", zh="偏置的倍数")

    @property
    def place(self) -> int:
        """The node in question, from 0."""
        return (self.paper if self.task == "cora" else self.node) - 1

    def group(self) -> Hashable:
        """Return the key of a batch: requests of the same network may share one."""
        return self.task, self.model, self.network


@dataclass(frozen=True)
class Explanation:
    """The explanation of one run.

    names: of the nodes in view; ids: their numbers in the request, from 1. focus: the place of the
        request's node among them.
    classes: the names of the classes; labels, answers: the right class and the given one of each
        node, -1 for none. probabilities: (node, class), no columns for an untrained layer.
    pairs: edges of the graph between nodes in view, (pair, 2).
    edges: (edge, 2), the query and the key of every α that is kept.
    sizes: the heads of each layer. scores, weights: e and α, (head, edge), heads of all layers one
        after the other.
    votes: what the last layer's values add to each class, (edge, class), for networks whose last
        layer gives the classes.
    rank: what a key alone adds to the score of any query, (head, node), for kinds that have it.
    distances: of the edges; colours: the class that each node itself has; bias: what was learned
        for each distance, (head, distance). All may be empty.
    entropy: of α at the focus, over that of uniform α, (head,).
    lost: edges of the focus that were cut, as their keys in view.
    notices: how a visitor's graph was read, {en, zh} each.
    """

    task: str
    model: str
    names: tuple[str, ...]
    ids: Ints
    focus: int
    classes: tuple[str, ...]
    labels: Ints
    answers: Ints
    probabilities: Array
    pairs: Ints
    edges: Ints
    sizes: tuple[int, ...]
    scores: Array
    weights: Array
    votes: Array
    rank: Array
    distances: Ints
    colours: Ints
    bias: Array
    entropy: Array
    lost: tuple[int, ...]
    notices: tuple[dict[str, str], ...]

    @property
    def is_right(self) -> bool | None:
        """Whether the answer at the focus is right; None where nothing is asked there."""
        if self.labels[self.focus] < 0:
            return None
        return bool(self.labels[self.focus] == self.answers[self.focus])


@dataclass(frozen=True)
class Measured:
    """A network on held-out nodes, with the changes of a request.

    accuracy: share of right answers. flips: share of answers that differ from those as trained.
    entropy: of α at the node in question, over that of uniform α, where nothing else is measured.
    sample: how many answers.
    """

    accuracy: float
    flips: float
    entropy: float
    sample: int


EXAMPLES: tuple[Request, ...] = (
    Request(),
    Request("dictionary"),
    Request("dictionary", "gatv2"),
    Request("distance", seed=2),
    Request("distance", shape="path", seed=3),
    Request("own", node=4, graph=OWN),
)
