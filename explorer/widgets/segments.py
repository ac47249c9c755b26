"""The segments widget: a text on one axis, layer over layer; what is computed now, what is remembered, and how far information travels.

The value is made by `explorer.figures.segments.value` or, while a text is being read, by `growing`. Everything happens in the browser;
exact weights of a few positions are fetched from the value's own address (`explorer.looks`).

What is looked at stands in the address: ``model`` (its key), ``head`` ("3.2", layer and head from 1; "mean" for the mean of each layer's
heads), ``pos`` (a character, from 0; "3,9" for several, the last one told of; "none" for no lock). While the pointer is over a position the
page's bus says ``hover-pos`` {pos}, and what others say of it is previewed here.
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.widgets.base import widget


def segments(value: Mapping[str, object] | None = None, *, empty: Mapping[str, str] | None = None) -> gr.HTML:
    """Place the widget. value: from `explorer.figures.segments`, or None while there is nothing to show.

    empty: the sentence that stands there while there is nothing, en and zh.
    """
    return widget("segments", value, empty=None if empty is None else dict(empty))
