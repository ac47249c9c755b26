"""Queries and keys of one head, over many texts, in one plane: the nearer, the larger their score (Yeh et al., 2023, AttentionViz).

A lab has this by one function, ``vectors(requests)``: of each, the Vectors of its run by kind of attention, which bertviz's neuron view
shows too. ``planes = drawn_by(vectors, requests)`` is then the engine function of the panel. No torch here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from models.arrays import frozen
from models.errors import InputError, check_heads
from models.turns import each, readable

Array = NDArray[np.float32]
Asked = TypeVar("Asked")  # a request of a lab
SCALES = np.geomspace(1 / 8, 8, 33)


@dataclass(frozen=True)
class Head:
    """A head. kind: of attention; layer, head: from 0."""

    kind: str
    layer: int
    head: int


@dataclass(frozen=True)
class Vectors:
    """What all heads of one attention made of one text. queries: (layer, head, query, d_head), keys: (layer, head, key, d_head); asks,
    looked: the piece of each; causal: query i sees the keys up to i alone. classes: the word class of each piece as UD names it, "" where
    it has none; empty where a lab says none, and where queries and keys are not of the same pieces."""

    text: str
    queries: Array
    keys: Array
    asks: tuple[str, ...]
    looked: tuple[str, ...]
    causal: bool = False
    classes: tuple[str, ...] = ()


SIDES = ("queries", "keys")


def watched(trace: Any, where: str, text: str, asks: Sequence[str], looked: Sequence[str], **more: Any) -> Vectors:
    """The vectors of one attention, whose taps stand below `where`, of the first row of a batch. trace: a `models.trace.Trace`."""
    queries, keys = (frozen(trace.stack(f"{where}/{side}")[:, 0]) for side in SIDES)
    return Vectors(text, queries, keys, tuple(asks), tuple(looked), **more)


@dataclass(frozen=True)
class Plane:
    """points: (point, 2), all queries and then all keys. pieces: of each; texts: the text that it is of, by its number in `read`;
    positions: where in it, from 0; asks: is it a query? scale: queries were multiplied and keys divided by it. kept: share of the spread
    that the plane keeps. before, after: correlation of nearness and score among the keys of a query, in all dimensions and in the plane.
    classes: the word class of each, or empty."""

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


def plane(watched: Sequence[Vectors], layer: int, head: int) -> Plane:
    """All queries and keys of a head in two dimensions, by their common principal components.

    Keys are moved to have their middle where the queries have theirs: every score of a query changes by the same amount, so no weight does.
    Queries times c and keys divided by c have the same scores: of SCALES that c is taken with which −|c q − k / c| goes best with
    q · k / √d_head (Pearson). Pairs are of one text, behind a causal mask those that see each other. What is told, `before` and
    `after`, is the correlation of both, each less its mean over a query's pairs: a row of weights knows no more than how its scores
    differ.
    """
    both_sides = ([one.queries[layer, head] for one in watched], [one.keys[layer, head] for one in watched])
    q, k = (np.concatenate(side).astype(np.float64) for side in both_sides)
    k += q.mean(0) - k.mean(0)
    rows, columns = _pairs(watched)
    scores = (q[rows] * k[columns]).sum(1) / np.sqrt(q.shape[1])
    nearness = [-np.linalg.norm(c * q[rows] - k[columns] / c, axis=1) for c in SCALES]
    best = int(np.argmax([correlation(one, scores) for one in nearness]))
    c = float(SCALES[best])
    both = np.concatenate((c * q, k / c))
    both -= both.mean(0)
    _, sizes, axes = np.linalg.svd(both, full_matrices=False)
    points = both @ axes[:2].T
    points *= np.where(points[np.abs(points).argmax(0), range(points.shape[1])] < 0, -1, 1)  # else either sign is as good
    drawn = -np.linalg.norm(points[: len(q)][rows] - points[len(q) :][columns], axis=1)
    before, after = (correlation(_differing(one, rows), _differing(scores, rows)) for one in (nearness[best], drawn))
    sides = [[one.asks for one in watched], [one.looked for one in watched]]
    return Plane(
        frozen(points),
        tuple(piece for side in sides for pieces in side for piece in pieces),
        tuple(one.text for one in watched),
        frozen([at for side in sides for at, pieces in enumerate(side) for _ in pieces], np.int32),
        frozen([at for side in sides for pieces in side for at in range(len(pieces))], np.int32),
        frozen(np.arange(len(both)) < len(q), np.bool_),
        c,
        float((sizes[:2] ** 2).sum() / max((sizes**2).sum(), 1e-12)),
        before,
        after,
        2 * tuple(name for one in watched for name in one.classes),
    )


def _pairs(watched: Sequence[Vectors]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of all queries and keys that see each other."""
    found, first, at = [], 0, 0
    for one in watched:
        sees = np.ones((len(one.asks), len(one.looked)), bool)
        found.append(np.argwhere(np.tril(sees) if one.causal else sees) + np.array((first, at)))
        first, at = first + len(one.asks), at + len(one.looked)
    rows, columns = np.concatenate(found).T
    return rows, columns


def _differing(values: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Values less the mean of their row."""
    found: NDArray[np.float64] = values - (np.bincount(rows, values) / np.maximum(np.bincount(rows), 1))[rows]
    return found


def correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Pearson's, 0 where one of the two does not vary."""
    return float(np.corrcoef(a, b)[0, 1]) if min(a.std(), b.std()) > 1e-9 else 0.0


def drawn_by(
    vectors: Callable[[Sequence[Asked]], Sequence[Mapping[str, Vectors] | InputError]], requests: Mapping[str, Sequence[Asked]]
) -> Callable[[Sequence[Head]], list[Plane | InputError]]:
    """The engine function of a lab: of each head that is asked for its plane, in order, or the InputError of a head that is none.

    vectors: of requests the attentions of their runs, by kind. requests: of each kind of attention, or of each network, whose kinds are
    called "NETWORK.KIND", the texts that are read, once. A text whose run has fewer layers is left out.
    """

    @cache
    def read(asked: tuple[Asked, ...]) -> list[Mapping[str, Vectors]]:
        return readable(vectors(asked))

    def drawn(one: Head) -> Plane:
        network, _, kind = one.kind.rpartition(".")
        runs = [run[kind] for run in read(tuple(requests.get(one.kind) or requests[network]))]
        check_heads([("", one.layer, one.head)], {"": max(run.queries.shape[:2] for run in runs)})
        return plane([run for run in runs if len(run.queries) > one.layer], one.layer, one.head)

    return lambda heads: each(heads, drawn)
