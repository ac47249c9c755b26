"""A long text as one or two models read and wrote it, what each of its characters cost, and how far every head looks back, as JSON.

A position is a character (code point), from 0; nats[t] = −log p of character t, which visitors see in bits. The input of a model is shifted
by one: row t of a head's weights is where it looked to say character t, the key in column j has read character j − 1, and column 0 is the
start. So what stands in column t − d lies d + 1 characters back. Columns behind the last position are another text's memory: no characters.

Exact rows are fetched from `Model.look`, an address of `explorer.looks`: its look answers for layers, heads and positions with rows over
all columns, and is put there by the lab (``looks().put(Look(rows, layers, heads, queries, size), made_of)``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from explorer.packing import pack

Array = NDArray[np.float32]
Whole = NDArray[np.integer[Any]]
Text = Mapping[str, str]
Value = dict[str, object]

WORST = 8.0  # bits where the scale of the loss ends
LATE = 192  # characters at the end among which the telling one is looked for
LIKELY = 32  # of them that are looked at
SURE = 0.12  # weight below which a look is not confident


class Read(Protocol):
    """What one model has read and written: a `Reading` of models.transformer_xl, an `Explanation` of models.adaptive_span, and so on."""

    @property
    def variant(self) -> str:
        """Its name, as in the address."""

    @property
    def text(self) -> str:
        """What was given, and what was written after it."""

    @property
    def nats(self) -> Array:
        """(position,) −log p of each character."""

    @property
    def queries(self) -> NDArray[np.float16]:
        """(layer, head, position, d_head)."""


Rows = Callable[[Any, int, int, Sequence[int]], Array]  # weights of some positions: (read, layer, head, positions) -> (row, column)


@dataclass(frozen=True)
class Model:
    """What is drawn of one model.

    key: its name, as in the address. name, about: what it is called, and what sets it apart. text, nats: as of `Read`. look: the address of
    its exact weights, None where there are none. layers, heads: how many; 0 where no head can be looked at. profiles: (layer, head,
    distance) mean weight at each distance row − column, or None. first_seen: (position,) the first column of what a position reads for the
    first time, its own segment: columns before it are memory; None where there is no memory. memory: columns that it remembers, where that
    differs from the run's. ends: (layer, head) distance at which each head's reach ends (a span), or None. pattern: what a position may
    look at at all, {"kind", "l", "c"} as pictures/patternmath.js takes it; None for everything before it.
    """

    key: str
    name: Text
    about: Text
    text: str
    nats: Array
    look: str | None = None
    layers: int = 0
    heads: int = 0
    profiles: Array | None = None
    first_seen: Whole | None = None
    memory: int | None = None
    ends: Array | None = None
    pattern: Mapping[str, object] | None = None


def value(
    models: Sequence[Model],
    *,
    given: int,
    segment: int = 0,
    memory: int = 0,
    unknown: Sequence[int] = (),
    query: str,
    state: str,
    pick: Mapping[str, object] | None = None,
) -> Value:
    """A finished run.

    models: in the order they stand. given: characters that were given, before those written. segment: positions that are read at once, 0
    where a text is not cut. memory: columns that each layer remembers, 0 for none. unknown: positions of characters that the models do not
    know. query: the permalink of the run. state: "stored", "live" or "stale". pick: what is locked on arrival, from `telling`.
    ValueError where a text and its nats differ in length, or profiles, ends or first_seen in shape.
    """
    return {
        "state": state,
        "query": query,
        "given": given,
        "of": max((len(model.text) for model in models), default=0),
        "segment": segment,
        "unknown": pack(np.asarray(unknown, np.int32)),
        "worst": WORST,
        "models": [_drawn(model, given, memory) for model in models],
        "pick": None if pick is None else dict(pick),
    }


def reach(run: Value) -> Value:
    """How far back the heads of a finished run look, from its `value`."""
    kept = ("key", "name", "layers", "heads", "memory", "profiles", "edges", "ends")
    models = [{name: model.get(name) for name in kept} for model in cast(list[Value], run["models"])]
    return {name: run[name] for name in ("state", "query", "segment", "pick")} | {"models": models}


def growing(models: Sequence[Model], *, of: int, **run: Any) -> Value:
    """A run under way: everything so far, so that a coalesced update loses nothing. of: characters there will be. Others as of `value`."""
    return {**value(models, state="running", **run), "of": of}


def _told(model: Model, given: int) -> Value:
    if len(model.text) != len(model.nats):
        raise ValueError(f"{model.key}: a text of {len(model.text)} characters with {len(model.nats)} nats")
    bits = np.asarray(model.nats, np.float64) / np.log(2)
    return {
        "key": model.key,
        "name": dict(model.name),
        "about": dict(model.about),
        "text": model.text,
        "nats": pack(np.asarray(model.nats, np.float32), unit=False),
        "bits": {"given": _mean(bits[:given]), "written": _mean(bits[given:])},
        "layers": 0,
        "heads": 0,
        "look": None,
        "memory": 0,
    }


def _mean(bits: NDArray[np.float64]) -> float | None:
    return round(float(bits.mean()), 4) if len(bits) else None


def _drawn(model: Model, given: int, memory: int) -> Value:
    drawn = _told(model, given)
    drawn["memory"] = memory if model.memory is None else model.memory
    if not (model.layers and model.heads):
        return drawn
    drawn |= {"layers": model.layers, "heads": model.heads, "look": model.look}
    if model.profiles is not None:
        profiles = _shaped(model.profiles, (model.layers, model.heads, model.profiles.shape[-1]), f"{model.key}: profiles")
        edges = bands(profiles.shape[-1])
        drawn |= {"profiles": pack(banded(profiles, edges)), "edges": edges}
    if model.ends is not None:
        drawn["ends"] = pack(_shaped(model.ends, (model.layers, model.heads), f"{model.key}: ends"), unit=False)
    if model.pattern is not None:
        drawn["pattern"] = dict(model.pattern)
    if model.first_seen is not None:
        drawn["first_seen"] = pack(_shaped(model.first_seen, (len(model.text),), f"{model.key}: first_seen").astype(np.int32))
    return drawn


def _shaped(array: NDArray[Any], shape: tuple[int, ...], name: str) -> NDArray[Any]:
    if array.shape != shape:
        raise ValueError(f"{name} of shape {array.shape}; {shape} is meant")
    return array


def bands(distances: int) -> list[int]:
    """Bands of distances, two to an octave: the characters back at which each begins, then where the last one ends.

    distances: how many there are; the distance d, from 0, lies d + 1 characters back. bands(16) -> [1, 2, 3, 4, 6, 8, 11, 17].
    """
    half_octaves = (round(2 ** (n / 2)) for n in range(2 * max(1, distances).bit_length() + 1))
    edges = sorted({edge for edge in half_octaves if edge <= distances} | {1})
    if len(edges) > 1 and (distances + 1) / edges[-1] < 1.1:
        edges.pop()  # what is left of the last band is too thin to be seen
    return [*edges, distances + 1]


def banded(profiles: Array, edges: Sequence[int]) -> Array:
    """(layer, head, band) the mean weight that goes to each band. profiles: (layer, head, distance). edges: from `bands`."""
    first = np.asarray(edges[:-1]) - 1
    if not profiles.shape[-1]:
        return np.zeros((*profiles.shape[:-1], len(first)), np.float32)
    found: Array = np.clip(np.add.reduceat(profiles.astype(np.float32), first, axis=-1), 0, 1)
    return found


def telling(reads: Sequence[Read], rows: Rows, *, given: int) -> dict[str, object] | None:
    """What is locked on arrival: what `farthest` finds in the first model whose heads can be looked at; None where there is none, or no
    text."""
    found = next((one for read in reads if (one := farthest(read, rows, given=given))), None)
    return found and found[1]


def farthest(read: Read, rows: Rows, *, given: int) -> tuple[float, dict[str, object]] | None:
    """Its worth, and {"model", "head" ("2.3", layer and head from 1), "pos"}: a character near the end, one written if there are some, and
    a head that is sure of a character far before it (the largest weight × log distance, 0 where none is sure).

    None where no head can be looked at, or no text. rows is called once a head, with at most LIKELY positions.
    """
    length = len(read.text)
    if not read.queries.size or length < 2:
        return None
    layers, heads = read.queries.shape[:2]
    first = max(1, length - LATE, given if length - given >= LIKELY else 1)
    seen = [t for t in range(first, length) if not read.text[t].isspace()] or list(range(first, length))
    chosen = [seen[n] for n in np.unique(np.linspace(0, len(seen) - 1, min(LIKELY, len(seen))).round().astype(np.int64))]
    back = np.array(chosen)[:, None] - np.arange(1, length) + 1  # characters back of columns 1 … length − 1
    far = np.log2(np.maximum(back, 1)).astype(np.float32)
    best, found = -1.0, (0, 0, chosen[0])
    for number in range(layers * heads):
        weights = rows(read, number // heads, number % heads, chosen)[:, 1:length]
        worth = (np.where(weights >= SURE, weights, 0) * far).max(1)
        if worth.max() > best:
            best, found = float(worth.max()), (number // heads, number % heads, chosen[int(worth.argmax())])
    layer, head, position = found
    return best, {"model": read.variant, "head": f"{layer + 1}.{head + 1}", "pos": position}
