"""Attention spans: how far each head looks, its soft mask, and what the mask takes away, as JSON
for labs/adaptive_span/masks.js.

The input of a language model is shifted by one: at position t the network has read the characters
before character t. So the key at distance x of position t carries character t − 1 − x, and where
there is none, the start; distance 0 is the character read last.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.values.packing import convert_to_json, pack_array

Array = NDArray[np.float32]
Flags = NDArray[np.bool_]
Value = dict[str, object]

ENDS = 0.8  # share of S; a mask that ends beyond it shows little of what masks do
# characters after the beginning of the written text: a character there is locked on arrival
WRITE = 12


def draw_masks(
    *,
    text: str,
    given: int,
    z: Array,
    learned: Array | None,
    forced: Flags,
    span: int,
    ramp: int,
    before: Array,
    after: Array,
    look_before: str | None,
    look_after: str | None,
    pick: Mapping[str, object] | None = None,
    **run: Any,
) -> Value:
    """Draw a finished run.

    run: variant, name: the model's, for the address and for display; query: the permalink of the
    run; state: "stored" or "live". text: a character (code point) per position. given: how many
    were read. z: (layer, head, 1 or position) spans in characters, 0 … S. learned: (layer, head) or
    (layer, head, 1 or position) the spans as trained, where `forced` (layer, head) says that others
    stand in `z`; None where none is forced. span: S; ramp: R. before, after: (layer, head,
    distance) mean weight by distance before and after the mask, of the queries that have a key so
    far back. look_before, look_after: addresses of exact weights (`explorer.values.exact_rows`),
    one row per position, or None. pick: {"head" ("2.3", from 1), "pos"}, locked on arrival; left
    out, that of `find_telling_head`. Raise ValueError where shapes do not fit one another.
    """
    layers, heads = z.shape[:2]
    length = len(text)
    _check_shapes(z, forced, length, before, after)
    spans = (
        None
        if learned is None
        else np.broadcast_to(
            np.asarray(learned, np.float32).reshape(layers, heads, -1).mean(2), (layers, heads)
        )
    )
    return {
        **convert_to_json(run),
        "text": text,
        "given": given,
        "heads": [layers, heads],
        "span": span,
        "ramp": ramp,
        "z": pack_array(np.asarray(z, np.float32), unit=False),
        "forced": pack_array(forced),
        "learned": (
            None
            if spans is None
            else pack_array(np.where(forced, spans, -1).astype(np.float32), unit=False)
        ),
        "before": pack_array(np.asarray(before, np.float32), unit=False),
        "after": pack_array(np.asarray(after, np.float32), unit=False),
        "looks": {"before": look_before, "after": look_after},
        "pick": dict(find_telling_head(z, span, ramp, given, length) if pick is None else pick),
    }


def find_telling_head(z: Array, span: int, ramp: int, given: int, length: int) -> dict[str, object]:
    """Return the selection on arrival: a head and an early character of the written text.

    Among the heads whose mask ends well before S, and so shows what it cuts, it is the one that
    looks farthest on the mean; where the span follows the token, the one whose span is longest at
    that character. z: (layer, head, 1 or position), spans; span: S; ramp: R."""
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


def _check_shapes(z: Array, forced: Flags, length: int, before: Array, after: Array) -> None:
    if z.ndim != 3 or z.shape[2] not in (1, length) or forced.shape != z.shape[:2]:
        raise ValueError(
            f"z {z.shape} and forced {forced.shape} for {length} characters;"
            " expected (layer, head, 1 or position) and (layer, head)"
        )
    if not length:
        raise ValueError("the text has 0 characters; expected one or more")
    if before.ndim != 3 or before.shape[:2] != z.shape[:2] or before.shape != after.shape:
        raise ValueError(
            f"before {before.shape} and after {after.shape} for z {z.shape}; expected"
            " (layer, head, distance)"
        )
