"""The masks widget: how far each head looks, as bars of layers and heads, and the soft mask of one, whose span can be dragged.

The value is made by `explorer.figures.masks.value` or, while a run is under way, by `growing`. Looking, dragging and the new mask happen in
the browser; exact weights of a character are fetched from the value's own addresses (`explorer.looks`).

In the address: ``head`` ("2.3", layer and head from 1), ``pos`` (the locked character, "412"; "3,9" for several, the last one told of;
"none" for no lock) and ``masksaxis`` ("log": distances on a logarithmic axis). Hovering a character fires ``hover-pos`` {pos} on the
page's bus, and follows it. Once a drag rests, it wishes for the run in view with its ``spans`` changed.
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.widgets.base import widget


def masks(value: Mapping[str, object] | None = None, *, empty: Mapping[str, str] | None = None) -> gr.HTML:
    """Place the widget. value: from `explorer.figures.masks`, or None while there is nothing to show.

    empty: the sentence that stands there while there is nothing, en and zh.
    """
    return widget("masks", value, empty=None if empty is None else dict(empty))
