"""Attention spans: how far each head looks, its soft mask, and what the mask takes away, as JSON for labs/adaptive_span/masks.js.

The input of a language model is shifted by one: at position t the network has read the characters before character t. So the key at
distance x of position t carries character t − 1 − x, and where there is none, the start; distance 0 is the character read last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from explorer.packing import pack

Array = NDArray[np.float32]
Flags = NDArray[np.bool_]
Text = Mapping[str, str]
Value = dict[str, object]

WATCHED = 256  # queries that profiles are made from, evenly spread; all of them where there are no more
ENDS = 0.8  # of S; a mask that ends beyond shows little of what masks do
WRITE = 12  # characters after the beginning of what is written: there a character is locked on arrival


class Look(Protocol):
    """Attention of some positions, (row, position) each: `models.adaptive_span.weights.Look` and whatever has the same parts."""

    @property
    def before(self) -> Array:
        """Weights before the mask; a row sums to 1."""

    @property
    def mask(self) -> Array:
        """m_z of each distance."""

    @property
    def after(self) -> Array:
        """Their product, brought back to a sum of 1."""


Rows = Callable[[int, int, Sequence[int]], Look]  # (layer, head, rows), from 0


@dataclass(frozen=True)
class Profiles:
    """What the heads look at by distance, on the mean over queries.

    before, after: (layer, head, distance) mean weight before and after the mask, of those queries that have a key so far back.
    kept: (layer, head) mean share of its weight that the mask leaves a query.
    counts: (distance,) from how many queries each mean is made. watched: from how many in all, and how many there are.
    """

    before: Array
    after: Array
    kept: Array
    counts: NDArray[np.int32]
    watched: tuple[int, int]


def profiles(rows: Rows, layers: int, heads: int, length: int, span: int, most: int = WATCHED) -> Profiles:
    """Mean weights by distance, from at most `most` of `length` positions, evenly spread. rows: attention of some positions of one head.
    span: S; distances run to min(S, length) − 1. ValueError for a text of no characters."""
    if length < 1:
        raise ValueError("profiles of a text of 0 characters")
    chosen = np.unique(np.linspace(0, length - 1, min(most, length)).round().astype(np.int64))
    far = min(span, length)
    keys = chosen[:, None] - np.arange(far)
    there = keys >= 0
    counts = there.sum(0).astype(np.int32)
    before, after = np.zeros((layers, heads, far), np.float32), np.zeros((layers, heads, far), np.float32)
    kept: Array = np.ones((layers, heads), np.float32)
    for layer in range(layers):
        for head in range(heads):
            seen = rows(layer, head, chosen.tolist())
            for profile, weights in ((before, seen.before), (after, seen.after)):
                by_distance = np.where(there, np.take_along_axis(weights, np.maximum(keys, 0), 1), 0)
                profile[layer, head] = by_distance.sum(0) / counts
            kept[layer, head] = (seen.before * seen.mask).sum(1).mean()
    return Profiles(before, after, kept, counts, (len(chosen), length))


def value(
    *,
    variant: str,
    name: Text,
    text: str,
    given: int,
    z: Array,
    learned: Array | None,
    forced: Flags,
    span: int,
    ramp: int,
    before: Array | None,
    after: Array | None,
    look_before: str | None,
    look_after: str | None,
    query: str,
    state: str,
    pick: Mapping[str, object] | None = None,
    kept: Array | None = None,
    counts: NDArray[np.int32] | None = None,
    watched: tuple[int, int] | None = None,
) -> Value:
    """A finished run.

    variant, name: the model's, for the address and for readers. text: a character (code point) per position. given: how many were read.
    z: (layer, head, 1 or position) spans in characters, 0 … S. learned: (layer, head) or (layer, head, 1 or position) the spans as trained,
    where `forced` (layer, head) says that others stand in `z`; None where none is forced. span: S; ramp: R.
    before, after: (layer, head, distance) mean weight by distance before and after the mask, of `profiles`, or None.
    look_before, look_after: addresses of exact weights (`explorer.looks`), one row per position, or None.
    query: the permalink of the run. state: "stored", "live" or "stale".
    pick: {"head" ("2.3", from 1), "pos"} that is locked on arrival; left out, the one of `telling`.
    kept: (layer, head) mean share of its weight that the mask leaves a query. counts: (distance,) from how many queries each mean of
    `before` is made; left out, all positions count. watched: from how many queries of how many the means are made.
    ValueError where shapes do not fit one another.
    """
    layers, heads = z.shape[:2]
    length = len(text)
    _fits(z, forced, length, before, after, counts)
    spans = (
        None if learned is None else np.broadcast_to(np.asarray(learned, np.float32).reshape(layers, heads, -1).mean(2), (layers, heads))
    )
    return {
        "state": state,
        "query": query,
        "variant": variant,
        "name": dict(name),
        "text": text,
        "given": given,
        "heads": [layers, heads],
        "span": span,
        "ramp": ramp,
        "z": pack(np.asarray(z, np.float32), unit=False),
        "forced": pack(forced),
        "learned": None if spans is None else pack(np.where(forced, spans, -1).astype(np.float32), unit=False),
        "before": None if before is None else pack(np.asarray(before, np.float32), unit=False),
        "after": None if after is None else pack(np.asarray(after, np.float32), unit=False),
        "kept": None if kept is None else pack(np.asarray(kept, np.float32), unit=False),
        "counts": None if counts is None else pack(np.asarray(counts, np.int32)),
        "watched": None if watched is None else list(watched),
        "looks": {"before": look_before, "after": look_after},
        "pick": dict(telling(z, span, ramp, given, length) if pick is None else pick),
    }


def telling(z: Array, span: int, ramp: int, given: int, length: int) -> dict[str, object]:
    """What is locked on arrival: the head that looks farthest on the mean of those whose mask still ends well before S, so that it shows
    what it cuts; and of what was written an early character; where the span follows the token, the one whose span is longest there.
    z: (layer, head, 1 or position), spans; span: S; ramp: R."""
    far = z.mean(2)
    ends = far + ramp <= ENDS * span
    far = np.where(ends, far, -1) if ends.any() else far
    layer, head = (int(n) for n in np.unravel_index(int(far.argmax()), far.shape))
    if z.shape[2] > 1:
        begin = min(given, length - 1)
        position = begin + int(z[layer, head, begin:].argmax())
    else:
        position = min(length - 1, given + WRITE)
    return {"head": f"{layer + 1}.{head + 1}", "pos": position}


def _fits(z: Array, forced: Flags, length: int, before: Array | None, after: Array | None, counts: NDArray[np.int32] | None) -> None:
    if z.ndim != 3 or z.shape[2] not in (1, length) or forced.shape != z.shape[:2]:
        raise ValueError(f"z {z.shape} and forced {forced.shape} for {length} characters; (layer, head, 1 or position) and (layer, head)")
    if not length:
        raise ValueError("spans of a text of 0 characters")
    for name, profile in (("before", before), ("after", after)):
        if profile is not None and (profile.ndim != 3 or profile.shape[:2] != z.shape[:2]):
            raise ValueError(f"{name} {profile.shape} for z {z.shape}; (layer, head, distance) is meant")
    if before is not None and after is not None and before.shape != after.shape:
        raise ValueError(f"before {before.shape} and after {after.shape}; both of the same shape")
    if counts is not None and (before is None or counts.shape != before.shape[2:]):
        raise ValueError(f"counts {counts.shape} for before {None if before is None else before.shape}; one for each distance")
