"""From explanations of the models of music to the pictures of music: exact weights on demand,
sound, repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.contract import controls
from explorer.labs.music.figures import roll
from explorer.media import sound
from explorer.values.exact_rows import keep_rows
from explorer.values.packing import convert_to_json, pack_array
from models.music import chorales
from models.music.notes import notes_of_events
from models.music.records import GRID, Explanation, Half, Made, Request, Step, Whole, read_motif
from models.music.repeats import repeats
from models.music.weights import look

Text = Mapping[str, str]
Texts = Mapping[str, Text]
Value = dict[str, object]

SHORTEST = 5  # notes of the shortest motif that counts as a repeat
BRACKETS = 6  # pairs of motifs that are shown for each model
# queries, keys and table of a model without attention, or of a step before any
UNSEEN: Half = np.zeros((0, 0, 0, 0), np.float16)


def draw_finished_roll(
    explanation: Explanation,
    request: Request,
    query: str,
    *,
    names: Texts,
    about: Texts,
    state: str,
    pick: Mapping[str, object] | None = None,
    licence: Text | None = None,
) -> Value:
    """Draw the roll of a finished run.

    names, about: of each variant; a few words. query: its permalink. state: "stored" or "live".
    pick: {"model", "head" ("3.4", from 1), "note"}, locked on arrival; left out, a telling one is
    found. licence: a sentence about the conditions for using this music, which stands by the rolls
    and in exported files. It takes some hundredths of a second: call it outside of the thread that
    serves pages.
    """
    picked = roll.find_telling_note(explanation.made, look, request.style) if pick is None else pick
    models = []
    for made in explanation.made:
        model = _describe_model(made, request, names, about)
        model |= {
            "said": pack_array(np.asarray(made.events, np.int32)),
            "costs": pack_array(made.nats, unit=False),
        }
        model["sound"] = describe_sound(made, request.style, explanation.grid, licence)
        if made.queries.size:
            where = {"heads": list(made.queries.shape[:2]), "note": _find_first_note(made, picked)}
            model |= {
                **where,
                "look": _keep_exact_rows(made),
                "owner": pack_array(roll.find_owners(made, request.style)),
            }
        models.append(model)
    again = {made.variant: _find_repeats(made, request.style) for made in explanation.made}
    return {
        **_describe_run(request, query, explanation.made),
        "state": state,
        "models": models,
        "repeats": again,
        "pick": picked,
        "licence": convert_to_json(licence),
    }


def draw_heads(
    explanation: Explanation,
    request: Request,
    query: str,
    *,
    names: Texts,
    state: str,
    pick: Mapping[str, object] | None,
) -> Value:
    """Draw the picture of all heads of a finished run, each in small, and how far back it listens;
    arguments as for `draw_finished_roll`. It takes some tenths of a second."""
    models: list[Value] = []
    for made in explanation.made:
        model: Value = {
            "key": made.variant,
            "name": convert_to_json(names[made.variant]),
            "heads": None,
        }
        if made.queries.size:
            shape = made.queries.shape[:2]
            thumbs, distance, watched = roll.collect_profiles(made, look)
            small, mean = (
                pack_array(each.reshape(*shape, *each.shape[1:])) for each in (thumbs, distance)
            )
            model |= {
                "heads": list(shape),
                "thumbs": small,
                "distance": mean,
                "watched": watched,
                "note": _find_first_note(made, pick),
            }
        models.append(model)
    silenced = [list(one) for one in request.silenced]
    return {
        **_describe_run(request, query, explanation.made),
        "state": state,
        "models": models,
        "silenced": silenced,
        "pick": pick,
    }


def _describe_run(request: Request, query: str, made: Sequence[Made]) -> Value:
    """Return the facts of a run that the pictures carry. same: what runs on one motif have in
    common, whatever is changed in the models."""
    steps = max((one.steps for one in made), default=0)
    return {
        "style": request.style,
        "grid": GRID[request.style],
        "query": query,
        "same": _describe_input(request),
        "steps": steps,
    }


def _describe_model(made: Made, request: Request, names: Texts, about: Texts) -> Value:
    free = ~made.given
    return {
        "key": made.variant,
        "name": convert_to_json(names[made.variant]),
        "about": convert_to_json(about.get(made.variant, {"en": "", "zh": ""})),
        "nats": round(float(made.nats[free].mean()), 4) if free.any() else None,
        "notes": pack_array(made.notes),
        "at": pack_array(made.at),
        "given": int(made.given.sum()),
        "given_notes": pack_array(made.given[made.at]),
        "until": roll.find_end_of_motif(made.events, made.given, request.style),
        "events": len(made.events),
        "steps": made.steps,
        "of": len(made.events),
        "sound": None,
        "heads": None,
        "look": None,
    }


def _find_first_note(made: Made, pick: Mapping[str, object] | None) -> int:
    """Return the note in view on arrival: the selected one for its model, else one in the later
    half of the generated notes."""
    if pick is not None and pick["model"] == made.variant and isinstance(pick["note"], int):
        return pick["note"]
    own = np.flatnonzero(~made.given[made.at])
    return int(own[int(0.7 * len(own))]) if len(own) else len(made.at) - 1


def _describe_input(request: Request) -> str:
    """Return what runs on the same motif have in common, whatever is changed."""
    return controls.spell_query(
        replace(request, silenced=(), farthest=-1, semitones=0, stretch=1.0)
    )


def count_events(request: Request) -> int:
    """Return how many events or cells there will be, the motif's included."""
    motif = len(read_motif(request))
    whole = motif * len(chorales.VOICES) if request.mode == "harmonise" else motif + request.length
    return whole + (-whole % len(chorales.VOICES) if request.style == "chorale" else 0)


def draw_growing_roll(
    request: Request, steps: Sequence[Step], query: str, *, names: Texts, about: Texts
) -> Value:
    """Draw the roll while music is generated: everything so far, so that a coalesced update loses
    nothing. steps: all so far, of all models; notes that still sound end at the last event. Other
    arguments as for `draw_finished_roll`."""
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
        notes, at, lasts = notes_of_events(
            request.style, _keep_whole_sixteenths(request.style, values)
        )
        whole: tuple[Whole, Whole] = (notes.astype(np.int32), at.astype(np.int32))
        grown.append(Made(variant, values, given, nats, *whole, lasts, UNSEEN, UNSEEN, UNSEEN))
    models = [
        {**_describe_model(one, request, names, about), "of": count_events(request)}
        for one in grown
    ]
    return {
        **_describe_run(request, query, grown),
        "state": "running",
        "models": models,
        "repeats": {},
        "pick": None,
    }


def _keep_whole_sixteenths(style: str, values: NDArray[np.int16]) -> NDArray[np.int64]:
    """Return the same events; in a chorale's last sixteenth, the voices that are not generated yet
    are silent."""
    missing = -len(values) % len(chorales.VOICES) if style == "chorale" else 0
    return np.concatenate((values, np.full(missing, chorales.SILENCE))).astype(np.int64)


def describe_sound(made: Made, style: str, grid: int, licence: Text | None = None) -> Value | None:
    """Keep the music, so that it can be heard, and return its addresses and lengths for the
    browser; None where there is no note. licence: of the exported music."""
    if not len(made.notes):
        return None
    kept = sound.keep_score(made.notes, style, grid, made.steps, licence["en"] if licence else "")
    return {
        "wav": kept.wav,
        "midi": kept.midi,
        "source": kept.source,
        "seconds": kept.seconds,
        "whole": kept.whole,
    }


def _find_repeats(made: Made, style: str) -> list[list[object]]:
    """Find the longest motifs that come back, none inside another of them: [[first notes…], [notes
    of the repeat…], semitones]."""
    voices: Sequence[int | None] = range(len(chorales.VOICES)) if style == "chorale" else (None,)
    found = sorted(
        (one for voice in voices for one in repeats(made.notes, SHORTEST, voice)),
        key=lambda one: -len(one.first),
    )
    shown: list[list[object]] = []
    taken: list[tuple[int, int]] = []
    for one in found:
        spans = [
            (int(made.notes[part[0], 0]), int(made.notes[part[-1], 1]))
            for part in (one.first, one.again)
        ]
        if len(shown) < BRACKETS and not any(a < d and c < b for a, b in spans for c, d in taken):
            taken += spans
            shown.append([one.first.tolist(), one.again.tolist(), int(one.semitones)])
    return shown


def _keep_exact_rows(made: Made) -> str:
    """Keep the exact weights of a run and return their address."""
    # parts that weights do not depend on
    own = replace(made, nats=np.zeros(0, np.float32), notes=made.notes[:0], at=made.at[:0])
    return keep_rows(made.variant, partial(look, own), own.queries, own.keys, own.table)
