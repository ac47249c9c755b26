"""Readings of a text, segment by segment, with numbers of a fixed seed, for tests of segments,
memory and the terms of the score."""

from __future__ import annotations

import dataclasses
import hashlib
from functools import cache
from typing import Any

import numpy as np

from explorer.labs.transformer_xl.figures.segments import Model
from explorer.values.exact_rows import RowSource, exact_row_store
from models.transformer_xl.records import Reading, page
from models.transformer_xl.weights import find_farthest_known, look, terms

NAMES = {
    "xl": {"en": "Transformer-XL", "zh": "Transformer-XL"},
    "absolute": {"en": "Transformer", "zh": "Transformer"},
}
ABOUT = {"xl": {"en": "remembers", "zh": "有记忆"}, "absolute": {"en": "no memory", "zh": "无记忆"}}
BOOK = {"en": "Moby Dick", "zh": "《白鲸记》"}


@cache
def reading(
    variant: str = "xl",
    length: int = 250,
    segment: int = 32,
    memory: int = 64,
    layers: int = 3,
    heads: int = 2,
    intervention: str = "none",
    text: str = "",
) -> Reading:
    """What a network with random content and heads that reach unevenly far would hand over."""
    generator = np.random.default_rng(7)
    memory = 0 if variant == "absolute" else memory
    text = (text or page("lyme"))[:length]
    length, width = len(text), 8
    queries, keys = (generator.normal(size=(layers, heads, length, width)) * 0.9 for _ in range(2))
    other = (
        generator.normal(size=(layers, heads, memory, width))
        if intervention == "foreign"
        else np.zeros((layers, heads, 0, width))
    )
    u, v = (generator.normal(size=(layers, heads, width)) * 0.5 for _ in range(2))
    reach = np.exp(generator.uniform(-1.5, 1.0, (layers, heads)))
    table = generator.normal(size=(layers, heads, memory + segment, width)) * 0.3
    v[..., 0] = 1
    table[..., 0] = -reach[..., None] * np.log1p(np.arange(memory + segment)) * 2.5
    rows = []
    for number in range(-(-length // segment)):
        held = 0 if intervention == "cut" else min(number * segment, memory)
        own = np.arange(number * segment - held, number * segment)
        if intervention == "shuffled":
            own = np.random.default_rng(number).permutation(own)
        if intervention == "foreign":
            own = length + memory - held + np.arange(held)
        rows.append(own)
    remembered = np.full((len(rows), max(map(len, rows))), -1)
    for row, own in zip(remembered, rows, strict=True):
        row[: len(own)] = own
    empty = np.zeros((0, 0, 0), np.float32)
    relative = variant == "xl"
    made = Reading(
        variant=variant,
        text=text,
        characters=np.asarray([ord(c) % 90 for c in text], np.int16),
        nats=(generator.random(length) * 3).astype(np.float32),
        segment=segment,
        memory=memory,
        queries=queries.astype(np.float16),
        keys=np.concatenate((keys, other), 2).astype(np.float16),
        table=(table if relative else np.zeros((0, 0, 0, 0))).astype(np.float16),
        u=u.astype(np.float32) if relative else empty,
        v=v.astype(np.float32) if relative else empty,
        remembered=remembered.astype(np.int16),
        across=np.zeros((layers, heads, length), np.float16),
    )
    across = np.zeros((layers, heads, length), np.float16)
    for number, own in enumerate(rows):
        here = slice(number * segment, min(length, (number + 1) * segment))
        for layer in range(layers):
            for head in range(heads):
                across[layer, head, here] = (
                    terms(made, layer, head, number).weights[:, : len(own)].sum(1)
                )
    return dataclasses.replace(made, across=across)


def model(seen: Reading, intervention: str = "none") -> Model:
    """The same as the widget's figure wants it, its exact weights kept."""
    layers, heads, length, _ = seen.queries.shape
    size = seen.queries.nbytes + seen.keys.nbytes
    made_of = hashlib.sha256(
        repr((seen.variant, seen.queries.shape, seen.memory, intervention)).encode()
    ).digest()
    address = exact_row_store().put(
        RowSource(
            lambda layer, head, rows: look(seen, layer, head, rows), layers, heads, length, size
        ),
        made_of,
    )
    reaches = 0 if intervention in {"cut", "foreign"} else seen.memory
    return Model(
        key=seen.variant,
        name=NAMES[seen.variant],
        about=ABOUT[seen.variant],
        text=seen.text,
        across=seen.across,
        remembered=seen.remembered,
        look=address,
        travelled=find_farthest_known(length, seen.segment, reaches, layers),
        memory=seen.memory,
    )


def run(intervention: str = "none", **more: Any) -> tuple[list[Reading], list[Model]]:
    """Both models on one text, the one without a memory second."""
    seen = [
        reading(variant, intervention=intervention if variant == "xl" else "none", **more)
        for variant in ("xl", "absolute")
    ]
    return seen, [model(one, intervention if one.variant == "xl" else "none") for one in seen]


def cut(seen: Reading, layer: int, head: int, last: int, queries: int) -> dict[str, Any]:
    """What the panel of the four terms wants of one head: the queries of the segment up to `last`,
    layer and head from 0."""
    number = last // seen.segment
    first = max(number * seen.segment, last + 1 - queries)
    found = terms(seen, layer, head, number)
    held = len(found.places) - (
        min(len(seen.text), (number + 1) * seen.segment) - number * seen.segment
    )
    rows = slice(first - number * seen.segment, last + 1 - number * seen.segment)
    until = held + last + 1 - number * seen.segment
    own = np.arange(rows.start, rows.stop)[:, None] + held
    parts = ("content", "position", "global_content", "global_position", "scores", "weights")
    keys = [int(place) for place in found.places[:until]]
    return {
        **{name: getattr(found, name)[rows, :until] for name in parts},
        "allowed": np.arange(until) <= own,
        "u": seen.u[layer, head],
        "v": seen.v[layer, head],
        "queries": [(i, seen.text[i]) for i in range(first, last + 1)],
        "keys": [(j - 1, seen.text[j - 1] if j else "\n") for j in keys],
        "memory_until": held,
    }
