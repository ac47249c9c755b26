"""The spans widget: a picture grows pixel by pixel, in rows and in tiles side by side, and any pixel shows what it could look at.

The value is made by `explorer.figures.image.value` or, while a picture grows, by `growing`. Stepping, playing, other pixels and other
heads happen in the browser. Only the weights of a layer that was not looked at yet are asked for: the event ``look`` carries {query,
pattern, layer, picture}, and the companion widget `looked` brings `image.looked` (or `image.unseen`). Weights are those of the first
picture.

What is looked at stands in the address: ``pattern`` ("local_1d", "local_2d"), ``head`` ("4.2", layer and head from 1), ``pos`` (place in
the order of making, from 0; "none" for no lock), ``whole`` ("1": later pixels are drawn in full), ``pic`` (from 1) and ``field`` (from 1:
instead of weights, what the pixel knows of through so many layers). A shift-click on a head fires ``silence`` {kind, layer, head}, from 0.
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.figures.image import scales
from explorer.widgets.base import widget


def spans(value: Mapping[str, object] | None = None, *, empty: Mapping[str, str] | None = None) -> gr.HTML:
    """Place the widget. value: from `explorer.figures.image`, or None while there is nothing to show.

    empty: the sentence that stands there while there is nothing, en and zh.
    """
    return widget("spans", value, events=("look",), scales=scales(), empty=None if empty is None else dict(empty))


def looked(value: Mapping[str, object] | None = None) -> gr.HTML:
    """Place the companion of `spans`, which draws nothing: weights of a layer arrive through it (`explorer.figures.image.looked`)."""
    return widget("looked", value)
