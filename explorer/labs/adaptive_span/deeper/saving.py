"""The panel about what spans save: positions, operations and bytes of the run in view against the full span, and what was measured."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from explorer.labs.adaptive_span import texts
from explorer.views import View, unfolded
from explorer.widgets import saving as widget
from explorer.widgets.folded import Value
from models.adaptive_span.records import Explanation, Request

GENERATE = "models.adaptive_span.explain:generate"
RESULT = Path(__file__).parents[4] / "benchmarks" / "results" / "adaptive_span.json"

logger = logging.getLogger(__name__)


def measured(result: Path = RESULT) -> dict[str, float] | None:
    """The figures that `python -m benchmarks adaptive_span` has kept; None where it has not run."""
    if not result.exists():
        return None
    found: dict[str, float] = json.loads(result.read_text("utf-8"))["figures"]
    return found


def value(seen: Explanation) -> Value:
    """What the panel draws of a run. What was measured is of the spans as the adaptive model learned them."""
    own = seen.variant == "adaptive" and not seen.forced.any()
    saved = seen.saved
    return widget.value(
        name=texts.NAMES[seen.variant],
        positions=saved.positions,
        full_positions=saved.full_positions,
        long_positions=saved.long_positions,
        full_long_positions=saved.full_long_positions,
        flops=saved.flops,
        full_flops=saved.full_flops,
        other_flops=saved.other_flops,
        cache_bytes=saved.cache_bytes,
        full_cache_bytes=saved.full_cache_bytes,
        measured=measured() if own else None,
    )


PANEL: View[Request, Explanation] = unfolded("saving", widget.saving, lambda found, _question: {"figure": value(found.run)})
