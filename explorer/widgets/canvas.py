"""The canvas widget: an image that grows value by value and can be scrubbed back and forth without running again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import gradio as gr
import numpy as np
from numpy.typing import NDArray

from explorer.packing import pack
from explorer.widgets.base import widget


def value(
    image: NDArray[np.generic],
    *,
    title: Mapping[str, str],
    sentence: Mapping[str, str],
    made: int | None = None,
    order: NDArray[np.integer] | None = None,
    scale: Sequence[tuple[float, str]] | None = None,
    limits: tuple[float, float] = (0.0, 1.0),
    pixelated: bool = True,
    name: str = "image",
) -> dict[str, object]:
    """What the widget draws, as JSON.

    image: (row, column) of values between `limits`, or (row, column, 3) of colours in [0, 1].
    made: how many pixels exist so far, all if left out; the others are drawn as not made. order: (pixel,) flat positions in the order of
    making, raster order if left out. scale: colour stops for (row, column); grey if left out. pixelated: crisp pixels, no smoothing.
    """
    if image.ndim not in {2, 3} or (image.ndim == 3 and image.shape[2] != 3):
        raise ValueError(f"an image {image.shape}; (row, column) or (row, column, 3) is drawn")
    pixels = int(image.shape[0] * image.shape[1])
    if order is not None and sorted(order.tolist()) != list(range(pixels)):
        raise ValueError(f"an order of {len(order)} positions for {pixels} pixels; each stands in it once")
    if made is not None and not 0 <= made <= pixels:
        raise ValueError(f"{made} pixels made of {pixels}")
    low, high = limits
    share = (image.astype(np.float32) - low) / (high - low)
    return {
        "image": pack(np.clip(share, 0, 1)),
        "order": None if order is None else pack(order),
        "made": pixels if made is None else made,
        "scale": [[at, colour] for at, colour in scale or ((0, "#000000"), (1, "#ffffff"))],
        "limits": [low, high],
        "pixelated": pixelated,
        "title": dict(title),
        "sentence": dict(sentence),
        "name": name,
    }


def canvas(value: Mapping[str, object] | None = None, *, longest: int = 392) -> gr.HTML:
    """Place the widget. longest: the longer side of the drawn image, in pixels of the page.

    Space plays, left and right step; the pixel at the cursor stands in the address as ``at``.
    """
    return widget("canvas", value, longest=longest)
