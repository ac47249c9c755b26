"""A picture before and after a change, as a model makes it: what the pictures of a panel draw (pictures/changedpixels.js)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.packing import record

Text = Mapping[str, str]
Value = dict[str, object]


@dataclass(frozen=True)
class Pair:
    """One model's picture before and after, levels of one shape (row, column[, channel]), and what the picture before costs.

    key: of the model. numbers: that cost as trained, and read under the change: bits/dim, or the nats of a whole digit.
    more: (row, column) how much dearer each pixel of the picture before became; a further picture, on the signed scale. None for none.
    ValueError where shapes do not fit.
    """

    key: str
    before: NDArray[np.uint8]
    after: NDArray[np.uint8]
    numbers: tuple[float, float]
    more: NDArray[np.floating] | None = None

    def __post_init__(self) -> None:
        if self.before.shape != self.after.shape:
            raise ValueError(f"before {self.before.shape} and after {self.after.shape} are pictures of one shape")
        if self.more is not None and self.more.shape != self.before.shape[:2]:
            raise ValueError(f"a map {self.more.shape} of a picture of {self.before.shape[:2]} pixels")

    def spelled(self) -> Value:
        """As the browser takes it."""
        return record(self, "numbers") | {"number": dict(zip(("before", "after"), self.numbers, strict=True))}


@dataclass(frozen=True)
class Measure:
    """What is measured of pictures. label: what the number counts; key: its name among the arrays that are taken along. unit: of each
    pixel's part in it. raster: pixels are made row by row, so that one pointed at is previewed as the position `row × columns + column` by
    the other views."""

    label: Text
    key: str = "bits_per_dim"
    unit: Text | None = None
    raster: bool = False
