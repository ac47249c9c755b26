"""A long text as one or two models read and wrote it, the cost of each of its characters, and how
far every head looks back, as JSON.

A position is a character (code point), from 0; nats[t] = −log p of character t, which visitors see
in bits. The input of a model is shifted by one: row t of a head's weights is the row that predicts
character t, the key in column j has read character j − 1, and column 0 is the start. So column t −
d lies d + 1 characters back. Columns behind the last position are another text's memory: no
characters.

Exact rows are fetched from `Model.look`, an address of `explorer.values.exact_rows`. Its entry
answers for layers, heads and positions with rows over all columns, and the lab puts it there
(``exact_row_store().put(Look(rows, layers, heads, queries, size), made_of)``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from explorer.values.packing import pack_array

Array = NDArray[np.float32]
Whole = NDArray[np.integer[Any]]
Text = Mapping[str, str]
Value = dict[str, object]

WORST = 8.0  # bits where the scale of the loss ends
LATE = 192  # characters at the end among which the telling one is searched
LIKELY = 32  # of them whose heads are examined
SURE = 0.12  # weight below which a head is not confident


class TextReader(Protocol):
    """The text that one model has read and written: a `Reading` of models.transformer_xl, an
    `Explanation` of models.adaptive_span, and so on."""

    @property
    def variant(self) -> str:
        """The name of the model, as in the address."""

    @property
    def text(self) -> str:
        """The given text, and the text written after it."""

    @property
    def nats(self) -> Array:
        """The cost −log p of each character, (position,), nats."""

    @property
    def queries(self) -> NDArray[np.float16]:
        """The queries, (layer, head, position, d_head)."""


# weights of some positions: (read, layer, head, positions) -> (row, column)
Rows = Callable[[Any, int, int, Sequence[int]], Array]


@dataclass(frozen=True)
class Model:
    """The drawing of one model.

    key: its name, as in the address.
    name, about: its name on the page, and the property that sets it apart.
    text, nats: as in `TextReader`.
    look: the address of its exact weights, None where there are none.
    layers, heads: the number of each; 0 where no head can be selected.
    profiles: (layer, head, distance) mean weight at each distance row − column, or None.
    first_seen: (position,) the first column of its own segment, which a position reads for the
        first time: columns before it are memory; None where there is no memory.
    memory: the number of columns that it remembers, where that differs from the run's.
    ends: (layer, head) distance at which each head's reach ends (a span), or None.
    pattern: the pattern that limits the attention of a position, {"kind", "l", "c"} as
        pictures/patternmath.js takes it; None for everything before it.
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


def draw_reading(
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
    """Return the value of a finished run.

    models: in their order on the page.
    given: the number of given characters, before those written.
    segment: positions that are read at once, 0 where a text is not cut.
    memory: columns that each layer remembers, 0 for none.
    unknown: positions of characters that the models do not know.
    query: the permalink of the run.
    state: "stored", "live" or "stale".
    pick: the selection locked on arrival, from `find_telling_place`.
    Raise ValueError where a text and its nats differ in length, or profiles, ends or first_seen in
    shape.
    """
    return {
        "state": state,
        "query": query,
        "given": given,
        "of": max((len(model.text) for model in models), default=0),
        "segment": segment,
        "unknown": pack_array(np.asarray(unknown, np.int32)),
        "worst": WORST,
        "models": [_draw_model(model, given, memory) for model in models],
        "pick": None if pick is None else dict(pick),
    }


def draw_reach(run: Value) -> Value:
    """Return how far back the heads of a finished run look, from the value of `draw_reading`."""
    kept = ("key", "name", "layers", "heads", "memory", "profiles", "edges", "ends")
    models = [
        {name: model.get(name) for name in kept} for model in cast(list[Value], run["models"])
    ]
    return {name: run[name] for name in ("state", "query", "segment", "pick")} | {"models": models}


def draw_growing_reading(models: Sequence[Model], *, of: int, **run: Any) -> Value:
    """Return the value of a run under way: everything so far, so that a coalesced update loses
    nothing.

    of: the number of characters at the end. Other arguments are as in `draw_reading`.
    """
    return {**draw_reading(models, state="running", **run), "of": of}


def _describe_model(model: Model, given: int) -> Value:
    if len(model.text) != len(model.nats):
        raise ValueError(
            f"{model.key}: a text of {len(model.text)} characters with {len(model.nats)} nats"
        )
    bits = np.asarray(model.nats, np.float64) / np.log(2)
    return {
        "key": model.key,
        "name": dict(model.name),
        "about": dict(model.about),
        "text": model.text,
        "nats": pack_array(np.asarray(model.nats, np.float32), unit=False),
        "bits": {"given": _average_bits(bits[:given]), "written": _average_bits(bits[given:])},
        "layers": 0,
        "heads": 0,
        "look": None,
        "memory": 0,
    }


def _average_bits(bits: NDArray[np.float64]) -> float | None:
    return round(float(bits.mean()), 4) if len(bits) else None


def _draw_model(model: Model, given: int, memory: int) -> Value:
    drawn = _describe_model(model, given)
    drawn["memory"] = memory if model.memory is None else model.memory
    if not (model.layers and model.heads):
        return drawn
    drawn |= {"layers": model.layers, "heads": model.heads, "look": model.look}
    if model.profiles is not None:
        profiles = _check_shape(
            model.profiles,
            (model.layers, model.heads, model.profiles.shape[-1]),
            f"{model.key}: profiles",
        )
        edges = make_bands(profiles.shape[-1])
        drawn |= {"profiles": pack_array(sum_bands(profiles, edges)), "edges": edges}
    if model.ends is not None:
        drawn["ends"] = pack_array(
            _check_shape(model.ends, (model.layers, model.heads), f"{model.key}: ends"), unit=False
        )
    if model.pattern is not None:
        drawn["pattern"] = dict(model.pattern)
    if model.first_seen is not None:
        drawn["first_seen"] = pack_array(
            _check_shape(model.first_seen, (len(model.text),), f"{model.key}: first_seen").astype(
                np.int32
            )
        )
    return drawn


def _check_shape(array: NDArray[Any], shape: tuple[int, ...], name: str) -> NDArray[Any]:
    if array.shape != shape:
        raise ValueError(f"{name} of shape {array.shape}; expected {shape}")
    return array


def make_bands(distances: int) -> list[int]:
    """Return bands of distances, two to an octave: the characters back at which each begins, then
    the end of the last one.

    distances: their number; the distance d, from 0, lies d + 1 characters back. make_bands(16) ->
        [1, 2, 3, 4, 6, 8, 11, 17].
    """
    half_octaves = (round(2 ** (n / 2)) for n in range(2 * max(1, distances).bit_length() + 1))
    edges = sorted({edge for edge in half_octaves if edge <= distances} | {1})
    if len(edges) > 1 and (distances + 1) / edges[-1] < 1.1:
        edges.pop()  # the rest of the last band is too thin to be visible
    return [*edges, distances + 1]


def sum_bands(profiles: Array, edges: Sequence[int]) -> Array:
    """Return the mean weight that goes to each band, (layer, head, band).

    profiles: (layer, head, distance).
    edges: from `make_bands`.
    """
    first = np.asarray(edges[:-1]) - 1
    if not profiles.shape[-1]:
        return np.zeros((*profiles.shape[:-1], len(first)), np.float32)
    found: Array = np.clip(np.add.reduceat(profiles.astype(np.float32), first, axis=-1), 0, 1)
    return found


def find_telling_place(
    reads: Sequence[TextReader], rows: Rows, *, given: int
) -> dict[str, object] | None:
    """Return the selection that is locked on arrival: the result of `find_farthest_look` in the
    first model whose heads can be selected; None where there is none, or no text."""
    found = next(
        (one for read in reads if (one := find_farthest_look(read, rows, given=given))), None
    )
    return found and found[1]


def find_farthest_look(
    read: TextReader, rows: Rows, *, given: int
) -> tuple[float, dict[str, object]] | None:
    """Return its score and {"model", "head" ("2.3", layer and head from 1), "pos"}: a character
    near the end, a written one if there are some, and a head that attends confidently to a
    character far before it. The score is the largest weight × log distance, 0 where no head is
    confident.

    None where no head can be selected, or no text. `rows` is called once a head, with at most
    LIKELY positions.
    """
    length = len(read.text)
    if not read.queries.size or length < 2:
        return None
    layers, heads = read.queries.shape[:2]
    first = max(1, length - LATE, given if length - given >= LIKELY else 1)
    seen = [t for t in range(first, length) if not read.text[t].isspace()] or list(
        range(first, length)
    )
    chosen = [
        seen[n]
        for n in np.unique(
            np.linspace(0, len(seen) - 1, min(LIKELY, len(seen))).round().astype(np.int64)
        )
    ]
    # characters back of columns 1 … length − 1
    back = np.array(chosen)[:, None] - np.arange(1, length) + 1
    far = np.log2(np.maximum(back, 1)).astype(np.float32)
    best, found = -1.0, (0, 0, chosen[0])
    for number in range(layers * heads):
        weights = rows(read, number // heads, number % heads, chosen)[:, 1:length]
        worth = (np.where(weights >= SURE, weights, 0) * far).max(1)
        if worth.max() > best:
            best, found = (
                float(worth.max()),
                (number // heads, number % heads, chosen[int(worth.argmax())]),
            )
    layer, head, position = found
    return best, {"model": read.variant, "head": f"{layer + 1}.{head + 1}", "pos": position}
