"""Piano rolls side by side, and what each note looked back to when it was made: what the pictures of the music lab draw, as JSON.

The input of a model is shifted by one: where event i is made, the key at place j carries event j − 1, and the key at 0 what stands before
the first. So the weights of a note are those of the row of the event that begins it, and the weight at place j belongs to the note that
event j − 1 begins, holds or ends. What belongs to no note (time shifts, velocities, silences, the start) is told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.packing import pack

Array = NDArray[np.float32]
Whole = NDArray[np.int32]
Text = Mapping[str, str]
Value = dict[str, object]

SIDE = 16  # rows and columns of a head's small picture
FARTHEST = 256  # distances that the bars show
WATCHED = 192  # queries from which the small pictures and the bars are made, evenly spread; all of them where there are no more
BRACKETS = 6  # pairs of motifs that are shown of each model
LIKELY = 32  # notes among which the telling one is looked for
VOICES = 4  # of a chorale; its events are cells, soprano to bass of each sixteenth
BEAT = {"chorale": 4, "piano": 50}  # steps of the grid that count as near: a quarter, half a second
# Events of piano: 128 note-ons, 128 note-offs, time shifts of 1 … 100 steps, then velocities.
PITCHES, SHIFTS = 128, 100


Made = Any  # what one model has made: `models.music.records.Made` and whatever has the same parts
Rows = Callable[[Any, int, int, Sequence[int]], Array]  # weights of some events: (made, layer, head, rows) -> (row, event)


@dataclass(frozen=True)
class Named:
    """What a page says of a model: its name, and a few words about it."""

    name: Text
    about: Text


@dataclass(frozen=True)
class Kept:
    """What the server keeps of a run for those who look closer.

    look: the address of exact weights (`explorer.looks`), without attention None.
    sound: {"wav", "midi", "source", "seconds", "whole"}, or None.
    repeats: ((note,) first, (note,) again, semitones), motifs that come back, the longest first.
    """

    look: str | None = None
    sound: Mapping[str, object] | None = None
    repeats: Sequence[tuple[Sequence[int], Sequence[int], int]] = ()


@dataclass(frozen=True)
class Growing:
    """What one model has made so far: fields of `Made`, and of how many events in all. notes of what still sounds end where it stands."""

    variant: str
    events: NDArray[np.int16]
    given: NDArray[np.bool_]
    nats: Array
    notes: Whole
    at: Whole
    steps: int
    of: int


def value(
    made: Sequence[Made],
    named: Mapping[str, Named],
    kept: Mapping[str, Kept],
    rows: Rows,
    *,
    style: str,
    grid: int,
    query: str,
    same: str,
    state: str,
    pick: Mapping[str, object] | None = None,
    licence: Text | None = None,
) -> Value:
    """A finished run.

    made: by each model, in the order they stand. named, kept: by their names. rows: `models.music.weights.look`. style: "chorale" or
    "piano". grid: milliseconds of a step. query: its permalink. same: what runs on one motif have in common, whatever is changed in the
    models. state: "stored", "live" or "stale". pick: what is looked at on arrival, from `telling`; left out, it is looked for.
    licence: what binds whoever takes this music along, a sentence that stands by the rolls and in what leaves the page.
    """
    picked = telling(made, rows, style) if pick is None else pick
    told = {"state": state, "query": query, "same": same, "style": style, "grid": grid}
    return {
        **told,
        "steps": max((one.steps for one in made), default=0),
        "models": [_drawn(one, style, named[one.variant], kept.get(one.variant, Kept()), picked) for one in made],
        "repeats": {one.variant: _pairs(kept.get(one.variant, Kept()), one.notes) for one in made},
        "pick": None if picked is None else dict(picked),
        "licence": None if licence is None else dict(licence),
    }


def growing(made: Sequence[Growing], named: Mapping[str, Named], **run: object) -> Value:
    """A run under way: everything made so far, so that a coalesced update loses nothing. run: style, grid, query, same, as of `value`."""
    models = [{**_told(one, str(run["style"]), named[one.variant]), "of": one.of} for one in made]
    steps = max((one.steps for one in made), default=0)
    return {"state": "running", **run, "steps": steps, "models": models, "repeats": {}, "pick": None}


def _told(made: Made | Growing, style: str, named: Named) -> Value:
    free = ~made.given
    return {
        "key": made.variant,
        "name": dict(named.name),
        "about": dict(named.about),
        "nats": round(float(made.nats[free].mean()), 4) if free.any() else None,
        "notes": pack(np.asarray(made.notes, np.int32)),
        "at": pack(np.asarray(made.at, np.int32)),
        "given": int(made.given.sum()),
        "given_notes": pack(np.asarray(made.given[made.at], np.bool_)),
        "until": given_until(made, style),
        "events": len(made.events),
        "steps": made.steps,
        "of": len(made.events),
        "sound": None,
        "heads": None,
        "look": None,
    }


def _drawn(made: Made, style: str, named: Named, kept: Kept, pick: Mapping[str, object] | None) -> Value:
    seen: Value = {}
    if made.queries.size:
        seen = {"heads": list(made.queries.shape[:2]), "look": kept.look, "owner": pack(owners(made, style)), "note": _first(made, pick)}
    return {
        **_told(made, style, named),
        "said": pack(np.asarray(made.events, np.int32)),
        "costs": pack(np.asarray(made.nats, np.float32), unit=False),
        "sound": None if kept.sound is None else dict(kept.sound),
        **seen,
    }


def _first(made: Made, pick: Mapping[str, object] | None) -> int:
    """The note that is looked at on arrival: of the model that is picked its own, else one in the later half of what was made."""
    if pick is not None and pick["model"] == made.variant and isinstance(pick["note"], int):
        return pick["note"]
    own = np.flatnonzero(~made.given[made.at])
    return int(own[int(0.7 * len(own))]) if len(own) else len(made.at) - 1


def heads(
    made: Sequence[Made], named: Mapping[str, Named], rows: Rows, *, silenced: Sequence[tuple[str, int, int]], pick: Any, **run: object
) -> Value:
    """What the picture of all heads draws: each in small, and how far back it listens. silenced: (model, layer, head) each, from 0. run:
    style, grid, query and state; other arguments as of `value`."""
    models: list[Value] = []
    for one in made:
        model: Value = {"key": one.variant, "name": dict(named[one.variant].name), "heads": None}
        if one.queries.size:
            shape = one.queries.shape[:2]
            thumbs, distance, watched = watch(one, rows)
            small, mean = (pack(each.reshape(*shape, *each.shape[1:])) for each in (thumbs, distance))
            model |= {"heads": list(shape), "thumbs": small, "distance": mean, "watched": watched, "note": _first(one, pick)}
        models.append(model)
    return {**run, "models": models, "silenced": [list(one) for one in silenced], "pick": None if pick is None else dict(pick)}


def given_until(made: Made | Growing, style: str) -> int:
    """The step of the grid up to which everything is given; 0 where voices are made beside a given one."""
    free = np.flatnonzero(~made.given)
    first = int(free[0]) if len(free) else len(made.given)
    if style == "chorale":
        return first // VOICES
    shift = made.events[:first].astype(np.int64) - 2 * PITCHES + 1
    return int(shift[(shift >= 1) & (shift <= SHIFTS)].sum())


def owners(made: Made, style: str) -> Whole:
    """(event,) the note that each event begins, holds or ends; −1 where it is no note's."""
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


def by_note(weights: Array, owner: Whole, notes: int) -> Array:
    """(row, note) what goes to each note of weights (row, event): the key at place j carries event j − 1."""
    places = np.flatnonzero(owner[:-1] >= 0)
    places = places[np.argsort(owner[places], kind="stable")]
    found: Array = np.zeros((len(weights), notes), np.float32)
    if len(places):
        own = owner[places]
        first = np.flatnonzero(np.diff(own, prepend=-1))
        found[:, own[first]] = np.add.reduceat(weights[:, places + 1], first, axis=1)
    return found


def watch(made: Made, rows: Rows, most: int = WATCHED) -> tuple[Array, Array, list[int]]:
    """All heads at a glance, from at most `most` queries, evenly spread over the run.

    (layer · head, SIDE, SIDE) in [0, 1]: of bands of queries, the mean weight that goes to bands of keys, heads of the first layer first.
    (layer · head, distance) mean weight of a key so far back, of FARTHEST distances at most; a distance of 0 is the event just before.
    [queries that were watched, queries in all].
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
        mean[number] = np.where(there, np.take_along_axis(weights, np.maximum(distance, 0), 1), 0).sum(0) / counts
    return thumbs, mean, [len(chosen), length]


def telling(made: Sequence[Made], rows: Rows, style: str) -> dict[str, object] | None:
    """What is locked on arrival, {"model", "head" ("3.4", layer and head from 1), "note"}: a note that was made, and a head that looks far
    back from it to a few notes. Of the first model that has attention; None where none has, or nothing was made."""
    for one in made:
        own = np.flatnonzero(~one.given[one.at]) if one.queries.size else np.zeros(0, np.int64)
        if not len(own):
            continue
        late = own[len(own) // 2 :]
        chosen = late[np.unique(np.linspace(0, len(late) - 1, min(LIKELY, len(late))).round().astype(np.int64))]
        layers, heads = one.queries.shape[:2]
        owner = owners(one, style)
        onset = one.notes[:, 0]
        back = (onset[chosen][:, None] - onset[None]) / BEAT[style]
        far = np.clip(back / 16, 0, 1)
        best, found = -1.0, (0, 0, int(chosen[0]))
        for number in range(layers * heads):
            weights = by_note(rows(one, number // heads, number % heads, one.at[chosen].tolist()), owner, len(onset))
            worth = np.where(weights >= 0.05, weights * far, 0).sum(1)
            if worth.max() > best:
                best, found = float(worth.max()), (number // heads, number % heads, int(chosen[worth.argmax()]))
        layer, head, note = found
        return {"model": one.variant, "head": f"{layer + 1}.{head + 1}", "note": note}
    return None


def _pairs(kept: Kept, notes: Whole) -> list[list[object]]:
    """The longest motifs that come back, none inside another of them: [[first notes…], [again notes…], semitones]."""
    shown: list[list[object]] = []
    taken: list[tuple[int, int]] = []
    for first, again, semitones in kept.repeats:
        spans = [(int(notes[part[0], 0]), int(notes[part[-1], 1])) for part in (first, again)]
        if any(begin < end_ and begin_ < end for begin, end in spans for begin_, end_ in taken):
            continue
        taken += spans
        shown.append([[int(n) for n in first], [int(n) for n in again], int(semitones)])
        if len(shown) == BRACKETS:
            break
    return shown
