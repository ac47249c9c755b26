"""Thinking until it is enough: what the ponder widget draws, as JSON.

A position (or input) is updated step by step; after each step its halting unit gives h_n, and it stops at N, the first step at which
h_1 + … + h_n reaches 1 − ε, or at the limit M (Graves, 2016, eqs. 5 to 8). Its output weighs the states by p_n = h_n before N and by the
remainder R = 1 − (h_1 + … + h_{N−1}) at N.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.packing import spelled

Numbers = NDArray[np.floating]
Whole = NDArray[np.integer]
Text = Mapping[str, str]
Value = dict[str, object]

ENOUGH, LIMIT, FORCED = "enough", "limit", "forced"  # why a position stopped
NUMBERS = ("remainder", "halting", "weights", "totals", "distance")
ROUNDING = 1e-5  # of sums of single-precision numbers


def value(
    seen: Any,
    *,
    state: str,
    query: str,
    positions: Sequence[str],
    axis: Text,
    say: Callable[[str], str | Text],
    forced: int = 0,
    marks: Sequence[int] = (),
    pick: int | None = None,
) -> Value:
    """One run: `models.thinking.Thinking`, or whatever has the same parts.

    state: "stored", "live" or "stale". query: the permalink of the request. positions: what stands at each, a letter or a whole sentence.
    axis: what a position is called, "position" or "input". say: an answer as a visitor reads it.
    forced: steps that every position was made to take, 0 where each stopped by itself. marks: indices of the positions that the answer
    needs, such as facts of a story. pick: the position locked on arrival; left out, one is found by `telling`.
    Raises ValueError where shapes or indices do not fit together.
    """
    count, most = len(positions), len(seen.stopped)
    for name in ("steps", *NUMBERS):
        shape = (count,) if name in {"steps", "remainder"} else (most, count)
        if getattr(seen, name).shape != shape:
            raise ValueError(f"{name} of shape {getattr(seen, name).shape} for {count} positions and {most} steps; {shape} is meant")
    if not count or int(seen.steps.max()) != most or int(seen.steps.min()) < 1:
        raise ValueError(f"{count} positions that take {seen.steps.tolist()} steps, while {most} steps are told")
    outside = [index for index in (*seen.wanted, *marks, *(() if pick is None else (pick,))) if not 0 <= index < count]
    if outside:
        raise ValueError(f"positions {outside} of {count}")
    answer, right = say(seen.answer), say(seen.expected)
    told = {
        **{name: np.asarray(getattr(seen, name), np.float32) for name in NUMBERS},
        **{name: getattr(seen, name) for name in ("wanted", "threshold", "limit")},
        "state": state,
        "query": query,
        "positions": positions,
        "axis": axis,
        "forced": forced,
        "marks": marks,
        "steps": seen.steps.tolist(),
        "reasons": reasons(seen.steps, seen.halting, seen.threshold, seen.limit, forced),
        "stopped": [{"answer": each, "right": each == right} for each in map(say, seen.stopped)],
        "answer": answer,
        "expected": right,
        "right": answer == right,
        # Where each wanted position gives one sign of the answer, single wrong signs can be told apart.
        "signs": len(seen.wanted) > 1,
        "pick": telling(seen.steps, seen.remainder, seen.wanted) if pick is None else pick,
    }
    return dict(spelled(told))


def reasons(steps: Whole, halting: Numbers, threshold: float, limit: int, forced: int = 0) -> list[str]:
    """Why each position stopped: it had been told to ("forced"), its sum had reached 1 − ε ("enough"), or it came to the limit M.

    steps: (P,) N. halting: (S, P) h_n, 0 once a position has stopped. threshold: 1 − ε.
    """
    if forced:
        return [FORCED] * len(steps)
    sums = np.asarray(halting, np.float64).sum(0)
    return [LIMIT if int(n) >= limit and total < threshold - ROUNDING else ENOUGH for n, total in zip(steps, sums, strict=True)]


def telling(steps: Whole, remainder: Numbers, wanted: Sequence[int]) -> int:
    """The position that thinks longest, N + R: of those where the answer is read, or of all where these all take a single step."""
    cost = np.asarray(steps, np.float64) + np.asarray(remainder, np.float64)
    asked = [int(index) for index in wanted if steps[index] > 1]
    return max(asked, key=lambda index: float(cost[index])) if asked else int(cost.argmax())
