"""A picture before and after a change, as a model makes it, for the pictures of a panel
(pictures/changedpixels.js)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.values.packing import record_fields

Text = Mapping[str, str]
Value = dict[str, object]


@dataclass(frozen=True)
class PicturePair:
    """One model's picture before and after, levels of one shape (row, column[, channel]), and the
    cost of the picture before.

    key: that of the model.
    numbers: that cost as trained, and read under the change: bits/dim, or the nats of a whole
        digit.
    more: the increase in cost of each pixel of the picture before, (row, column); a further
        picture, on the signed scale. None for no picture.
    Raise ValueError where shapes do not fit.
    """

    key: str
    before: NDArray[np.uint8]
    after: NDArray[np.uint8]
    numbers: tuple[float, float]
    more: NDArray[np.floating] | None = None

    def __post_init__(self) -> None:
        if self.before.shape != self.after.shape:
            raise ValueError(
                f"before {self.before.shape} and after {self.after.shape} are pictures of one shape"
            )
        if self.more is not None and self.more.shape != self.before.shape[:2]:
            raise ValueError(
                f"a map {self.more.shape} of a picture of {self.before.shape[:2]} pixels"
            )

    def as_json(self) -> Value:
        """Return the pair as JSON for the browser."""
        return record_fields(self, "numbers") | {
            "number": dict(zip(("before", "after"), self.numbers, strict=True))
        }


@dataclass(frozen=True)
class Measure:
    """The measured quantity of pictures.

    label: the meaning of the number.
    key: its name among the exported arrays.
    unit: that of each pixel's part in it.
    raster: whether pixels are made row by row, so that hovering over one previews the position `row
        × columns + column` in the other views.
    """

    label: Text
    key: str = "bits_per_dim"
    unit: Text | None = None
    raster: bool = False
