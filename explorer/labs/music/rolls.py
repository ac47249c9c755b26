"""From what the models of music explain to what the pictures of music draw: the weights kept for those who look closer, sound, repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer import controls, sound
from explorer.figures import roll
from explorer.looks import keep
from explorer.packing import pack, spelled
from models.music import chorales
from models.music.notes import notes_of_events
from models.music.records import GRID, Explanation, Half, Made, Request, Step, Whole, read_motif
from models.music.repeats import repeats
from models.music.weights import look

Text = Mapping[str, str]
Texts = Mapping[str, Text]
Value = dict[str, object]

SHORTEST = 5  # notes of a motif that comes back
BRACKETS = 6  # pairs of motifs that are shown of each model
UNSEEN: Half = np.zeros((0, 0, 0, 0), np.float16)  # queries, keys and table of what has no attention, or none yet


def done(
    seen: Explanation,
    request: Request,
    query: str,
    *,
    names: Texts,
    about: Texts,
    state: str,
    pick: Mapping[str, object] | None = None,
    licence: Text | None = None,
) -> Value:
    """What the roll draws of a finished run.

    names, about: of each variant; a few words. query: its permalink. state: "stored" or "live". pick: {"model", "head" ("3.4", from 1),
    "note"}, locked on arrival; left out, a telling one is looked for. licence: what binds whoever takes this music along, a sentence that
    stands by the rolls and in what leaves the page. It takes some hundredths of a second: not in the thread that serves pages.
    """
    picked = roll.telling(seen.made, look, request.style) if pick is None else pick
    models = []
    for made in seen.made:
        model = _told(made, request, names, about)
        model |= {"said": pack(np.asarray(made.events, np.int32)), "costs": pack(made.nats, unit=False)}
        model["sound"] = heard(made, request.style, seen.grid, licence)
        if made.queries.size:
            where = {"heads": list(made.queries.shape[:2]), "note": _first(made, picked)}
            model |= {**where, "look": _address(made), "owner": pack(roll.owners(made, request.style))}
        models.append(model)
    again = {made.variant: _repeats(made, request.style) for made in seen.made}
    return {
        **_run(request, query, seen.made),
        "state": state,
        "models": models,
        "repeats": again,
        "pick": picked,
        "licence": spelled(licence),
    }


def heads(seen: Explanation, request: Request, query: str, *, names: Texts, state: str, pick: Mapping[str, object] | None) -> Value:
    """What the picture of all heads draws of a finished run, each in small, and how far back it listens; arguments as of `done`. It takes
    some tenths of a second."""
    models: list[Value] = []
    for made in seen.made:
        model: Value = {"key": made.variant, "name": spelled(names[made.variant]), "heads": None}
        if made.queries.size:
            shape = made.queries.shape[:2]
            thumbs, distance, watched = roll.watch(made, look)
            small, mean = (pack(each.reshape(*shape, *each.shape[1:])) for each in (thumbs, distance))
            model |= {"heads": list(shape), "thumbs": small, "distance": mean, "watched": watched, "note": _first(made, pick)}
        models.append(model)
    silenced = [list(one) for one in request.silenced]
    return {**_run(request, query, seen.made), "state": state, "models": models, "silenced": silenced, "pick": pick}


def _run(request: Request, query: str, made: Sequence[Made]) -> Value:
    """What the pictures say of a run. same: what runs on one motif have in common, whatever is changed in the models."""
    steps = max((one.steps for one in made), default=0)
    return {"style": request.style, "grid": GRID[request.style], "query": query, "same": _input(request), "steps": steps}


def _told(made: Made, request: Request, names: Texts, about: Texts) -> Value:
    free = ~made.given
    return {
        "key": made.variant,
        "name": spelled(names[made.variant]),
        "about": spelled(about.get(made.variant, {"en": "", "zh": ""})),
        "nats": round(float(made.nats[free].mean()), 4) if free.any() else None,
        "notes": pack(made.notes),
        "at": pack(made.at),
        "given": int(made.given.sum()),
        "given_notes": pack(made.given[made.at]),
        "until": roll.given_until(made.events, made.given, request.style),
        "events": len(made.events),
        "steps": made.steps,
        "of": len(made.events),
        "sound": None,
        "heads": None,
        "look": None,
    }


def _first(made: Made, pick: Mapping[str, object] | None) -> int:
    """The note that is looked at on arrival: of the model that is picked its own, else one in the later half of what was made."""
    if pick is not None and pick["model"] == made.variant and isinstance(pick["note"], int):
        return pick["note"]
    own = np.flatnonzero(~made.given[made.at])
    return int(own[int(0.7 * len(own))]) if len(own) else len(made.at) - 1


def _input(request: Request) -> str:
    """What runs on the same motif have in common, whatever is changed."""
    return controls.query(replace(request, silenced=(), farthest=-1, semitones=0, stretch=1.0))


def events_of(request: Request) -> int:
    """How many events or cells there will be, the motif's included."""
    motif = len(read_motif(request))
    whole = motif * len(chorales.VOICES) if request.mode == "harmonise" else motif + request.length
    return whole + (-whole % len(chorales.VOICES) if request.style == "chorale" else 0)


def growing(request: Request, steps: Sequence[Step], query: str, *, names: Texts, about: Texts) -> Value:
    """What the roll draws while music is made: everything so far, so that a coalesced update loses nothing. steps: all so far, of all
    models; notes of what still sounds end where it stands. Other arguments as of `done`."""
    motif, harmonise = len(read_motif(request)), request.mode == "harmonise"
    parts: dict[str, list[Step]] = {}
    for step in steps:
        parts.setdefault(step.variant, []).append(step)
    grown = []
    for variant, own in parts.items():
        values = np.concatenate([step.events for step in own])
        nats = np.concatenate([step.nats for step in own])
        place = np.arange(len(values))
        given = place % len(chorales.VOICES) == 0 if harmonise else place < motif
        notes, at, lasts = notes_of_events(request.style, _whole_sixteenths(request.style, values))
        whole: tuple[Whole, Whole] = (notes.astype(np.int32), at.astype(np.int32))
        grown.append(Made(variant, values, given, nats, *whole, lasts, UNSEEN, UNSEEN, UNSEEN))
    models = [{**_told(one, request, names, about), "of": events_of(request)} for one in grown]
    return {**_run(request, query, grown), "state": "running", "models": models, "repeats": {}, "pick": None}


def _whole_sixteenths(style: str, values: NDArray[np.int16]) -> NDArray[np.int64]:
    """The same events; of a chorale's last sixteenth the voices that are not made yet are silent."""
    missing = -len(values) % len(chorales.VOICES) if style == "chorale" else 0
    return np.concatenate((values, np.full(missing, chorales.SILENCE))).astype(np.int64)


def heard(made: Made, style: str, grid: int, licence: Text | None = None) -> Value | None:
    """Where the music can be heard and how, as the browser wants it; None where there is no note. licence: of what is taken along."""
    if not len(made.notes):
        return None
    kept = sound.keep(made.notes, style, grid, made.steps, licence["en"] if licence else "")
    return {"wav": kept.wav, "midi": kept.midi, "source": kept.source, "seconds": kept.seconds, "whole": kept.whole}


def _repeats(made: Made, style: str) -> list[list[object]]:
    """The longest motifs that come back, none inside another of them: [[first notes…], [again notes…], semitones]."""
    voices: Sequence[int | None] = range(len(chorales.VOICES)) if style == "chorale" else (None,)
    found = sorted((one for voice in voices for one in repeats(made.notes, SHORTEST, voice)), key=lambda one: -len(one.first))
    shown: list[list[object]] = []
    taken: list[tuple[int, int]] = []
    for one in found:
        spans = [(int(made.notes[part[0], 0]), int(made.notes[part[-1], 1])) for part in (one.first, one.again)]
        if len(shown) < BRACKETS and not any(a < d and c < b for a, b in spans for c, d in taken):
            taken += spans
            shown.append([one.first.tolist(), one.again.tolist(), int(one.semitones)])
    return shown


def _address(made: Made) -> str:
    """Where the exact weights of a run are, from now on."""
    own = replace(made, nats=np.zeros(0, np.float32), notes=made.notes[:0], at=made.at[:0])  # what weights do not follow from
    return keep(made.variant, partial(look, own), own.queries, own.keys, own.table)
