"""Thinking until it is enough: what the ponder widget draws, as JSON.

A position (or input) is updated step by step; after each step its halting unit gives h_n, and it stops at N, the first step at which
h_1 + … + h_n reaches 1 − ε, or at the limit M (Graves, 2016, eqs. 5 to 8). Its output weighs the states by p_n = h_n before N and by the
remainder R = 1 − (h_1 + … + h_{N−1}) at N.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.packing import pack

Numbers = NDArray[np.floating]
Whole = NDArray[np.integer]
Text = Mapping[str, str]
Value = dict[str, object]

ENOUGH, LIMIT, FORCED = "enough", "limit", "forced"  # why a position stopped
ROUNDING = 1e-5  # of sums of single-precision numbers


def value(
    *,
    state: str,
    query: str,
    positions: Sequence[str],
    wanted: Sequence[int],
    steps: Whole,
    remainder: Numbers,
    halting: Numbers,
    weights: Numbers,
    totals: Numbers,
    distance: Numbers,
    stopped: Sequence[str | Text],
    answer: str | Text,
    expected: str | Text,
    threshold: float,
    limit: int,
    axis: Text,
    forced: int = 0,
    marks: Sequence[int] = (),
    pick: int | None = None,
) -> Value:
    """One run. P positions, S steps, the most that any of them took.

    state: "stored", "live" or "stale". query: the permalink of the request.
    positions: (P,) what stands at each, a letter or a whole sentence. wanted: where the answer is read; marks: the positions that the
    answer needs, such as facts of a story; both indices.
    steps: (P,) N. remainder: (P,) R. halting: (S, P) h_n, weights: (S, P) p_n, both 0 once a position has stopped. totals: (S, P)
    h_1 + … + h_n, at most 1, and 1 from N on. distance: (S, P) ‖s_n − s_N‖/√d, 0 from N on.
    stopped: (S,) the answer if everything stopped after that step. answer, expected: of this run, and the right one.
    threshold: 1 − ε. limit: M. forced: steps that every position was made to take, 0 where each stopped by itself.
    axis: what a position is called, "position" or "input". pick: the position locked on arrival; left out, one is found by `telling`.
    Raises ValueError where shapes or indices do not fit together.
    """
    count, most = len(positions), len(stopped)
    for name, array, shape in (
        ("steps", steps, (count,)),
        ("remainder", remainder, (count,)),
        ("halting", halting, (most, count)),
        ("weights", weights, (most, count)),
        ("totals", totals, (most, count)),
        ("distance", distance, (most, count)),
    ):
        if array.shape != shape:
            raise ValueError(f"{name} of shape {array.shape} for {count} positions and {most} steps; {shape} is meant")
    if not count or int(steps.max()) != most or int(steps.min()) < 1:
        raise ValueError(f"{count} positions that take {steps.tolist()} steps, while {most} steps are told")
    outside = [index for index in (*wanted, *marks, *(() if pick is None else (pick,))) if not 0 <= index < count]
    if outside:
        raise ValueError(f"positions {outside} of {count}")
    chosen = telling(steps, remainder, wanted) if pick is None else pick
    right = _plain(expected)
    return {
        "state": state,
        "query": query,
        "axis": dict(axis),
        "positions": list(positions),
        "wanted": [int(index) for index in wanted],
        "marks": [int(index) for index in marks],
        "steps": [int(each) for each in steps],
        "reasons": reasons(steps, halting, threshold, limit, forced),
        "remainder": pack(np.asarray(remainder, np.float32), unit=False),
        "halting": pack(np.asarray(halting, np.float32), unit=False),
        "weights": pack(np.asarray(weights, np.float32), unit=False),
        "totals": pack(np.asarray(totals, np.float32), unit=False),
        "distance": pack(np.asarray(distance, np.float32), unit=False),
        "stopped": [{"answer": _plain(each), "right": _plain(each) == right} for each in stopped],
        "answer": _plain(answer),
        "expected": right,
        "right": _plain(answer) == right,
        # Where each wanted position gives one sign of the answer, single wrong signs can be told apart.
        "signs": len(wanted) > 1,
        "threshold": float(threshold),
        "limit": int(limit),
        "forced": int(forced),
        "pick": int(chosen),
    }


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


def _plain(text: str | Text) -> str | dict[str, str]:
    return text if isinstance(text, str) else dict(text)
