"""The attention behind the notes of a roll: where each note looked back when it was generated, and
where every head of a model of music looks.

The input of a model is shifted by one: where event i is generated, the key at place j carries event
j − 1, and the key at 0 the start, before the first event. So the weights of a note are those of the
row of the event that begins it, and the weight at place j belongs to the note that event j − 1
begins, holds or ends. Weight on events outside of all notes (time shifts, velocities, silences, the
start) is given apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Whole = NDArray[np.int32]

SIDE = 16  # rows and columns of a head's small picture
FARTHEST = 256  # distances that the bars show
# queries from which the small pictures and the bars are made, evenly spread; all of them where
# there are fewer
WATCHED = 192
LIKELY = 32  # notes among which the telling one is searched
VOICES = 4  # voices of a chorale; its events are cells, soprano to bass of each sixteenth
BEAT = {"chorale": 4, "piano": 50}  # steps of the grid that count as near: a quarter, half a second
# Events of piano: 128 note-ons, 128 note-offs, time shifts of 1 … 100 steps, then velocities.
PITCHES, SHIFTS = 128, 100


Made = Any  # the result of one model: `models.music.records.Made`, or a record with the same parts
# weights of some events: (made, layer, head, rows) -> (row, event)
Rows = Callable[[Any, int, int, Sequence[int]], Array]


def find_end_of_motif(events: NDArray[np.int16], given: NDArray[np.bool_], style: str) -> int:
    """Return the step of the grid up to which everything is given; 0 where voices are generated
    beside a given one. events, given: as in `Made`."""
    free = np.flatnonzero(~given)
    first = int(free[0]) if len(free) else len(given)
    if style == "chorale":
        return first // VOICES
    shift = events[:first].astype(np.int64) - 2 * PITCHES + 1
    return int(shift[(shift >= 1) & (shift <= SHIFTS)].sum())


def find_owners(made: Made, style: str) -> Whole:
    """Return the note that each event begins, holds or ends, (event,); −1 for events outside of all
    notes."""
    found = np.full(len(made.events), -1, np.int32)
    if style == "chorale":
        for number, (onset, end, _, voice) in enumerate(made.notes.tolist()):
            found[onset * VOICES + voice : end * VOICES : VOICES] = number
        return found
    begins = {int(at): number for number, at in enumerate(made.at)}
    sounding: dict[int, int] = {}
    for place, event in enumerate(made.events.tolist()):
        if event < PITCHES:
            sounding[event] = found[place] = begins.get(place, -1)
        elif event < 2 * PITCHES:
            found[place] = sounding.pop(event - PITCHES, -1)
    return found


def sum_by_note(weights: Array, owner: Whole, notes: int) -> Array:
    """Return the weight that goes to each note, (row, note). weights: (row, event): the key at
    place j carries event j − 1."""
    places = np.flatnonzero(owner[:-1] >= 0)
    places = places[np.argsort(owner[places], kind="stable")]
    found: Array = np.zeros((len(weights), notes), np.float32)
    if len(places):
        own = owner[places]
        first = np.flatnonzero(np.diff(own, prepend=-1))
        found[:, own[first]] = np.add.reduceat(weights[:, places + 1], first, axis=1)
    return found


def collect_profiles(made: Made, rows: Rows, most: int = WATCHED) -> tuple[Array, Array, list[int]]:
    """Return an overview of all heads, from at most `most` queries, evenly spread over the run.

    The first array, (layer · head, SIDE, SIDE) in [0, 1], holds the mean weight that goes from
    bands of queries to bands of keys, heads of the first layer first. The second, (layer · head,
    distance), holds the mean weight of a key so far back, for FARTHEST distances at most; a
    distance of 0 is the event just before. The list holds the number of queries used, and of all
    queries.
    """
    layers, heads, length, _ = made.queries.shape
    chosen = np.unique(np.linspace(0, length - 1, min(most, length)).round().astype(np.int64))
    bands, first, sizes = np.unique(chosen * SIDE // length, return_index=True, return_counts=True)
    columns, left = np.unique(np.arange(length) * SIDE // length, return_index=True)
    far = min(FARTHEST, length)
    distance = chosen[:, None] - np.arange(far)
    there = distance >= 0
    counts = np.maximum(there.sum(0), 1)
    thumbs = np.zeros((layers * heads, SIDE, SIDE), np.float32)
    mean = np.zeros((layers * heads, far), np.float32)
    for number in range(layers * heads):
        weights = rows(made, number // heads, number % heads, chosen.tolist())
        sums = np.add.reduceat(np.add.reduceat(weights, left, axis=1), first, axis=0)
        thumbs[number][np.ix_(bands, columns)] = sums / sizes[:, None]
        mean[number] = (
            np.where(there, np.take_along_axis(weights, np.maximum(distance, 0), 1), 0).sum(0)
            / counts
        )
    return thumbs, mean, [len(chosen), length]


def find_telling_note(made: Sequence[Made], rows: Rows, style: str) -> dict[str, object] | None:
    """Return the selection on arrival, {"model", "head" ("3.4", layer and head from 1), "note"}: a
    generated note, and a head that looks far back from it to a few notes. The model is the first
    that has attention; None where none has, or nothing was generated."""
    for one in made:
        own = np.flatnonzero(~one.given[one.at]) if one.queries.size else np.zeros(0, np.int64)
        if not len(own):
            continue
        late = own[len(own) // 2 :]
        chosen = late[
            np.unique(
                np.linspace(0, len(late) - 1, min(LIKELY, len(late))).round().astype(np.int64)
            )
        ]
        layers, heads = one.queries.shape[:2]
        owner = find_owners(one, style)
        onset = one.notes[:, 0]
        back = (onset[chosen][:, None] - onset[None]) / BEAT[style]
        far = np.clip(back / 16, 0, 1)
        best, found = -1.0, (0, 0, int(chosen[0]))
        for number in range(layers * heads):
            weights = sum_by_note(
                rows(one, number // heads, number % heads, one.at[chosen].tolist()),
                owner,
                len(onset),
            )
            worth = np.where(weights >= 0.05, weights * far, 0).sum(1)
            if worth.max() > best:
                best, found = (
                    float(worth.max()),
                    (number // heads, number % heads, int(chosen[worth.argmax()])),
                )
        layer, head, note = found
        return {"model": one.variant, "head": f"{layer + 1}.{head + 1}", "note": note}
    return None
