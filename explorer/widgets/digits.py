"""The digits widget: one digit made by several models side by side, what a head looked at for each pixel, and what every head looks at.

The value is made by `explorer.figures.digits.value` or, while the models work, by `growing`. Replay, other pixels, patterns and the mean
looks of all heads need no server; exact weights of a pixel are fetched from the addresses in the value (`explorer.looks`).

What is looked at stands in the address: ``model``, ``head`` ("2.3", layer and head from 1) and ``pos`` ("412", several "3,9", "none") are
shared with other widgets; its own are ``digitsroll`` ("2": attention multiplied through so many layers, in place of a head),
``digitssee`` ("surprise": each pixel in the colour of its nats), ``digitsghost`` ("1": the outline of the digit that was given) and
``digitswhole`` ("1": the digits as they were made, no pixel locked). It fires and follows ``hover-pos`` {pos: 412 or null}.
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.figures.digits import scales
from explorer.widgets.base import widget


def digits(value: Mapping[str, object] | None = None, *, empty: Mapping[str, str] | None = None) -> gr.HTML:
    """Place the widget. value: from `explorer.figures.digits`, or None while there is nothing to show.

    empty: the sentence that stands there while there is nothing, en and zh.
    """
    return widget("digits", value, scales=scales(), empty=None if empty is None else dict(empty))
