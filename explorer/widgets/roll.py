"""The roll widget: what each model made of a motif as piano rolls, heard, with arcs from a note to those that it looked back to.

The value is made by `explorer.figures.roll.value` or, while music is made, by `growing`. Choosing notes and heads, playing and seeking
happen in the browser; exact weights of a few events are fetched from the value's own address (`explorer.looks`), sound from another.
The companion `rollside` is the place of the heads and of how far they look, in a narrower column; without it they stand inside the panel.

What is looked at stands in the address: ``model`` (its key: the roll that is large, and heard), ``head`` ("3.4", layer and head from 1),
``note`` (index, "3,9" for several, the last one told of; "none" for no lock) and ``motifs`` ("1": motifs that come back are bracketed).
A shift-click on a head fires ``silence`` {model, layer, head} on the page's bus, both numbers from 0.
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.figures.roll import scales
from explorer.widgets.base import widget


def roll(value: Mapping[str, object] | None = None, *, empty: Mapping[str, str] | None = None) -> gr.HTML:
    """Place the widget. value: from `explorer.figures.roll`, or None while there is nothing to show.

    empty: the sentence that stands there while there is nothing, en and zh.
    """
    return widget("roll", value, scales=scales(), empty=None if empty is None else dict(empty))


def rollside() -> gr.HTML:
    """Place the companion of `roll`, in which the roll draws its heads and how far they look."""
    return widget("rollside")
