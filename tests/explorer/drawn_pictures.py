"""Pictures of noise in the place of those that models make: tests of the image lab's page draw
them, with and without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from explorer.labs.image_transformer import drawn as image
from explorer.labs.image_transformer import views
from explorer.labs.image_transformer.change import HEADS
from models.image_transformer.records import SIDE, Bits, Explanation, Made, Request, Rereading, Step

D_HEAD = 4


def made(layout: image.Layout, count: int = 1, seed: int = 0, cost: float = 3.0) -> Made:
    """Pictures of noise in this layout, each level of the same cost."""
    draw = np.random.default_rng(seed)
    shape = (
        count,
        layout.rows,
        layout.columns,
        *([layout.channels] if layout.channels > 1 else []),
    )
    seen = (*HEADS[layout.pattern], layout.length, D_HEAD)
    return Made(
        layout.pattern,
        draw.integers(0, 256, shape).astype(np.uint8),
        np.full(shape, cost, np.float32),
        layout.order.astype(np.int16),
        np.asarray(layout.starts, np.int16),
        np.concatenate(layout.memory).astype(np.int16),
        np.cumsum([len(memory) for memory in layout.memory]).astype(np.int32),
        draw.normal(size=seen).astype(np.float16),
        draw.normal(size=seen).astype(np.float16),
    )


def explanation(request: Request) -> Explanation:
    """A run; what is changed in the models makes other noise."""
    seed = 5 if request.silenced or request.flange < 7 or request.memory_rows < 4 else 0
    if request.mode == "enlarge":
        coloured = made(views.LAYOUTS["colour"][0], request.count, seed)
        return Explanation(
            (coloured,), coloured.pictures[0], np.zeros((8, 8, 3), np.uint8), None, None, False
        )
    both = tuple(
        made(layout, request.count, seed + at) for at, layout in enumerate(views.LAYOUTS["grey"])
    )
    read = both[1].pictures[0]
    return Explanation(
        both,
        read if request.mode == "complete" else None,
        None,
        read,
        np.full((3, SIDE, SIDE), 2.0, np.float32),
        False,
    )


def generate(requests: list[Request]) -> Iterator[list[Any]]:
    """Makes every picture in two turns."""
    seen = [explanation(request) for request in requests]
    for first, stop in ((0, 300), (300, None)):
        turn = []
        for one in seen:
            parts = [(each, image.find_layout(each).places[first:stop]) for each in one.made]
            levels = np.stack(
                [each.pictures.reshape(len(each.pictures), -1)[:, places] for each, places in parts]
            )
            turn.append([Step(first, levels, np.ones(levels.shape, np.float32))])
        yield turn
    yield list(seen)


def measure(requests: list[Rereading]) -> list[Bits]:
    """A coloured picture costs 0.2 bits/dim more under a change; a grey one 0.1 in 2D, all of it in
    row 20, and nothing in 1D."""

    def one(again: Rereading) -> Bits:
        if again.request.mode == "enlarge":
            return Bits(np.full((1, 16, 16, 3), 3.2, np.float32))
        bits = np.full((2, SIDE, SIDE), 3.0, np.float32)
        bits[1, 20] += 2.8
        return Bits(bits)

    return [one(again) for again in requests]
