"""The attention widget: every layer and head as a small picture, one of them large, and the sentence that says what it shows.

The value is made by `explorer.figures.attention.value`. Everything a visitor does here happens in the browser; nothing is
sent to the server. What is looked at stands in the address: ``kind``, ``head`` ("3.5", counted from 1), ``stat`` ("mean", "max" or
"rollout" in place of a head), ``row`` and ``col`` (from 0; "9,10" for several, "none" for no lock), ``by`` ("to" or "by") and ``thr``.
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.figures.attention import skeleton
from explorer.widgets.base import vendor, widget


def attention(value: Mapping[str, object] | None = None, *, empty: Mapping[str, str] | None = None) -> gr.HTML:
    """Place the widget. value: from `explorer.figures.attention.value`, or None while there is nothing to show.

    empty: the sentence that stands there while there is nothing, en and zh.
    """
    return widget("attention", value, figure=skeleton(), plotly=vendor("plotly"), empty=None if empty is None else dict(empty))
