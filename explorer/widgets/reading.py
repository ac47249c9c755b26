"""The reading widget: the text that one or two models read and wrote, character by character, with the loss of each below it.

The value is made by `explorer.figures.reading.value` or, while a text is read and written, by `growing`. Choosing characters and heads and
replaying happen in the browser; exact weights of a few characters are fetched from the model's own address (`explorer.looks`).
The companion `readside` is the place of the heads and of how far they look, in a narrower column; without it they stand inside the panel.

What is looked at stands in the address: ``pos`` (a character, from 0; "3,9" for several, the last one told of; "none" for no lock),
``model`` (its key) and ``head`` ("2.3", layer and head from 1). What is pointed at is fired as ``hover-pos`` {pos} on the page's bus, None
where nothing is, and a ``hover-pos`` of another widget is previewed here.
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.figures.reading import scales
from explorer.widgets.base import widget


def reading(value: Mapping[str, object] | None = None, *, empty: Mapping[str, str] | None = None) -> gr.HTML:
    """Place the widget. value: from `explorer.figures.reading`, or None while there is nothing to show.

    empty: the sentence that stands there while there is nothing, en and zh.
    """
    return widget("reading", value, scales=scales(), empty=None if empty is None else dict(empty))


def readside() -> gr.HTML:
    """Place the companion of `reading`, in which it draws its heads and how far they look back."""
    return widget("readside")
