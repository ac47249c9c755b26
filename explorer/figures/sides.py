"""The same characters before and after a change, as a model reads them, for the strips of a panel
(pictures/changedtext.js)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.values.packing import pack_array, record_fields

Text = Mapping[str, str]
Value = dict[str, object]

# nats; two readings of the same characters may differ by this much where nothing was changed
ROUNDING = 1e-3


@dataclass(frozen=True)
class TextSide:
    """One model.

    before, after: (position,) nats of the same characters, as trained and under the change.
    given: the number of given characters, from the first. The rest was written before the change.
    segment: characters read at once, whose borders are drawn; 0 where there are none.
    written: the text that the model writes after the given text, before and after.
    text: those characters; "" where positions are named by their number alone.
    first: the position of the first of them, as the address counts.
    share, unit: the one number before and after, and its unit, in place of mean bits.
    answers: the model's answer before and after, and the correct one, letter by letter, all of one
        length.
    unreached: the remark where the change makes no difference to this model.
    """

    key: str
    name: Text
    before: NDArray[np.floating]
    after: NDArray[np.floating]
    given: int
    segment: int = 0
    written: tuple[str, str] | None = None
    text: str = ""
    unreached: Text | None = None
    first: int = 0
    share: tuple[float, float] | None = None
    unit: Text | None = None
    answers: tuple[str, str, str] | None = None

    def __post_init__(self) -> None:
        count = len(self.before)
        if (
            self.before.shape != (count,)
            or self.after.shape != (count,)
            or not 0 < self.given <= count
            or self.segment < 0
        ):
            raise ValueError(
                f"before {self.before.shape}, after {self.after.shape}, {self.given} given, segment"
                f" {self.segment}"
            )
        if self.text and len(self.text) != count:
            raise ValueError(f"a text of {len(self.text)} characters for {count} positions")
        if self.answers and {len(answer) for answer in self.answers} != {count}:
            raise ValueError(
                f"answers of {[len(answer) for answer in self.answers]} letters for {count}"
                " positions"
            )

    def is_changed(self) -> bool:
        """Return whether the change makes a difference to any character."""
        return bool(np.abs(self.after - self.before).max() > ROUNDING)

    @property
    def measure_bits(self) -> tuple[float, float]:
        """The mean bits of the given text, before and after."""
        before, after = (
            float(nats[: self.given].mean(dtype=np.float64)) / math.log(2)
            for nats in (self.before, self.after)
        )
        return before, after

    @property
    def find_most_bits(self) -> str:
        """The result of `find_most_bits` for this model."""
        return find_most_bits(self.before, self.after)

    def as_json(self) -> Value:
        """Return the side as JSON for the browser."""
        bits = [nats.astype(np.float64) / math.log(2) for nats in (self.before, self.after)]
        before, after = self.share or tuple(float(cost[: self.given].mean()) for cost in bits)
        reached = self.is_changed()
        told = record_fields(self, "share") | {
            "number": {"before": before, "after": after if reached else before},
            "reached": reached,
        }
        if not reached:
            return told | {
                "text": "",
                "before": None,
                "after": None,
                "written": None,
                "answers": None,
            }
        return told | dict(
            zip(("before", "after"), (pack_array(cost, unit=False) for cost in bits), strict=True)
        )


def find_most_bits(before: NDArray[np.floating], after: NDArray[np.floating]) -> str:
    """Return the bits that no character's change exceeds, in hundredths, for a sentence.

    before, after: (position,) nats.
    """
    return f"{math.ceil(float(np.abs(after - before).max()) / math.log(2) * 100) / 100:.2f}"
