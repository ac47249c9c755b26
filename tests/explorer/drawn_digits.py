"""Digits that three made-up models have made, for tests: each head looks one way, told by its layer
and number, as far as it may."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.labs.sparse_transformer import drawn as digits
from explorer.values.exact_rows import RowSource, exact_row_store
from models.layers.patterns import Pattern
from models.sparse_transformer.records import SIDE, Made, Step
from models.sparse_transformer.weights import look

LAYERS, HEADS = 4, 4
KEEP = 14
PATTERNS = {
    "strided": Pattern("strided", 28, 4),
    "dense": Pattern("full", 28, 4),
    "fixed": Pattern("fixed", 28, 4),
}
# How many rows up and columns right each head prefers to look, layer by layer.
UP = (0, 1, 0, 2, 1, 0, 4, 1, 0, 3, 5, 1, 0, 6, 2, 0)
RIGHT = (-1, 0, -3, 0, 1, -6, 0, -1, -2, 0, 0, 4, -4, 2, -2, 0)


@cache
def whole() -> NDArray[np.uint8]:
    """A three of thick strokes."""
    row, column = np.indices((SIDE, SIDE))
    upper = abs(np.hypot(row - 9, column - 13) - 4.6) < 1.5
    lower = abs(np.hypot(row - 18.4, column - 13) - 5.2) < 1.6
    gap = (column < 12) & (row > 6.5) & (row < 21.5)
    found: NDArray[np.uint8] = ((upper | lower) & ~gap).astype(np.uint8)
    return found


def _waves(row: NDArray[np.float64], column: NDArray[np.float64]) -> NDArray[np.float64]:
    """(position, 16): products of two of these are largest where the places agree."""
    turns = [2 * np.pi * n / 40 * place for place in (row, column) for n in (1, 2, 4, 7)]
    return np.stack([wave(turn) for turn in turns for wave in (np.cos, np.sin)], -1)


@cache
def made(
    variant: str, keep: int = KEEP, use: str = "merged", pattern: Pattern | None = None
) -> Made:
    """What one of them hands over: the digit with some pixels of its own below the rows that were
    kept."""
    generator = np.random.default_rng(sorted(PATTERNS).index(variant))
    symbols = whole().copy()
    noise = np.roll(symbols, {"strided": 1, "dense": 0, "fixed": -1}[variant], 1)
    symbols[keep:] = np.where(
        generator.random((SIDE - keep, SIDE)) < 0.03, 1 - noise[keep:], noise[keep:]
    )
    edge = np.abs(np.diff(symbols.astype(float), axis=1, prepend=0)) + np.abs(
        np.diff(symbols.astype(float), axis=0, prepend=0)
    )
    row, column = (place.reshape(-1).astype(float) for place in np.indices((SIDE, SIDE)))
    keys = np.broadcast_to(_waves(row, column), (LAYERS, HEADS, SIDE * SIDE, 16))
    queries = np.stack(
        [
            _waves(row - up, column + right) * (2.5 + 0.25 * n)
            for n, (up, right) in enumerate(zip(UP, RIGHT, strict=True))
        ]
    )
    return Made(
        variant=variant,
        pattern=pattern or PATTERNS[variant],
        use=use,
        symbols=symbols.reshape(-1).astype(np.int16),
        given=np.arange(SIDE * SIDE) < keep * SIDE,
        nats=(generator.random(SIDE * SIDE) * (0.03 + 0.6 * edge.reshape(-1)) ** 1.2).astype(
            np.float32
        ),
        drawn="",
        unusual=False,
        queries=queries.reshape(LAYERS, HEADS, SIDE * SIDE, 16).astype(np.float16),
        keys=np.ascontiguousarray(keys).astype(np.float16),
    )


def all_made(keep: int = KEEP) -> list[Made]:
    """By all three."""
    return [made(variant, keep) for variant in PATTERNS]


def steps(variant: str, first: int, stop: int, keep: int = KEEP) -> Step:
    """Some of its positions, as they are told while it works."""
    one = made(variant, keep)
    return Step(variant, first, one.symbols[first:stop], one.nats[first:stop])


def value(keep: int = KEEP, **more: Any) -> dict[str, object]:
    """What the widget draws of a finished run of all three."""
    told: dict[str, Any] = {
        "state": "stored",
        "query": "v=1",
        "whole": whole(),
        "kind": 3,
        "pick": digits.find_telling_pixel(all_made(keep), look),
    }
    return digits.draw_digits(all_made(keep), **{**told, **more})


def kept(one: Made) -> tuple[str, str]:
    """The addresses of its exact weights and of their rollout."""
    roll = digits.Rollout(one)
    layers, heads, length = one.queries.shape[:3]
    rows = RowSource(
        lambda layer, head, which: look(one, layer, head, list(which)),
        layers,
        heads,
        length,
        one.queries.nbytes,
    )
    name = f"{one.variant} {one.use} {one.pattern}".encode()
    return exact_row_store().put(rows, name), exact_row_store().put(
        RowSource(roll.rows, layers, 1, length, roll.size), name + b" rollout"
    )


def addresses(keep: int = KEEP) -> dict[str, Any]:
    """The same for all three, as `digits.value` takes them."""
    found = {one.variant: kept(one) for one in all_made(keep)}
    return {
        "looks": {name: each[0] for name, each in found.items()},
        "rollouts": {name: each[1] for name, each in found.items()},
    }
