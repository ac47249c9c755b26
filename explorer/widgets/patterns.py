"""The patterns widget: full, strided and fixed attention as in the paper's figure 3 (Child et al., 2019), on an image and as matrices.

Everything is computed in the browser (lib/patternmath.js, which holds to models/layers/patterns.py): what each position attends to, over
how many steps it is reached, by search over all positions, and how many pairs that takes. Nothing is fetched, and there are no events.

In the address: ``pattern`` ("full", "strided", "fixed": the one in view), ``patternpos`` (the position that asks), ``patternto`` (an
earlier one, from which a path is drawn; "none" for no path), ``patternside`` (6 … 28), ``patternstride``, ``patternsummary``,
``patternuse`` ("interleaved", "merged", "split"). Without a stride it is the side, as in the paper l ≈ √L.
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.widgets.base import widget

SIDES = (6, 28)  # rows and columns of the image, least and most


def patterns(value: Mapping[str, object] | None = None, *, trained: Mapping[str, object]) -> gr.HTML:
    """Place the widget.

    value: {"pick": {"pattern", "pos", "to", "side", "stride", "summary", "use"}}, each left out at will: what stands there before anybody
        chose; None for the image of 12 × 12.
    trained: what the models of the page attend with: {"side", "stride", "summary"}, and {"layers", "heads", "use"}, which are
        4, 4 and "merged" where left out.
    Raises ValueError where these make no pattern.
    """
    side, stride, summary = (trained.get(name) for name in ("side", "stride", "summary"))
    whole = isinstance(side, int) and isinstance(stride, int) and isinstance(summary, int)
    if not whole or not SIDES[0] <= side <= SIDES[1] or not 1 <= summary <= stride <= side * side:  # type: ignore[operator]
        raise ValueError(f"side {side}, stride {stride}, {summary} summary columns: expected {SIDES[0]} ≤ side ≤ {SIDES[1]}, 1 ≤ c ≤ l ≤ L")
    known = {"layers": 4, "heads": 4, "use": "merged"}
    return widget("patterns", value, trained={**known, **trained}, sides=list(SIDES))
