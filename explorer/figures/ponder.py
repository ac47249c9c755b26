"""Adaptive computation for the ponder widget, as JSON.

A position (or input) is updated step by step. After each step its halting unit gives h_n, and it
stops at N, the first step at which h_1 + … + h_n reaches 1 − ε, or at the limit M (Graves, 2016,
eqs. 5 to 8). Its output weighs the states by p_n = h_n before N and by the remainder R = 1 − (h_1 +
… + h_{N−1}) at N.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.values.packing import convert_to_json

Numbers = NDArray[np.floating]
Whole = NDArray[np.integer]
Text = Mapping[str, str]
Value = dict[str, object]

ENOUGH, LIMIT, FORCED = "enough", "limit", "forced"  # why a position stopped
NUMBERS = ("remainder", "halting", "weights", "totals", "distance")
ROUNDING = 1e-5  # of sums of single-precision numbers


def draw_ponder(
    explanation: Any,
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
    """Return one run: `models.adaptive_computation.records.Thinking`, or any value with the same
    parts.

    state: "stored", "live" or "stale".
    query: the permalink of the request.
    positions: the content of each, a letter or a whole sentence.
    axis: the name of a position, "position" or "input".
    say: the answer as a visitor reads it.
    forced: the forced number of steps of every position, 0 where each stopped by itself.
    marks: indices of the positions that the answer needs, for example facts of a story.
    pick: the position locked on arrival, by default from `find_telling_position`.
    Raise ValueError where shapes or indices do not fit together.
    """
    count, most = len(positions), len(explanation.stopped)
    for name in ("steps", *NUMBERS):
        shape = (count,) if name in {"steps", "remainder"} else (most, count)
        if getattr(explanation, name).shape != shape:
            raise ValueError(
                f"{name} of shape {getattr(explanation, name).shape} for {count} positions and"
                f" {most} steps; expected {shape}"
            )
    if not count or int(explanation.steps.max()) != most or int(explanation.steps.min()) < 1:
        raise ValueError(
            f"{count} positions that take {explanation.steps.tolist()} steps, while {most} steps"
            " are told"
        )
    outside = [
        index
        for index in (*explanation.wanted, *marks, *(() if pick is None else (pick,)))
        if not 0 <= index < count
    ]
    if outside:
        raise ValueError(f"positions {outside} of {count}")
    answer, right = say(explanation.answer), say(explanation.expected)
    told = {
        **{name: np.asarray(getattr(explanation, name), np.float32) for name in NUMBERS},
        **{name: getattr(explanation, name) for name in ("wanted", "threshold", "limit")},
        "state": state,
        "query": query,
        "positions": positions,
        "axis": axis,
        "forced": forced,
        "marks": marks,
        "steps": explanation.steps.tolist(),
        "reasons": find_reasons(
            explanation.steps, explanation.halting, explanation.threshold, explanation.limit, forced
        ),
        "stopped": [
            {"answer": each, "right": each == right} for each in map(say, explanation.stopped)
        ],
        "answer": answer,
        "expected": right,
        "right": answer == right,
        # Where each wanted position gives one sign of the answer, single wrong signs can be told
        # apart.
        "signs": len(explanation.wanted) > 1,
        "pick": (
            find_telling_position(explanation.steps, explanation.remainder, explanation.wanted)
            if pick is None
            else pick
        ),
    }
    return dict(convert_to_json(told))


def find_reasons(
    steps: Whole, halting: Numbers, threshold: float, limit: int, forced: int = 0
) -> list[str]:
    """Return why each position stopped: it was forced to ("forced"), its sum had reached 1 − ε
    ("enough"), or it came to the limit M.

    steps: (P,) N.
    halting: (S, P) h_n, 0 once a position has stopped.
    threshold: 1 − ε.
    """
    if forced:
        return [FORCED] * len(steps)
    sums = np.asarray(halting, np.float64).sum(0)
    return [
        LIMIT if int(n) >= limit and total < threshold - ROUNDING else ENOUGH
        for n, total in zip(steps, sums, strict=True)
    ]


def find_telling_position(steps: Whole, remainder: Numbers, wanted: Sequence[int]) -> int:
    """Return the position with the largest N + R: of those where the answer is read, or of all
    where these all take a single step."""
    cost = np.asarray(steps, np.float64) + np.asarray(remainder, np.float64)
    asked = [int(index) for index in wanted if steps[index] > 1]
    return max(asked, key=lambda index: float(cost[index])) if asked else int(cost.argmax())
