"""Bits per character of whole books, measured alike for every model that reads books.

The headline is of windows that overlap by half: each is read from an empty beginning and only its
second half counts, so that every character has half a window before it at least, whatever the
model. Two more ways stand beside it. In cold windows, one after another, all characters count, so
that the first ones have nothing before them. With memory, the book is read in one go, with all that
the model carries on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

WINDOW = 1024  # characters; a model that reads fewer at once has windows as long as it reads
TOGETHER = 16  # windows that are read at once
METRIC = "bits per character"
PROTOCOL = (
    f"windows of {WINDOW:,} characters, or as many as the model reads at once, that overlap by"
    " half; the second half counts"
)
WAYS = {
    "half_overlap": "in windows that overlap by half",
    "cold": "in cold windows",
    "memory": "in one go, with memory",
}

BOOKS: Mapping[str, Any] = {  # of every task that learns from books
    "data": (
        "17 books in the public domain, 12.8 million characters, whole books held out (The Man Who"
        " Was Thursday, Persuasion)"
    ),
    "licence": "public domain: the books. Apache-2.0: these weights",
    "protocol": PROTOCOL,
    "chosen": "valid",
}

Cut = tuple[int, int, int]  # a window: begin, end, from where it counts
Read = Callable[[NDArray[np.int64], int], NDArray[np.floating]]


@dataclass(frozen=True)
class Text:
    """A book as a model reads it.

    length: its characters.
    read: the beginnings of windows, (window,), and their length -> −log p in nats of their
        characters, (window, position).
    carried: the same for the whole book, (character,), read in one go; None for a model that
        carries nothing on.
    """

    length: int
    read: Read
    carried: Callable[[], NDArray[np.floating]] | None = None


def cut_windows(length: int, window: int, step: int) -> list[Cut]:
    """Return windows over `length` characters, one every `step`, so that every character counts
    once: in the first window that holds it.

    Except in the first window, every character that counts has window − step characters before it.
    """
    found: list[Cut] = []
    for begin in range(0, max(1, length), step):
        counted, end = found[-1][1] if found else 0, min(begin + window, length)
        if end > counted:
            found.append((begin, end, counted))
    return found


def measure_costs(text: Text, window: int = WINDOW) -> dict[str, NDArray[np.float64]]:
    """Measure −log p in nats of every character, (character,), by the names of WAYS; without
    "memory" where nothing is carried on."""
    cuts = {
        "half_overlap": cut_windows(text.length, window, max(1, window // 2)),
        "cold": cut_windows(text.length, window, window),
    }
    rows = _read_together(
        {(begin, end) for cut in cuts.values() for begin, end, _ in cut}, text.read
    )
    found = {
        way: np.concatenate([rows[begin, end][first - begin :] for begin, end, first in cut])
        for way, cut in cuts.items()
    }
    if text.carried is not None:
        found["memory"] = np.asarray(text.carried(), np.float64)
    return found


def _read_together(
    parts: Iterable[tuple[int, int]], read: Read
) -> dict[tuple[int, int], NDArray[np.float64]]:
    """Return the nats of each (begin, end), those of one length read together."""
    found: dict[tuple[int, int], NDArray[np.float64]] = {}
    for size, alike in groupby(
        sorted(parts, key=lambda part: part[1] - part[0]), key=lambda part: part[1] - part[0]
    ):
        same = sorted(alike)
        for i in range(0, len(same), TOGETHER):
            some = same[i : i + TOGETHER]
            found |= zip(
                some,
                np.asarray(read(np.array([begin for begin, _ in some]), size), np.float64),
                strict=True,
            )
    return found


def build_figure(
    split: str,
    texts: Sequence[Text],
    window: int = WINDOW,
    more: Callable[[list[NDArray[np.float64]]], dict[str, Any]] = lambda _nats: {},
) -> dict[str, Any]:
    """Return the figure for model.json: `value` is the headline's, `by_reading` holds all ways of
    reading.

    more(nats): further entries from the headline's reading, by the nats of each text, (character,).
    """
    read = [measure_costs(text, window) for text in texts]
    by = {
        way: round(float(np.concatenate([one[way] for one in read]).mean()) / math.log(2), 4)
        for way in read[0]
    }
    n = sum(text.length for text in texts)
    return {
        "metric": METRIC,
        "split": split,
        "value": by["half_overlap"],
        "n": n,
        "window": window,
        "by_reading": by,
    } | more([one["half_overlap"] for one in read])


def describe_figure(measured: Mapping[str, Any]) -> str:
    """Return a figure as `evaluate` prints it, a line for each way of reading."""
    lines = [
        f"{measured['n']:,} characters of {measured['split']} in windows of {measured['window']:,}:"
    ]
    return "\n".join(
        [
            *lines,
            *(
                f"  {value:.4f} {METRIC}, {WAYS[way]}"
                for way, value in measured["by_reading"].items()
            ),
        ]
    )
