"""Runs of adaptive span with numbers of a fixed seed, for tests of its figures: heads of low layers
look near, one of the last far."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.labs.adaptive_span.figures import masks
from models.adaptive_span.records import Explanation, page
from models.adaptive_span.saving import Shape, measure_saving
from models.adaptive_span.weights import Overview, overview

SPAN, RAMP, GIVEN, LENGTH = 512, 32, 560, 700
LEARNED = np.array(
    [
        [0.0, 2.4, 0.0, 5.1],
        [1.0, 15.0, 0.0, 38.2],
        [7.3, 64.9, 12.0, 151.7],
        [24.5, 96.0, 233.4, 479.0],
    ],
    np.float32,
)
WIDTH = 8
SHAPE = Shape(SPAN, RAMP, 4 * WIDTH, 16 * WIDTH, 4, 4, 60)
NAMES = {
    "adaptive": {"en": "Adaptive span", "zh": "自适应跨度"},
    "dynamic": {"en": "Dynamic span", "zh": "动态跨度"},
}


def text(length: int = LENGTH) -> str:
    """The beginning of a page, with an emoji, a letter of another script and a sign that markup
    would take for its own."""
    found = list(page("letter")[:length])
    found[-60], found[-50], found[-40] = "😀", "文", "<"
    return "".join(found)


def spans(
    variant: str, forced: tuple[tuple[int, int, float], ...], length: int
) -> NDArray[np.float32]:
    """(layer, head, 1 or position): as learned, along the text for "dynamic", and as forced."""
    z = LEARNED[..., None].copy()
    if variant == "dynamic":
        spaces = np.array([letter in " \n" for letter in text(length)])
        along = np.clip(
            0.35 + 0.4 * np.sin(np.arange(length) / 23) + 0.7 * np.roll(spaces, 1), 0.05, 1.9
        )
        z = np.minimum(SPAN, z * along.astype(np.float32))
    for layer, head, one in forced:
        z[slice(None) if layer < 0 else layer, slice(None) if head < 0 else head] = one
    return z.astype(np.float32)


@cache
def run(
    variant: str = "adaptive", forced: tuple[tuple[int, int, float], ...] = (), length: int = LENGTH
) -> Explanation:
    """What a network with random numbers would hand over."""
    generator = np.random.default_rng(5)
    shape = (4, 4, length, WIDTH)
    queries, keys = (generator.normal(size=shape) * 0.8 for _ in range(2))
    queries[..., 0] = (
        np.linspace(9, 2.2, 16).reshape(4, 4, 1) + generator.normal(size=shape[:3]) * 0.2
    )
    table = generator.normal(size=(4, min(SPAN, length), WIDTH)) * 0.25
    table[..., 0] = -np.log1p(np.arange(min(SPAN, length))) * 0.9
    keys[..., 0] = 0
    z = spans(variant, forced, length)
    asked = np.zeros((4, 4), np.bool_)
    for layer, head, _ in forced:
        asked[slice(None) if layer < 0 else layer, slice(None) if head < 0 else head] = True
    ever = np.full((4, 4, 1), SPAN, np.float32) if variant == "dynamic" else z
    return Explanation(
        variant=variant,
        text=text(length),
        given=min(GIVEN, length),
        nats=generator.random(length).astype(np.float32),
        unknown=np.zeros(length, np.bool_),
        z=z,
        forced=asked,
        learned=LEARNED.astype(np.float32),
        span=SPAN,
        ramp=RAMP,
        beside=(),
        saved=measure_saving(z, ever, SHAPE, length),
        queries=queries.astype(np.float16),
        keys=keys.astype(np.float16),
        table=table.astype(np.float16),
    )


def whole(seen: Explanation) -> Overview:
    """Its mean weights by distance."""
    return overview(seen)


def value(
    seen: Explanation,
    looks: tuple[str | None, str | None] = (None, None),
    state: str = "stored",
    **more: Any,
) -> dict[str, object]:
    """What the widget draws of it."""
    found = whole(seen)
    return masks.draw_masks(
        variant=seen.variant,
        name=NAMES[seen.variant],
        text=seen.text,
        given=seen.given,
        z=seen.z,
        learned=LEARNED if seen.forced.any() else None,
        forced=seen.forced,
        span=seen.span,
        ramp=seen.ramp,
        before=found.distances_before,
        after=found.distances_after,
        look_before=looks[0],
        look_after=looks[1],
        query=more.pop("query", f"variant={seen.variant}"),
        state=state,
        **more,
    )
