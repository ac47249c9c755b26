"""From what the models of music explain to what the pictures of music draw: the weights kept for those who look closer, sound, repeats."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer import controls, sound
from explorer.figures import roll
from explorer.figures.roll import Growing, Kept, Named
from explorer.looks import Look, looks
from models.music import chorales
from models.music.notes import notes_of_events
from models.music.records import GRID, Explanation, Made, Request, Step, read_motif
from models.music.repeats import repeats
from models.music.weights import look

Text = Mapping[str, str]
Texts = Mapping[str, Text]
Value = dict[str, object]

SHORTEST = 5  # notes of a motif that comes back


def done(seen: Explanation, request: Request, query: str, *, names: Texts, about: Texts, licence: Text | None = None, **how: Any) -> Value:
    """What the roll draws of a finished run. names, about: of each variant; a few words. query: its permalink. licence: a sentence that
    stands by the rolls and in what leaves the page. how: state, "stored" or "live", and pick: {"model", "head" ("3.4", from 1), "note"},
    locked on arrival; left out, a telling one is looked for.

    It takes some hundredths of a second: not in the thread that serves pages.
    """
    kept = {made.variant: _kept(made, request.style, seen.grid, licence) for made in seen.made}
    run = {"style": request.style, "grid": seen.grid, "query": query, "same": _input(request), "licence": licence, **how}
    return roll.value(seen.made, _named(names, about), kept, look, **run)


def heads(seen: Explanation, request: Request, query: str, *, names: Texts, **how: Any) -> Value:
    """What the picture of all heads draws of a finished run; arguments as of `done`. It takes some tenths of a second."""
    run = {"style": request.style, "grid": seen.grid, "query": query, "silenced": request.silenced, **how}
    return roll.heads(seen.made, _named(names, {}), look, **run)


def _input(request: Request) -> str:
    """What runs on the same motif have in common, whatever is changed."""
    return controls.query(replace(request, silenced=(), farthest=-1, semitones=0, stretch=1.0))


def events_of(request: Request) -> int:
    """How many events or cells there will be, the motif's included."""
    motif = len(read_motif(request))
    whole = motif * len(chorales.VOICES) if request.mode == "harmonise" else motif + request.length
    return whole + (-whole % len(chorales.VOICES) if request.style == "chorale" else 0)


def growing(request: Request, steps: Sequence[Step], query: str, *, names: Texts, about: Texts) -> Value:
    """What the roll draws while music is made. steps: all so far, of all models. Other arguments as of `done`."""
    motif = len(read_motif(request))
    harmonise = request.mode == "harmonise"
    whole = events_of(request)
    parts: dict[str, list[Step]] = {}
    for step in steps:
        parts.setdefault(step.variant, []).append(step)
    grown = []
    for variant, own in parts.items():
        values = np.concatenate([step.events for step in own])
        place = np.arange(len(values))
        given = place % len(chorales.VOICES) == 0 if harmonise else place < motif
        notes, at, lasts = notes_of_events(request.style, _whole_sixteenths(request.style, values))
        nats = np.concatenate([step.nats for step in own])
        grown.append(Growing(variant, values, given, nats, notes.astype(np.int32), at.astype(np.int32), lasts, whole))
    run = {"style": request.style, "grid": GRID[request.style], "query": query, "same": _input(request)}
    return roll.growing(grown, _named(names, about), **run)


def _whole_sixteenths(style: str, values: NDArray[np.int16]) -> NDArray[np.int64]:
    """The same events; of a chorale's last sixteenth the voices that are not made yet are silent."""
    missing = -len(values) % len(chorales.VOICES) if style == "chorale" else 0
    return np.concatenate((values, np.full(missing, chorales.SILENCE))).astype(np.int64)


def _named(names: Texts, about: Texts) -> dict[str, Named]:
    return {variant: Named(name, about.get(variant, {"en": "", "zh": ""})) for variant, name in names.items()}


def heard(made: Made, style: str, grid: int, licence: Text | None = None) -> Value | None:
    """Where the music can be heard and how, as the browser wants it; None where there is no note. licence: of what is taken along."""
    if not len(made.notes):
        return None
    kept = sound.keep(made.notes, style, grid, made.steps, licence["en"] if licence else "")
    return {"wav": kept.wav, "midi": kept.midi, "source": kept.source, "seconds": kept.seconds, "whole": kept.whole}


def _kept(made: Made, style: str, grid: int, licence: Text | None) -> Kept:
    voices: Sequence[int | None] = range(len(chorales.VOICES)) if style == "chorale" else (None,)
    found = [one for voice in voices for one in repeats(made.notes, SHORTEST, voice)]
    found.sort(key=lambda one: -len(one.first))
    return Kept(
        look=_address(made),
        sound=heard(made, style, grid, licence),
        repeats=[(one.first.tolist(), one.again.tolist(), one.semitones) for one in found],
    )


def _address(made: Made) -> str | None:
    """Where the exact weights of a run are, from now on; None where there is no attention."""
    if not made.queries.size:
        return None
    own = replace(made, nats=np.zeros(0, np.float32), notes=made.notes[:0], at=made.at[:0])  # what weights do not follow from
    arrays = (own.queries, own.keys, own.table)
    layers, heads, length, _ = made.queries.shape
    size = sum(array.nbytes for array in arrays)
    made_of = hashlib.sha256(made.variant.encode() + str([array.shape for array in arrays]).encode())
    for array in arrays:
        made_of.update(np.ascontiguousarray(array).data)
    return looks().put(Look(lambda layer, head, rows: look(own, layer, head, rows), layers, heads, length, size), made_of.digest())
