"""The surprise widget: a picture, and what each model paid for each of its pixels, in bits.

The value is made by `explorer.figures.image.surprise` or `no_surprise`. Everything happens in the browser; the pixel that is locked
stands in the address as ``bit`` ("18,20": row and column from 0).
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.figures.image import scales
from explorer.widgets.base import widget


def surprise(value: Mapping[str, object] | None = None) -> gr.HTML:
    """Place the widget. value: from `explorer.figures.image.surprise`, or None while there is nothing to show."""
    return widget("surprise", value, scales=scales())
