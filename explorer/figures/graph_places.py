"""The places of the nodes of a graph in the plane, for a picture about one of them."""

from __future__ import annotations

import networkx  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray

CROWD = 18  # nodes of a ring, beyond which every second one stands further out
GAP = 0.8  # of a circle, in radians, that a path leaves open
TWIST = 0.4  # radians by which each ring is turned, so that edges do not hide each other


def place_nodes(
    pairs: NDArray[np.int64], focus: int, groups: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the places of nodes, (node, 2): the focus in the middle, and each other node on the
    ring of its distance from it; a path or a ring along a circle.

    pairs: edges, (pair, 2). groups: of each node, (node,); those of one group stand together.
    """
    graph = networkx.Graph(pairs.tolist())
    graph.add_nodes_from(range(len(groups)))
    degrees = dict(graph.degree())
    if max(degrees.values()) <= 2 and len(groups) > 4 and networkx.is_connected(graph):
        return _place_along_circle(graph, degrees)
    layers = networkx.single_source_shortest_path_length(graph, focus)
    far = max(layers.values()) + 1  # nodes that no path joins
    places, turns = np.zeros((len(groups), 2)), {focus: 0.0}
    for distance in range(1, far + 1):
        ring = [node for node in range(len(groups)) if layers.get(node, far) == distance]
        before = {
            node: min((turns[other] for other in graph[node] if other in turns), default=0.0)
            for node in ring
        }
        ring.sort(key=lambda node: (before[node], int(groups[node]), node))
        for at, node in enumerate(ring):
            turns[node] = 2 * np.pi * at / len(ring) + TWIST * (distance - 1)
            out = distance + 0.35 * (at % 2) * (len(ring) > CROWD)
            places[node] = out * np.sin(turns[node]), out * np.cos(turns[node])
    return places


def _place_along_circle(graph: networkx.Graph, degrees: dict[int, int]) -> NDArray[np.float64]:
    """Return the places of a path, which leaves the circle open below, or of a ring."""
    count, start = len(degrees), min(graph, key=lambda node: (degrees[node], node))
    whole = 2 * np.pi - (GAP if degrees[start] == 1 else 2 * np.pi / count)
    turns = np.zeros(count)
    turns[list(networkx.dfs_preorder_nodes(graph, start))] = np.linspace(0, whole, count)
    return np.stack((-np.sin(turns - whole / 2), np.cos(turns - whole / 2)), 1)
