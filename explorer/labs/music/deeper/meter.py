"""The panel about memory: what the relative term of one layer takes by the direct formula, by skewing, and here; computed and measured."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from explorer import wiring
from explorer.engine import Engine
from explorer.widgets.folded import Question, Value, shown
from explorer.widgets.meter import WAYS, Measured, memory, meter
from explorer.widgets.newest import Newest

RESULT = Path(__file__).parents[4] / "benchmarks" / "results" / "relative_attention.json"
PEAKS = {"direct": "direct_mb", "skew": "skew_mb", "ours": "extra_mb"}  # by the names that the benchmark gives them


def place(engine: Engine) -> None:
    """Place the panel and answer it; no model is asked."""
    panel = meter()

    async def answer(detail: Any, session: str) -> AsyncGenerator[Value, None]:
        yield shown(Question.of(detail), **memory(measured()))

    panel.ask(wiring.following(Newest(), answer), None, panel, **wiring.HOW)


def measured(result: Path = RESULT) -> Measured | None:
    """The peaks that `python -m benchmarks relative_attention` has kept, in bytes; None where it has not run."""
    if not result.exists():
        return None
    found = json.loads(result.read_text("utf-8"))
    figures = found["figures"]
    return Measured(
        peaks={way: float(figures[PEAKS[way]]) * 1e6 for way in WAYS},
        milliseconds={way: float(figures[f"{way}_ms"]) for way in WAYS},
        device=str(found["device"]),
        threads=int(found["threads"]),
    )
