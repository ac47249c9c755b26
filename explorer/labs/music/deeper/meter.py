"""The panel about memory: what the relative term of one layer takes by the direct formula, by skewing, and here; computed and measured."""

from __future__ import annotations

import json
from pathlib import Path

from explorer.views import View, unfolded
from explorer.widgets.meter import WAYS, Measured, memory, meter
from models.music.records import Explanation, Request

RESULT = Path(__file__).parents[4] / "benchmarks" / "results" / "relative_attention.json"
PEAKS = {"direct": "direct_mb", "skew": "skew_mb", "ours": "extra_mb"}  # by the names that the benchmark gives them


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


PANEL: View[Request, Explanation] = unfolded("meter", meter, lambda _found, _question: memory(measured()), needs="request")
