"""From what the models of music explain to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from explorer import permalink
from explorer.figures import roll
from explorer.lab import GuidedStep, Picture
from explorer.labels import filled
from explorer.labs import runs
from explorer.labs.music import about, change, rolls, texts
from explorer.labs.runs import Stored
from explorer.widgets import remix, tune
from models.music import chorales
from models.music.records import (
    CHORALES,
    EXAMPLES,
    GRID,
    HOTTEST,
    MAX_MADE,
    MAX_MOTIF,
    MAX_SEED,
    MAX_SHIFT,
    MODELS,
    PIANO,
    STRETCH,
    Comparison,
    Explanation,
    Made,
    Request,
    Step,
    styles,
)
from models.music.weights import look

Text = Mapping[str, str]
Value = dict[str, object]

MODES = {"chorale": ("continue", "harmonise"), "piano": ("continue",)}
KEYS = {"chorale": (48, chorales.HIGHEST), "piano": (36, 96)}  # lowest and highest MIDI pitch of the keyboard on the page
LIMITS = tune.Limits(motif=MAX_MOTIF, made=MAX_MADE, grid=GRID, keys=KEYS, temperature=(0.0, HOTTEST, 0.1), seed=MAX_SEED)
KNOBS = remix.Limits(semitones=MAX_SHIFT, stretch=STRETCH)
SHOWN = 48  # sixteenths of the first example that the family map shows
LOUD = {True: 130, False: 255}  # levels of the map's picture: what was given, what was made


@cache
def first() -> Stored[Request, Explanation] | None:
    """The stored first example, or None where none is shipped."""
    return runs.first("music", EXAMPLES[0], Explanation)


# ---- requests ----------------------------------------------------------------------------------------------------------------------


def query(request: Request) -> str:
    """The request part of the permalink; the longest motif that a model reads fits into it."""
    return permalink.encode(request)


def examples() -> list[Value]:
    """What the input bar offers to begin with: of the styles whose models are there."""
    return [
        {**change.spelled(request), "query": query(request), "title": dict(title), "short": dict(short)}
        for request, (title, short) in zip((*CHORALES, *PIANO), texts.EXAMPLES, strict=True)
        if request in EXAMPLES
    ]


def offered() -> list[Value]:
    """The styles that the input bar offers; chorales alone while no model is there."""
    return [
        {"key": style, "name": dict(texts.STYLES[style]), "modes": list(MODES[style]), "models": len(models(style))}
        for style in styles() or ("chorale",)
    ]


def models(style: str) -> tuple[str, ...]:
    """The models of a style that are shipped, in the order in which they stand side by side."""
    known = about.facts()
    return tuple(variant for variant in MODELS[style] if variant in known)


def heads() -> dict[str, tuple[int, int]]:
    """Layers and heads of every model that has any."""
    sizes = {variant: one["config"] for variant, one in about.facts().items()}
    return {variant: (size["n_layers"], size["n_heads"]) for variant, size in sizes.items() if "n_heads" in size}


def distances() -> dict[str, int]:
    """For how many distances each model learned an embedding, of those that have a relative term."""
    return {variant: size for variant, one in about.facts().items() if (size := one["config"].get("distances", 0))}


# ---- the input bar and the mechanism -----------------------------------------------------------------------------------------------


def growing(request: Request, steps: Sequence[Step]) -> tuple[Value, Value]:
    """What the input bar and the rolls draw while music is made. steps: all so far, of all models."""
    address = query(request)
    grown: Any = rolls.growing(request, steps, address, names=texts.NAMES, about=texts.ABOUT)
    whole = max((int(model["of"]) for model in grown["models"]), default=0)
    of = whole * max(len(models(request.style)), len(grown["models"]))
    return tune.running(change.spelled(request), address, sum(len(step.events) for step in steps), of), grown


def result(seen: Explanation, request: Request, *, state: str, milliseconds: float, device: str, notice: Text | None = None) -> Value:
    """What the input bar draws of one finished run."""
    return tune.done(
        change.spelled(request),
        query(request),
        state=state,
        milliseconds=milliseconds,
        device=device,
        notice=joined(notice, bent(request)),
    )


def licence_of(request: Request) -> Text | None:
    """What binds whoever takes along what is made; None for what is free."""
    return texts.PIANO_LICENCE if request.style == "piano" else None


def bent(request: Request) -> Text | None:
    """What to say where notes are not drawn from the model's own distribution; None for small changes."""
    if 0.75 <= request.temperature <= 1.25:
        return None
    changed = texts.SHARPER if request.temperature < 1 else texts.FLATTER
    return filled(texts.HOT, changed=changed, temperature=f"{request.temperature:g}")


def joined(*notices: Text | None) -> Text | None:
    """Several remarks as one, or None for none."""
    said = [notice for notice in notices if notice]
    return {"en": " ".join(one["en"] for one in said), "zh": "".join(one["zh"] for one in said)} if said else None


def finished(
    seen: Explanation, request: Request, *, state: str, milliseconds: float, device: str, notice: Text | None = None
) -> tuple[Value, Value, Value]:
    """What the input bar, the rolls and the panel of knobs draw of one finished run. state: "stored" or "live".

    It takes some tenths of a second, most of it for the small pictures of all heads.
    """
    bar = result(seen, request, state=state, milliseconds=milliseconds, device=device, notice=notice)
    drawn = rolls.done(seen, request, query(request), names=texts.NAMES, about=texts.ABOUT, state=state, licence=licence_of(request))
    return bar, drawn, remix.idle(change.spelled(request), [made.variant for made in seen.made], _pick(drawn))


def _pick(drawn: Value) -> Value | None:
    """The model and the head that are looked at on arrival, as the panel of knobs wants them."""
    pick = drawn["pick"]
    return {"model": pick["model"], "head": pick["head"]} if isinstance(pick, dict) else None


def changed(compared: Comparison, request: Request) -> Value:
    """What the panel draws of a comparison."""
    before = compared.before.made
    pick = roll.telling(before, look, request.style)
    here = None if pick is None else {"model": pick["model"], "head": pick["head"]}

    def heard(made: Made, seen: Explanation) -> Mapping[str, object] | None:
        return rolls.heard(made, request.style, seen.grid, licence_of(request))

    return change.done(compared, request, texts.NAMES, [made.variant for made in before], here, heard)


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


@cache
def telling() -> Mapping[str, Any] | None:
    """The telling note of the stored first result: {"model", "head", "note"}; None where none is stored."""
    kept = first()
    return None if kept is None else roll.telling(kept.seen.made, look, kept.request.style)


def thumbnail() -> Picture | None:
    """The first roll of the stored result up to its telling note, which is outlined with the note that it looks at most."""
    kept, pick = first(), telling()
    if kept is None or pick is None:
        return None
    made = next(one for one in kept.seen.made if one.variant == pick["model"])
    note = int(pick["note"])
    layer, head = (int(part) - 1 for part in str(pick["head"]).split("."))
    weights = roll.by_note(look(made, layer, head, [int(made.at[note])]), roll.owners(made, kept.request.style), len(made.notes))[0]
    weights[made.notes[:, 0] >= made.notes[note, 0]] = 0  # itself, held on, is no look back
    key = int(weights.argmax())
    end = max(SHOWN, int(made.notes[note, 1]) + 1)
    start = max(0, min(end - SHOWN, int(made.notes[key, 0]) - 1))
    return pictured(made, (note, key), start, end)


def pictured(made: Made, asks: tuple[int, int], start: int, end: int) -> Picture:
    """Notes from step `start` to step `end`, a row for each semitone. asks: the note that looks, and the one that it looks at."""
    given = made.given[made.at]
    shown = (made.notes[:, 1] > start) & (made.notes[:, 0] < end)
    top, bottom = int(made.notes[shown, 2].max()) + 2, int(made.notes[shown, 2].min()) - 2
    rows, columns = top - bottom + 1, end - start

    def box(number: int) -> tuple[int, int, int, int]:
        onset, until, pitch, _ = made.notes[number].tolist()
        return top - pitch, max(0, onset - start), top - pitch + 1, min(columns, until - start)

    levels = np.zeros((rows, columns), np.uint8)
    for number in np.flatnonzero(shown).tolist():
        row, left, _, right = box(number)
        levels[row, left:right] = LOUD[bool(given[number])]
    outlines = tuple((role, _roomy(box(number), rows, columns)) for role, number in (("query", asks[0]), ("key", asks[1])))
    return Picture(levels, np.ones(levels.shape, bool), outlines)


def _roomy(box: tuple[int, int, int, int], rows: int, columns: int) -> tuple[int, int, int, int]:
    """A box with a margin of a cell on every side, inside the picture."""
    top, left, bottom, right = box
    return max(0, top - 1), max(0, left - 1), min(rows, bottom + 1), min(columns, right + 1)


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, views that show what the stored run has to tell.

    What needs the models of piano, or what was measured of them, is told of chorales while it is not there.
    """
    start = EXAMPLES[0]
    here = dict(telling() or {"model": "jsb_relative", "head": "1.1", "note": 0})
    note = {key: str(value) for key, value in here.items()}
    head = {"model": note["model"], "head": note["head"]}
    goes_on = next(example for example in EXAMPLES if example.mode == "continue")
    shown: dict[str, tuple[str, Mapping[str, str], str]] = {
        "language": ("", head, "roll"),
        "motifs": (query(goes_on), {"motifs": "1"}, "roll"),
        "motif": (query(EXAMPLES[1]), {"model": "jsb_transformer"}, "roll"),
        "distance": (query(replace(start, farthest=0)), note, "roll"),
        "skew": ("", {**note, "skew": "open"}, ""),
        "arcs": ("", note, "roll"),
    }
    if "piano" in styles():
        del shown["motif"]
        shown["motif_piano"] = (query(PIANO[0]), {"model": "relative"}, "roll")
    if about.beyond():
        del shown["arcs"]
        shown["lengths"] = ("", {**note, "lengths": "open"}, "")
    return tuple(GuidedStep(title, say, *shown[key]) for key, title, say in texts.STEPS if key in shown)
