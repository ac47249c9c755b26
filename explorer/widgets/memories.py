"""The folded panel (folded.py) that tells what memory buys: loss against the length of the memory, and where it is felt along the text.

Its value, when shown:

    figures: values of the figure widget, drawn one below the other
    along: a value of the figure widget with two curves, or None where there is nothing to remember; the second is that of a memory
    memories: lengths of the memory; rows: packed (memory, point), the second curve for each of them; told: a sentence for each of them

In the address: memories (open), bmemory (which memory the second curve is of, by its length; as trained to begin with).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import gradio as gr
import numpy as np
from numpy.typing import NDArray

from explorer.packing import pack
from explorer.widgets.base import vendor, widget
from explorer.widgets.folded import ready

Text = Mapping[str, str]
Value = dict[str, object]


def memories(*, title: Text, knob: Text) -> gr.HTML:
    """Place the panel, folded. title: its question; knob: what its slider is called."""
    return widget("memories", ready(), events=("ask",), plotly=vendor("plotly"), title_text=dict(title), knob_text=dict(knob))


def panel(
    figures: Sequence[Value], along: Value | None, memories: Sequence[int], rows: NDArray[np.floating], told: Sequence[Text], trained: int
) -> Value:
    """What the panel draws. rows: (memory, point). trained: the memory in view on arrival. ValueError where sizes do not fit."""
    if along is not None and (len(rows) != len(memories) or len(told) != len(memories) or trained not in memories):
        raise ValueError(f"{len(memories)} memories, {len(rows)} curves, {len(told)} sentences; {trained} is meant to be one of them")
    return {
        "figures": [dict(one) for one in figures],
        "along": along,
        "memories": list(memories),
        "rows": pack(np.asarray(rows, np.float32), unit=False),
        "told": [dict(text) for text in told],
        "trained": trained,
    }
