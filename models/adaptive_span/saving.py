"""The savings of spans, computed from the spans alone, without torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.adaptive_span.records import Array, Saved
from models.explaining.arrays import freeze


@dataclass(frozen=True)
class Shape:
    """The shape of a network: S, R, widths, layers and kinds of characters."""

    span: int
    ramp: int
    d_model: int
    d_ff: int
    n_heads: int
    n_layers: int
    kinds: int


def reaches(z: Array, shape: Shape) -> NDArray[np.float64]:
    """Return the positions to which each head attends in a long text, min(S, ⌈z + R⌉), in the shape
    of z."""
    found: NDArray[np.float64] = np.minimum(
        shape.span, np.maximum(1, np.ceil(z.astype(np.float64) + shape.ramp))
    )
    return found


def measure_saving(z: Array, remembered: Array, shape: Shape, length: int) -> Saved:
    """Return the savings of a run of `length` characters.

    z: spans, (layer, head, 1 or position). remembered: the longest possible span of each head, S if
    it follows the token, (layer, head).
    """
    ever = np.arange(1, length + 1)
    reach = reaches(z, shape)
    full = np.minimum(ever, shape.span).mean()
    long_run = reach.mean(2)
    d_head = shape.d_model // shape.n_heads
    each = 6 * d_head  # a product and a sum for each element of q · k, q · p and a · v
    total = shape.n_heads * shape.n_layers * shape.span
    matrices = (
        shape.n_layers * (4 * shape.d_model**2 + 2 * shape.d_model * shape.d_ff)
        + shape.d_model * shape.kinds
    )
    of_a_position = 2 * d_head * 4  # bytes of a key and a value
    return Saved(
        positions=freeze(np.minimum(ever, reach).mean(2)),
        full_positions=float(full),
        long_positions=freeze(long_run),
        full_long_positions=shape.span,
        flops=float(each * long_run.sum()),
        full_flops=float(each * total),
        other_flops=float(2 * matrices),
        cache_bytes=int(reaches(remembered, shape).sum()) * of_a_position,
        full_cache_bytes=total * of_a_position,
    )
