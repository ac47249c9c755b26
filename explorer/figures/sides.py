"""The same characters before and after a change, as a model reads them: what the strips of a panel draw (pictures/changedtext.js)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.packing import pack, record

Text = Mapping[str, str]
Value = dict[str, object]

ROUNDING = 1e-3  # nats; what two readings of the same characters may differ by where nothing was changed


@dataclass(frozen=True)
class Side:
    """One model. before, after: (position,) nats of the same characters, as trained and under the change.

    given: how many of them were given, from the first; what follows was written before the change. segment: characters read at once, whose
    borders are drawn; 0 where there are none. written: what the model writes after the given text, before and after.
    text: those characters; "" where positions are to be told by their number alone. first: the position, as the address counts them, of the
    first of them. share, unit: the one number before and after, and what it counts, in place of mean bits. answers: what the model says
    before and after, and what is right, letter by letter, as long as each other.
    unreached: said where the change makes no difference to this model.
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
        if self.before.shape != (count,) or self.after.shape != (count,) or not 0 < self.given <= count or self.segment < 0:
            raise ValueError(f"before {self.before.shape}, after {self.after.shape}, {self.given} given, segment {self.segment}")
        if self.text and len(self.text) != count:
            raise ValueError(f"a text of {len(self.text)} characters for {count} positions")
        if self.answers and {len(answer) for answer in self.answers} != {count}:
            raise ValueError(f"answers of {[len(answer) for answer in self.answers]} letters for {count} positions")

    def reached(self) -> bool:
        """Does the change make a difference to any character?"""
        return bool(np.abs(self.after - self.before).max() > ROUNDING)

    @property
    def bits(self) -> tuple[float, float]:
        """Mean bits of what was given, before and after."""
        before, after = (float(nats[: self.given].mean(dtype=np.float64)) / math.log(2) for nats in (self.before, self.after))
        return before, after

    @property
    def most(self) -> str:
        """As of `most_bits`."""
        return most_bits(self.before, self.after)

    def spelled(self) -> Value:
        """As the browser takes it."""
        bits = [nats.astype(np.float64) / math.log(2) for nats in (self.before, self.after)]
        before, after = self.share or tuple(float(cost[: self.given].mean()) for cost in bits)
        reached = self.reached()
        told = record(self, "share") | {"number": {"before": before, "after": after if reached else before}, "reached": reached}
        if not reached:
            return told | {"text": "", "before": None, "after": None, "written": None, "answers": None}
        return told | dict(zip(("before", "after"), (pack(cost, unit=False) for cost in bits), strict=True))


def most_bits(before: NDArray[np.floating], after: NDArray[np.floating]) -> str:
    """Bits that no character's change exceeds, in hundredths, for a sentence. before, after: (position,) nats."""
    return f"{math.ceil(float(np.abs(after - before).max()) / math.log(2) * 100) / 100:.2f}"
