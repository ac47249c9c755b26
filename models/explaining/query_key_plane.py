"""Queries and keys of one head, over many texts, in one plane: the nearer, the larger their score
(Yeh et al., 2023, AttentionViz).

A lab has this by one function, ``vectors(requests)``: for each request the Vectors of its run by
kind of attention, which bertviz's neuron view shows too. ``planes = make_plane_function(vectors,
requests)`` is then the engine function of the panel. No torch here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from models.explaining.arrays import freeze
from models.explaining.batching import read_each, select_readable
from models.explaining.errors import InputError, check_heads

Array = NDArray[np.float32]
Asked = TypeVar("Asked")  # a request of a lab
SCALES = np.geomspace(1 / 8, 8, 33)


@dataclass(frozen=True)
class Head:
    """A head of attention. kind: the kind of attention; layer, head: from 0."""

    kind: str
    layer: int
    head: int


@dataclass(frozen=True)
class Vectors:
    """The queries and keys that all heads of one attention made of one text.

    queries: (layer, head, query, d_head).
    keys: (layer, head, key, d_head).
    asks, looked: the piece of each query and of each key.
    causal: whether query i sees the keys up to i alone.
    classes: the word class of each piece as UD names it, "" where it has none; empty where a lab
        gives none, and where queries and keys are not of the same pieces.
    """

    text: str
    queries: Array
    keys: Array
    asks: tuple[str, ...]
    looked: tuple[str, ...]
    causal: bool = False
    classes: tuple[str, ...] = ()


SIDES = ("queries", "keys")


def collect_vectors(
    trace: Any, where: str, text: str, asks: Sequence[str], looked: Sequence[str], **more: Any
) -> Vectors:
    """Return the vectors of one attention, whose taps stand below `where`, of the first row of a
    batch. trace: a `models.explaining.trace.Trace`."""
    queries, keys = (freeze(trace.stack(f"{where}/{side}")[:, 0]) for side in SIDES)
    return Vectors(text, queries, keys, tuple(asks), tuple(looked), **more)


@dataclass(frozen=True)
class Plane:
    """Queries and keys of a head as points of a plane.

    points: all queries and then all keys, (point, 2).
    pieces: the piece of each point.
    texts: the text of each point, by its number in `read`.
    positions: its position in the text, from 0.
    asks: whether it is a query.
    scale: the factor by which queries were multiplied and keys divided.
    kept: share of the spread that the plane keeps.
    before, after: correlation of nearness and score among the keys of a query, in all dimensions
        and in the plane.
    classes: the word class of each, or empty.
    """

    points: Array
    pieces: tuple[str, ...]
    read: tuple[str, ...]
    texts: NDArray[np.int32]
    positions: NDArray[np.int32]
    asks: NDArray[np.bool_]
    scale: float
    kept: float
    before: float
    after: float
    classes: tuple[str, ...] = ()


def project_to_plane(watched: Sequence[Vectors], layer: int, head: int) -> Plane:
    """Project all queries and keys of a head to two dimensions, by their common principal
    components.

    Keys are moved so that their middle lies where that of the queries lies: every score of a query
    changes by the same amount, so no weight changes. Queries times c and keys divided by c have the
    same scores. Of SCALES, that c is taken for which −|c q − k / c| correlates best with q · k /
    √d_head (Pearson). Pairs are of one text, behind a causal mask only those that see each other.
    `before` and `after` are the correlation of both, each less its mean over a query's pairs: a row
    of weights depends only on how its scores differ.
    """
    both_sides = (
        [one.queries[layer, head] for one in watched],
        [one.keys[layer, head] for one in watched],
    )
    q, k = (np.concatenate(side).astype(np.float64) for side in both_sides)
    k += q.mean(0) - k.mean(0)
    rows, columns = _count_pairs(watched)
    scores = (q[rows] * k[columns]).sum(1) / np.sqrt(q.shape[1])
    nearness = [-np.linalg.norm(c * q[rows] - k[columns] / c, axis=1) for c in SCALES]
    best = int(np.argmax([measure_correlation(one, scores) for one in nearness]))
    c = float(SCALES[best])
    both = np.concatenate((c * q, k / c))
    both -= both.mean(0)
    _, sizes, axes = np.linalg.svd(both, full_matrices=False)
    points = both @ axes[:2].T
    # Both signs of an axis are equally good, so fix one.
    points *= np.where(points[np.abs(points).argmax(0), range(points.shape[1])] < 0, -1, 1)
    drawn = -np.linalg.norm(points[: len(q)][rows] - points[len(q) :][columns], axis=1)
    before, after = (
        measure_correlation(_center_rows(one, rows), _center_rows(scores, rows))
        for one in (nearness[best], drawn)
    )
    sides = [[one.asks for one in watched], [one.looked for one in watched]]
    return Plane(
        freeze(points),
        tuple(piece for side in sides for pieces in side for piece in pieces),
        tuple(one.text for one in watched),
        freeze([at for side in sides for at, pieces in enumerate(side) for _ in pieces], np.int32),
        freeze([at for side in sides for pieces in side for at in range(len(pieces))], np.int32),
        freeze(np.arange(len(both)) < len(q), np.bool_),
        c,
        float((sizes[:2] ** 2).sum() / max((sizes**2).sum(), 1e-12)),
        before,
        after,
        2 * tuple(name for one in watched for name in one.classes),
    )


def _count_pairs(watched: Sequence[Vectors]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of all queries and keys that see each other."""
    found, first, at = [], 0, 0
    for one in watched:
        sees = np.ones((len(one.asks), len(one.looked)), bool)
        found.append(np.argwhere(np.tril(sees) if one.causal else sees) + np.array((first, at)))
        first, at = first + len(one.asks), at + len(one.looked)
    rows, columns = np.concatenate(found).T
    return rows, columns


def _center_rows(values: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the values less the mean of their row."""
    found: NDArray[np.float64] = (
        values - (np.bincount(rows, values) / np.maximum(np.bincount(rows), 1))[rows]
    )
    return found


def measure_correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Return Pearson's correlation, 0 where one of the two does not vary."""
    return float(np.corrcoef(a, b)[0, 1]) if min(a.std(), b.std()) > 1e-9 else 0.0


def make_plane_function(
    vectors: Callable[[Sequence[Asked]], Sequence[Mapping[str, Vectors] | InputError]],
    requests: Mapping[str, Sequence[Asked]],
) -> Callable[[Sequence[Head]], list[Plane | InputError]]:
    """Return the engine function of a lab. It answers each head with its plane, in order, or with
    the InputError of a head that does not exist.

    vectors: for requests, the attentions of their runs, by kind.
    requests: for each kind of attention, or each network, whose kinds are called "NETWORK.KIND",
        the texts that are read, once. A text whose run has fewer layers is left out.
    """

    @cache
    def read(asked: tuple[Asked, ...]) -> list[Mapping[str, Vectors]]:
        return select_readable(vectors(asked))

    def draw_head(one: Head) -> Plane:
        network, _, kind = one.kind.rpartition(".")
        runs = [run[kind] for run in read(tuple(requests.get(one.kind) or requests[network]))]
        check_heads([("", one.layer, one.head)], {"": max(run.queries.shape[:2] for run in runs)})
        return project_to_plane(
            [run for run in runs if len(run.queries) > one.layer], one.layer, one.head
        )

    return lambda heads: read_each(heads, draw_head)
