"""A word said twice by several models, letter by letter, or a text read by one; accuracy by rounds of training and evaluation. As JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.packing import pack

Array = NDArray[np.float32]
Text = Mapping[str, str]
Value = dict[str, object]


@dataclass(frozen=True)
class Run:
    """What one model made of it.

    key: its name, as in the address. name, about: what it is called, and what sets it apart. said: the likeliest letter at each place,
    everything before it given. nats: (letter,) −log p of the right one. rounds: of hashing in this run, as the table's columns name them.
    """

    key: str
    name: Text
    about: Text
    said: str
    nats: Array
    rounds: str


def value(
    runs: Sequence[Run],
    *,
    mode: str,
    given: str,
    first: int,
    query: str,
    state: str,
    pick: Mapping[str, object] | None = None,
) -> Value:
    """A run. mode: "word", whose letters are to be said again, or "text". given: its letters. first: the position that says the first of
    them; the others follow. query: its permalink. state: "stored" or "live". pick: {model, pos} looked at on arrival.

    ValueError where a model says more or fewer letters than were given.
    """
    for run in runs:
        if not len(run.said) == len(run.nats) == len(given):
            raise ValueError(f"{run.key} says {len(run.said)} letters with {len(run.nats)} nats for {len(given)} given ones")
    return {
        "state": state,
        "mode": mode,
        "query": query,
        "given": given,
        "first": first,
        "pick": None if pick is None else dict(pick),
        "runs": [_drawn(run, given) for run in runs],
    }


def _drawn(run: Run, given: str) -> Value:
    right = [a == b for a, b in zip(run.said, given, strict=True)]
    return {
        "key": run.key,
        "name": dict(run.name),
        "about": dict(run.about),
        "said": run.said,
        "right": sum(right),
        "bits": float(np.asarray(run.nats, np.float64).mean() / math.log(2)) if given else 0.0,
        "nats": pack(np.asarray(run.nats, np.float32), unit=False),
        "rounds": run.rounds,
    }


@dataclass(frozen=True)
class Row:
    """A trained model in the table: what was measured here, and what is in print, by rounds of evaluation; None where there is nothing."""

    key: str
    name: Text
    ours: Sequence[float | None]
    printed: Sequence[float | None]


@dataclass(frozen=True)
class Seed:
    """One training of a model that was trained several times. finished: was it not stopped early?"""

    seed: int
    ours: Sequence[float | None]
    finished: bool


def table(columns: Sequence[str], rows: Sequence[Row], seeds: Sequence[Seed], *, name: Text, sentence: Text, why: Text) -> Value:
    """Accuracy by rounds. columns: rounds of evaluation, "full" for none. seeds: of the model called `name`. sentence: the order that came
    out beside the one in print; why: in what the two differ. ValueError for a row that does not fit the columns."""
    for ours in [*(row.ours for row in rows), *(row.printed for row in rows), *(seed.ours for seed in seeds)]:
        if len(ours) != len(columns):
            raise ValueError(f"{len(ours)} figures under {len(columns)} columns")
    return {
        "columns": list(columns),
        "rows": [{"key": row.key, "name": dict(row.name), "ours": list(row.ours), "printed": list(row.printed)} for row in rows],
        "seeds": [{"seed": one.seed, "ours": list(one.ours), "finished": one.finished} for one in seeds],
        "name": dict(name),
        "sentence": dict(sentence),
        "why": dict(why),
    }
