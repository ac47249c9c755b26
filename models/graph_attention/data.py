"""Inputs of the three tasks: the papers of Cora, and dictionaries and coloured graphs from seeded
generators."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.data.windows import NONE
from models.graph_attention.layer import Edges, Words, join_neighbours
from models.graph_attention.model import FAR

Ints = NDArray[np.int64]
FILE = "cora_planetoid.npz"
CLASSES = 7
SPLITS = ("train", "val", "test")
PAIRS = 16  # keys, and queries, of a dictionary
COLOURS = 4
NODES = 16  # of a graph on which the Transformer learns
EXTRA = 3  # edges beside those of the tree
RADIUS = 2  # the distance that the question names


@dataclass(frozen=True)
class Papers:
    """A graph of papers, as the file holds it.

    pairs: papers of which one cites the other, (pair, 2). labels: the class of each, (node,).
    starts, words: the words of each, as in `Words`. splits: name -> papers.
    """

    pairs: Ints
    labels: Ints
    starts: Ints
    words: Ints
    count: int  # words there are
    splits: dict[str, Ints]

    def batch(self, split: str) -> Citations:
        """Return the whole graph, with the labels of one split alone."""
        targets = np.full(len(self.labels), NONE)
        targets[self.splits[split]] = self.labels[self.splits[split]]
        return Citations(
            Words.build(self.starts, self.words, self.count),
            join_neighbours(self.pairs, len(self.labels)),
            torch.from_numpy(targets),
        )


class Citations(NamedTuple):
    """Papers with their words and edges. wanted: the class that is asked for, or NONE, (node,)."""

    words: Words
    edges: Edges
    wanted: Tensor


def read_papers(path: Path) -> Papers:
    """Read a file of papers, in the layout of the Planetoid splits. Raise OSError where it is
    missing, KeyError where an array is."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as result:
        arrays = {name: result[name].astype(np.int64) for name in result.files}
    return Papers(
        arrays["edges"].T,
        arrays["label"],
        arrays["x_indptr"],
        arrays["x_indices"],
        int(arrays["x_shape"][1]),
        {name: arrays[f"{name}_idx"] for name in SPLITS},
    )


class Dictionaries(NamedTuple):
    """Dictionaries as one graph of many parts, keys before queries in each.

    attributes, values: (node,); a query's value is 0, a key's is 1 more than the class it stands
    for. wanted: the class that a query asks for, NONE at keys.
    """

    attributes: Tensor
    values: Tensor
    edges: Edges
    wanted: Tensor


def draw_dictionaries(
    generator: np.random.Generator, count: int, pairs: int = PAIRS
) -> Dictionaries:
    """Draw dictionaries in which every attribute has one value, and ask for each attribute once
    (Brody et al., 2022, §4.1)."""
    order = np.tile(np.arange(pairs), (count, 1))
    keys, asked = (generator.permuted(order, axis=1) for _ in range(2))
    held = generator.permuted(order, axis=1)  # the value of each key
    by_attribute = np.take_along_axis(held, keys.argsort(1), 1)
    targets = np.take_along_axis(by_attribute, asked, 1)
    blank = np.zeros_like(held)
    first = 2 * pairs * np.arange(count)[:, None, None]
    query = first + pairs + np.arange(pairs)[:, None]
    key = first + np.arange(pairs)
    query, key = (np.broadcast_to(side, (count, pairs, pairs)).ravel() for side in (query, key))
    attributes, values, classes = (
        torch.from_numpy(np.concatenate(both, 1).ravel())
        for both in ((keys, asked), (held + 1, blank), (blank + NONE, targets))
    )
    edges = Edges.build(query, key, 2 * pairs * count)
    return Dictionaries(attributes, values, edges, classes)


class Coloured(NamedTuple):
    """Graphs of one size. colours, wanted: (graph, node); distances: (graph, node, node)."""

    colours: Tensor
    distances: Tensor
    wanted: Tensor


def measure_distances(joined: NDArray[np.bool_], most: int = FAR) -> Ints:
    """Return the lengths of shortest paths, `most` for all that are as long or do not exist.

    joined: (graph, node, node), symmetric.
    """
    nodes = joined.shape[-1]
    step = (joined | np.eye(nodes, dtype=bool)).astype(np.float32)
    result = np.full(joined.shape, most, np.int64)
    reached = np.broadcast_to(np.eye(nodes, dtype=np.float32), joined.shape)
    for length in range(most):
        result[(reached > 0) & (result == most)] = length
        reached = np.minimum(reached @ step, 1)
    return result


def draw_graphs(
    generator: np.random.Generator, count: int, nodes: int = NODES, kind: str = "tree"
) -> NDArray[np.bool_]:
    """Draw graphs, (graph, node, node): random trees with EXTRA more edges, or "path" or "ring"."""
    joined = np.zeros((count, nodes, nodes), bool)
    every = np.arange(count)
    for node in range(1, nodes):
        parent = node - 1 if kind != "tree" else generator.integers(0, node, count)
        joined[every, node, parent] = True
    if kind == "ring":
        joined[:, nodes - 1, 0] = True
    if kind == "tree":
        for _ in range(EXTRA):
            first, second = generator.integers(0, nodes, (2, count))
            joined[every, first, second] = first != second
    return joined | joined.transpose(0, 2, 1)


def find_commonest(colours: Ints, distances: Ints, radius: int = RADIUS) -> Ints:
    """Return the commonest colour at exactly this distance from each node, NONE where two are
    equally common or no node lies there. colours: (graph, node)."""
    counts = (distances == radius).astype(np.int64) @ np.eye(COLOURS, dtype=np.int64)[colours]
    most = counts.max(-1, keepdims=True)
    clear = ((counts == most).sum(-1) == 1) & (most[..., 0] > 0)
    result: Ints = np.where(clear, counts.argmax(-1), NONE)
    return result


def draw_coloured(
    generator: np.random.Generator, count: int, nodes: int = NODES, kind: str = "tree"
) -> Coloured:
    """Draw coloured graphs and the answer at every node."""
    distances = measure_distances(draw_graphs(generator, count, nodes, kind))
    colours = generator.integers(0, COLOURS, (count, nodes))
    targets = find_commonest(colours, distances)
    return Coloured(*map(torch.from_numpy, (colours, distances, targets)))


def take_tensors(batch: Any) -> tuple[Any, ...]:
    """Return all fields of a batch but the last, which is `wanted`."""
    return tuple(batch)[:-1]
