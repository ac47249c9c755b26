"""Runs of both styles with numbers of a fixed seed, for tests of the rolls."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from models.music import chorales
from models.music.notes import notes_of_events
from models.music.records import Explanation, Made, Request, melody, motif, read_motif

NAMES = {
    "jsb_relative": {"en": "Music Transformer", "zh": "音乐 Transformer"},
    "jsb_transformer": {"en": "Transformer", "zh": "Transformer"},
    "relative": {"en": "Music Transformer", "zh": "音乐 Transformer"},
    "transformer": {"en": "Transformer", "zh": "Transformer"},
    "lstm": {"en": "Performance RNN", "zh": "Performance RNN"},
}
# its first five notes come back a tone higher
SOPRANO = (72, 71, 69, 71, 67, 69, 71, 72, 74, 73, 71, 73, 69, 71)
LAYERS, HEADS, WIDTH = 2, 3, 8
FAR = 64  # events back that head 2·2 looks: four beats


def made(
    variant: str,
    style: str,
    values: NDArray[np.int64],
    given: NDArray[np.bool_],
    seed: int,
    attends: bool = True,
) -> Made:
    """What a network with random numbers would hand over; head 2·2 looks FAR events back."""
    generator = np.random.default_rng(seed)
    notes, at, steps = notes_of_events(style, values)
    shape = (LAYERS, HEADS, len(values), WIDTH) if attends else (0, 0, 0, 0)
    queries, keys = (generator.normal(size=shape).astype(np.float16) for _ in range(2))
    table = np.zeros((0, 0, 0, 0), np.float16)
    if attends:
        queries[1, 1], keys[1, 1] = 0, 0
        queries[1, 1, :, 0] = 20
        table = np.zeros((LAYERS, HEADS, len(values), WIDTH), np.float16)
        table[1, 1, min(FAR, len(values) - 1) - 1, 0] = 2
    nats = np.where(given, 0, generator.random(len(values)) * 2).astype(np.float32)
    return Made(
        variant,
        values.astype(np.int16),
        given,
        nats,
        notes.astype(np.int32),
        at.astype(np.int32),
        steps,
        queries,
        keys,
        table,
    )


@cache
def chorale() -> tuple[Explanation, Request]:
    """A melody of three bars and a half with three voices that go along below it, by two models."""
    request = Request(motif=melody(SOPRANO), length=1)
    soprano = read_motif(request)
    found = []
    for seed, variant in enumerate(("jsb_relative", "jsb_transformer")):
        below = [np.where(soprano > 0, soprano - down - seed, 0) for down in (4, 9, 21)]
        below[2][6:8] = chorales.SILENCE
        values = np.stack([soprano, *below], 1).reshape(-1)
        found.append(made(variant, "chorale", values, np.arange(len(values)) % 4 == 0, seed))
    return Explanation(tuple(found), 125), request


@cache
def piano(length: int = 90) -> tuple[Explanation, Request]:
    """A motif continued with steps up and down, by two models with attention and one without."""
    request = Request("piano", "continue", motif((60, 64, 67, 72)), length)
    begin = read_motif(request)
    found = []
    for seed, variant in enumerate(("relative", "transformer", "lstm")):
        generator = np.random.default_rng(seed)
        own: list[int] = []
        while len(own) < length:
            pitch = int(generator.integers(55, 80))
            own += [
                356 + int(generator.integers(8, 24)),
                pitch,
                256 + int(generator.integers(5, 30)),
                128 + pitch,
            ]
        values = np.concatenate((begin, own[:length]))
        found.append(
            made(
                variant,
                "piano",
                values,
                np.arange(len(values)) < len(begin),
                seed,
                variant != "lstm",
            )
        )
    return Explanation(tuple(found), 10), request
