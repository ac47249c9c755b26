"""One digit made by several models side by side: what the picture draws, as JSON, and what every head looks at on the whole.

A position is a pixel in raster order (28 · row + column). The input of a model is shifted by one, so the key at a position carries the
pixel made just before it; figures draw its weight on the position itself, and the query's own place stands for its predecessor.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.labs.sparse_transformer import texts
from explorer.packing import Packed, raw
from models.sparse_transformer.records import SIDE, Array, Made, Pattern, Step
from models.sparse_transformer.weights import Factor, factor_of

Text = Mapping[str, str]

PIXELS = SIDE * SIDE
UP, ACROSS = 7, 15  # rows and columns of a map by displacement: the query's row and six above it, seven to each side
FINE = 4096  # a nat travels as so many steps of 16 bits: up to 16 nats a pixel
WORST = 2.5  # nats where the surprise scale ends
ROWS = 112  # rows of a whole map that are made at once
LIKELY = 48  # positions that `telling` looks at, at most

Rows = Callable[[Made, int, int, Sequence[int]], Array]


# ---- whole maps of weights ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def _bars(factor: Factor, length: int) -> Array:
    """(query, key) what is added to scores: 0 where a query may look, −∞ elsewhere."""
    bars: Array = np.where(factor.allowed(length), np.float32(0), np.float32(-np.inf))
    return bars


def weights(made: Made, layer: int, head: int) -> Array:
    """softmax(Q Kᵀ / √d) over all pairs of a head's pattern: (query, key) float32, 0 outside of it.

    A row at a time, as somebody looks, is had for less; this is for what needs the whole map.
    """
    queries, keys = (each[layer, head].astype(np.float32) for each in (made.queries, made.keys))
    queries *= np.float32(1 / math.sqrt(keys.shape[1]))
    bars = _bars(factor_of(made, layer, head), len(keys))
    found = np.zeros((len(keys), len(keys)), np.float32)
    for first in range(0, len(keys), ROWS):  # no key comes after its query, and a few rows stay in the processor's cache
        stop = min(len(keys), first + ROWS)
        scores = queries[first:stop] @ keys[:stop].T
        scores += bars[first:stop, :stop]
        most = scores.max(1, keepdims=True)
        scores -= np.where(np.isfinite(most), most, np.float32(0))  # a row may hold no key at all
        np.exp(scores, out=scores)
        np.divide(scores, np.maximum(scores.sum(1, keepdims=True), np.float32(1e-30)), out=found[first:stop, :stop])
    return found


@lru_cache(maxsize=1)
def _displaced() -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Where a flat (query, key) map holds each displacement: (indices, first index of each displacement, how many)."""
    row, column = np.divmod(np.arange(PIXELS), SIDE)
    parts = []
    for up in range(UP - 1, -1, -1):
        for right in range(-(ACROSS // 2), ACROSS // 2 + 1):
            query = np.flatnonzero((row >= up) & (column + right >= 0) & (column + right < SIDE))
            parts.append(query * PIXELS + np.clip(query - SIDE * up + right, 0, PIXELS - 1))  # the last row's future is outside: weight 0
    counts = np.array([len(part) for part in parts], np.int32)
    return np.concatenate(parts).astype(np.int32), np.concatenate(([0], np.cumsum(counts)[:-1])).astype(np.int32), counts


@lru_cache(maxsize=8)
def _ever(factor: Factor) -> NDArray[np.bool_]:
    """(displacement,) may any pixel look there?"""
    index, first, _ = _displaced()
    found: NDArray[np.bool_] = np.logical_or.reduceat((_bars(factor, PIXELS) == 0).reshape(-1)[index], first)
    return found


@dataclass(frozen=True)
class Offsets:
    """Where the heads of a model look, on the mean.

    maps: (layer, head, row, column) mean weight by displacement over all pixels that have one there; the query stands in the last row's
    middle; NaN where no pixel may look. beyond: (layer, head) share of all weight that lies outside of these maps.
    """

    maps: Array
    beyond: Array


def offsets(made: Made) -> Offsets:
    """The mean looks of all heads of a model over a digit, from their exact weights."""
    layers, heads = made.queries.shape[:2]
    maps = np.full((layers, heads, UP * ACROSS), np.nan, np.float32)
    beyond = np.zeros((layers, heads), np.float32)
    index, first, counts = _displaced()
    for layer in range(layers):
        for head in range(heads):
            found = weights(made, layer, head).reshape(-1)
            sums = np.add.reduceat(found[index], first)
            ever = _ever(factor_of(made, layer, head))
            maps[layer, head, ever] = (sums / counts)[ever]
            total = float(found.sum())
            beyond[layer, head] = max(0.0, 1 - float(sums.sum()) / total) if total else 0.0
    return Offsets(maps.reshape(layers, heads, UP, ACROSS), beyond)


class Rollout:
    """Attention of several layers multiplied (Abnar and Zuidema, 2020): R_n = ½ (A_n + I) R_(n−1), A_n the mean over the heads of layer n.

    Half of every step is the residual path. A row is the share of each position in what a position knows after layer n. The maps A_n are
    made when the first row is asked for, and kept; safe from several threads.
    """

    def __init__(self, made: Made) -> None:
        self._made = made
        self._means: dict[int, NDArray[np.float16]] = {}
        self._lock = threading.Lock()
        self.layers, self.heads, self.length = made.queries.shape[:3]
        self.size = self.layers * self.length**2 * 2 + made.queries.nbytes + made.keys.nbytes  # bytes it comes to hold on to

    def _mean(self, layer: int) -> Array:
        with self._lock:
            if layer not in self._means:
                total = weights(self._made, layer, 0)
                for head in range(1, self.heads):
                    total += weights(self._made, layer, head)
                self._means[layer] = (total / self.heads).astype(np.float16)
            return self._means[layer].astype(np.float32)

    def rows(self, layer: int, head: int, which: Sequence[int]) -> Array:
        """(row, position) rollout through layers 0 … `layer` of some positions. head: 0; there is one. It fits `explorer.looks.Look`."""
        found = np.zeros((len(which), self.length), np.float32)
        found[np.arange(len(which)), list(which)] = 1
        for number in range(layer, -1, -1):
            mean = self._mean(number)
            attended = found @ mean
            # A head that may look nowhere adds nothing: its share stays with the residual path.
            found = 0.5 * attended + found * (1 - 0.5 * mean.sum(1))
        return found


# ---- what the digits widget draws --------------------------------------------------------------------------------------------------


def value(
    made: Sequence[Made],
    *,
    state: str,
    query: str,
    same: str = "",
    whole: ArrayLike | None = None,
    kind: int = -1,
    looks: Mapping[str, str] = MappingProxyType({}),
    rollouts: Mapping[str, str] = MappingProxyType({}),
    pick: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """A finished run.

    made: by each model that is there, in the order they stand. state: "stored", "live" or "stale". query: the permalink of the request;
    same: what it has in common with runs of the same digit, in which a lock stays. whole: (28, 28) the digit as it was given, the rows that
    were not kept too. kind: which digit a held-out one is.
    looks: by variant, the address of exact rows of weights; rollouts: that of `Rollout.rows`, which has one head. pick: what is locked on
    arrival, from `telling`.
    ValueError for anything but 784 pixels, or where a given one comes after one that was made.
    """
    if not made:
        raise ValueError("no model has made anything")
    parts = []
    for one in made:
        given = int(one.given.sum())
        if one.symbols.shape != (PIXELS,) or not one.given[:given].all():
            raise ValueError(f"{one.variant}: {one.symbols.shape} pixels, {given} of them given; {PIXELS}, the given ones first, are meant")
        found, size = offsets(one), one.queries.shape[:2]
        parts.append(
            {
                **_model(one.variant, one.symbols, one.nats, PIXELS, given, size),
                "note": note(one.pattern),
                "stride": one.pattern.stride,
                "summary": one.pattern.summary,
                "factors": [[factor_of(one, layer, head).name for head in range(size[1])] for layer in range(size[0])],
                "unusual": bool(one.unusual),
                "offsets": _offsets(found.maps),
                "beyond": [[round(float(share), 3) for share in row] for row in found.beyond],
                "look": looks.get(one.variant),
                "roll": rollouts.get(one.variant),
            }
        )
    return {**_run(state, query, same, whole, parts), "kind": kind, "pick": dict(pick or {})}


def growing(
    sizes: Mapping[str, tuple[int, int]], steps: Sequence[Step], *, query: str, keep: int, whole: ArrayLike | None = None, same: str = ""
) -> dict[str, object]:
    """A run under way: all steps so far, so that a coalesced update loses nothing.

    sizes: (layers, heads) of the models that are there, in the order they stand. keep: rows of `whole`, (28, 28), that are given; they
    stand there before any step tells what they cost.
    """
    parts = []
    for variant, size in sizes.items():
        symbols, nats = np.zeros(PIXELS, np.int16), np.zeros(PIXELS, np.float32)
        given = keep * SIDE if whole is not None else 0
        if whole is not None:
            symbols[:given] = np.asarray(whole).reshape(-1)[:given]
        read = 0
        for step in steps:
            if step.variant == variant:
                here = slice(step.first, step.first + len(step.symbols))
                symbols[here], nats[here] = step.symbols, step.nats
                read = max(read, here.stop)
        parts.append({**_model(variant, symbols, nats, read, given, size), "note": None})
    return {**_run("running", query, same, whole, parts), "kind": -1, "pick": None}


def telling(made: Sequence[Made], rows: Rows) -> dict[str, object] | None:
    """What is locked on arrival, {"model", "head" ("2.3", from 1), "pos"}: a pixel at the edge of something drawn, one that was made if
    there are some, and the head that is surest of one place that is not beside it.

    Of the first model whose pattern is sparse, else the first. rows(made, layer, head, positions) -> (row, position): exact weights; it is
    called once a head, with at most LIKELY positions. None where there is no model.
    """
    if not made:
        return None
    one = next((each for each in made if each.pattern.kind != "full"), made[0])
    ink = one.symbols.reshape(SIDE, SIDE) > 0
    around = np.pad(ink, 1)
    near = np.sum([np.roll(around, (down, right), (0, 1))[1:-1, 1:-1] for down in (0, 1) for right in (-1, 0, 1)], 0)
    edges = np.flatnonzero(((near > 0) & (near < 6)).reshape(-1))  # of what is above, before and beside it, some is drawn
    fresh = edges[~one.given[edges]]
    seen = fresh if len(fresh) >= LIKELY // 4 else edges
    seen = seen[seen >= 4 * SIDE] if (seen >= 4 * SIDE).any() else np.arange(PIXELS // 2, PIXELS, 8)
    chosen = [int(seen[n]) for n in np.unique(np.linspace(0, len(seen) - 1, min(LIKELY, len(seen))).round().astype(np.int64))]
    (row, column), (key_row, key_column) = np.divmod(np.array(chosen), SIDE), np.divmod(np.arange(PIXELS), SIDE)
    beside = (abs(row[:, None] - key_row) <= 1) & (abs(column[:, None] - key_column) <= 1)
    best, found = -1.0, (0, 0, chosen[0])
    for layer in range(one.queries.shape[0]):
        for head in range(one.queries.shape[1]):
            look = np.where(beside, 0, rows(one, layer, head, chosen))
            worth = look.max(1) + 0.02 * np.log2(np.maximum(1, row - key_row[look.argmax(1)]))  # of two as sure, the one that looks further
            if worth.max() > best:
                best, found = float(worth.max()), (layer, head, chosen[int(worth.argmax())])
    layer, head, position = found
    return {"model": one.variant, "head": f"{layer + 1}.{head + 1}", "pos": position}


def note(pattern: Pattern) -> Text:
    """In a few words, what a pattern lets a pixel see."""
    length, columns = pattern.stride, pattern.summary
    return {
        "full": {"en": "all before", "zh": "之前全部"},
        "strided": {"en": f"row and column, stride {length}", "zh": f"行与列，步长 {length}"},
        "fixed": {"en": f"block of {length}, summary of {columns}", "zh": f"长 {length} 的块，摘要 {columns} 列"},
    }[pattern.kind]


def _run(state: str, query: str, same: str, whole: ArrayLike | None, models: list[dict[str, Any]]) -> dict[str, object]:
    full = None if whole is None else np.asarray(whole).reshape(-1)
    if full is not None and full.shape != (PIXELS,):
        raise ValueError(f"a digit of {len(full)} pixels; {PIXELS} are meant")
    return {
        "state": state,
        "query": query,
        "same": same,
        "side": SIDE,
        "worst": WORST,
        "whole": None if full is None else raw((full > 0).astype(np.uint8)),
        "models": models,
    }


def _model(variant: str, symbols: NDArray[Any], nats: Array, count: int, given: int, size: tuple[int, ...]) -> dict[str, Any]:
    """Of what one model has: its pixels, their costs, and how many of both there are."""
    if nats.shape != symbols.shape:
        raise ValueError(f"{variant}: {symbols.shape} pixels with {nats.shape} nats")
    both = [float(nats[: min(given, count)].sum()), float(nats[given:count].sum()) if count > given else 0.0]
    return {
        "key": variant,
        "name": dict(texts.MODELS[variant]),
        "symbols": raw((symbols > 0).astype(np.uint8)),
        "nats": raw(np.clip(np.rint(nats * FINE), 0, 65_535).astype("<u2"), 1 / FINE),
        "count": count,
        "given": given,
        "cost": {"given": round(both[0], 3), "made": round(both[1], 3), "whole": round(sum(both), 3)},
        **dict(zip(("layers", "heads"), size, strict=True)),
    }


def _offsets(maps: Array) -> Packed:
    """Mean weights as their square root in 8 bits: most are far below 1/255, and the root keeps them apart. 0: never; 1 … 255: 0 … 1."""
    roots = np.rint(np.sqrt(np.clip(np.nan_to_num(maps), 0, 1)) * 254).astype(np.uint8) + np.uint8(1)
    return raw(np.where(np.isnan(maps), np.uint8(0), roots))
