"""How a translation was searched for: a folded panel (folded.py) with the tree of hypotheses, step by step.

Its wish is {"beam": 1 to 8, "endless": is the stop token forbidden?} or None for the search of the run; its value, when shown, has one
entry per node of the tree (models/translation/search_records.py), node 0 the root:

    pieces, space, parent, step, rank, logp, total; fate: 0 kept, 1 finished, 2 passed over; stop: log p or None
    texts: {number of a finished node: its translation}; greedy: nodes
    beam, limit, endless, greedyText, greedyTotal, greedyLength; loop: [begin, period] or None
    alpha: of the run; plainBeam: of the run

In the address: ``beam`` (open), ``btree`` ("4", "4.endless"), ``bstep``, ``bnode``, ``balpha``.
"""

from __future__ import annotations

import gradio as gr

from explorer.widgets.base import widget
from explorer.widgets.folded import ready


def beam() -> gr.HTML:
    """Place the panel, folded."""
    return widget("beam", ready(), events=("ask",))
