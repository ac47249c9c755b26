"""From what the models of music explain to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from explorer import runs
from explorer.controls import Control, query
from explorer.figures import roll
from explorer.lab import GuidedStep, Picture
from explorer.labels import Text, filled
from explorer.labs import passages
from explorer.labs.guided import Shown, guided
from explorer.labs.music import about, rolls, texts
from models.music import chorales
from models.music.records import CHORALES, EXAMPLES, GRID, MAX_MADE, MAX_MOTIF, MODELS, PIANO, Explanation, Made, Request, Step, styles
from models.music.weights import look

Value = dict[str, object]

KEYS = {"chorale": (48, chorales.HIGHEST), "piano": (36, 96)}  # lowest and highest MIDI pitch of the keyboard on the page
UPLOAD = "/music/"  # where MIDI files are sent to be read, and the style
BAR = 64  # cells of a bar of a chorale
SHOWN = 48  # sixteenths of the first example that the family map shows
LOUD = {True: 130, False: 255}  # levels of the map's picture: what was given, what was made


first = runs.kept("music", EXAMPLES[0], Explanation)


# ---- the input bar -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Score:
    """How a motif of one style is written. most: events or cells that may be given. grid: milliseconds of a step. keys: the lowest and the
    highest MIDI pitch of the keyboard, white keys both. upload: where a file is sent to be read. models: how many go on from it."""

    most: int
    grid: int
    keys: tuple[int, int]
    upload: str
    models: int


@dataclass(frozen=True)
class Motifs:
    """What a motif may be, by the request's `style`; its `mode` says whether it is a melody. file: largest size of a MIDI file in bytes."""

    styles: Mapping[str, Score]
    file: int = 256 << 10


def models(style: str) -> tuple[str, ...]:
    """The models of a style that are shipped, in the order in which they stand side by side."""
    known = about.facts()
    return tuple(variant for variant in MODELS[style] if variant in known)


def titles() -> list[tuple[Text, Text]]:
    """What each example is, and the word or two on its chip."""
    named = zip((*CHORALES, *PIANO), texts.EXAMPLES, strict=True)
    return [said for request, said in named if request in EXAMPLES]


def asked() -> tuple[Control, ...]:
    """The controls of a motif, of what is made of it, and how: of the styles whose models are there, chorales alone while none is."""
    known = styles() or ("chorale",)
    several = len(known) > 1
    scores = {style: Score(MAX_MOTIF[style], GRID[style], KEYS[style], UPLOAD + style, len(models(style))) for style in known}
    lengths = []
    for style in known:
        offered = [MAX_MADE[style] * eighths // 8 for eighths in (1, 2, 4, 6, 8)]
        names = {n: filled(texts.BARS, n=n // BAR) if style == "chorale" else filled(texts.EVENTS[style], n=f"{n:,}") for n in offered}
        when = ({"style": (style,)} if several else {}) | ({"mode": ("continue",)} if style == "chorale" else {})
        lengths.append(Control("length", texts.LENGTH, "select", names=names, unit=texts.EVENTS[style], hint=texts.LENGTH_HINT, when=when))
    chorale = {"style": ("chorale",)} if several else {}
    named = {style: texts.STYLES[style] for style in known}
    return (
        *([Control("style", texts.STYLE, "choice", names=named)] if several else []),
        *([Control("mode", texts.MODE, "choice", names=texts.MODES, hint=texts.MODE_HINT, when=chorale)] if "chorale" in known else []),
        Control("motif", texts.MOTIF, "motif", script="labs/music/motif.js", own=Motifs(scores)),
        *lengths,
        Control("temperature", texts.TEMPERATURE, "number", hint=texts.TEMPERATURE_HINT, step=0.1),
        Control("seed", texts.SEED_LABEL, "seed", hint=texts.SEED_HINT),
    )


def notice(request: Request, _seen: Explanation) -> Text | None:
    """What to say where notes are not drawn from the model's own distribution; None for small changes."""
    return passages.heated(request.temperature, texts.HOT)


def lines(seen: Explanation, request: Request) -> list[Text]:
    """What a text file of a run says: of each model how many notes it made, and what an event cost it."""
    return [
        filled(
            texts.MADE,
            name=texts.NAMES[made.variant],
            n=int((~made.given[made.at]).sum()),
            nats=f"{made.nats[~made.given].mean() if not made.given.all() else 0:.3f}",
            event=texts.EVENT[request.style],
        )
        for made in seen.made
    ]


# ---- a run -------------------------------------------------------------------------------------------------------------------------


def progress(steps: Sequence[Step], request: Request) -> Text:
    """How far all models together have come."""
    of = rolls.events_of(request) * len(models(request.style))
    return filled(texts.PROGRESS[request.style], at=f"{sum(len(step.events) for step in steps):,}", of=f"{of:,}")


def rolls_growing(steps: Sequence[Step], request: Request) -> Value:
    """What the rolls draw while music is made. steps: all so far, of all models."""
    return rolls.growing(request, steps, query(request), names=texts.NAMES, about=texts.ABOUT)


@dataclass(frozen=True)
class Run:
    """A run with what is looked at on arrival."""

    seen: Explanation
    pick: Value | None


def prepare(seen: Explanation, request: Request) -> Run:
    """A run with what is looked at on arrival: its telling note."""
    return Run(seen, roll.telling(seen.made, look, request.style))


def rolls_of(run: Run, request: Request, state: str) -> Value:
    """What the rolls draw."""
    how: dict[str, Any] = {"names": texts.NAMES, "about": texts.ABOUT, "licence": texts.licence(request.style)}
    return rolls.done(run.seen, request, query(request), state=state, pick=run.pick, **how)


def heads_of(run: Run, request: Request, state: str) -> Value:
    """What the picture of all heads draws."""
    return rolls.heads(run.seen, request, query(request), names=texts.NAMES, state=state, pick=run.pick)


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


@cache
def telling() -> Mapping[str, Any] | None:
    """The telling note of the stored first result: {"model", "head", "note"}; None where none is stored."""
    kept = first()
    return None if kept is None else roll.telling(kept.seen.made, look, kept.request.style)


def thumbnail(seen: Explanation) -> Picture | None:
    """The first roll of the stored result up to its telling note, which is outlined with the note that it looks at most."""
    pick = telling()
    if pick is None:
        return None
    made = next(one for one in seen.made if one.variant == pick["model"])
    note = int(pick["note"])
    layer, head = (int(part) - 1 for part in str(pick["head"]).split("."))
    weights = roll.by_note(look(made, layer, head, [int(made.at[note])]), roll.owners(made, EXAMPLES[0].style), len(made.notes))[0]
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
    shown: dict[str, Shown] = {
        "language": ("", head, "roll"),
        "motifs": (query(goes_on), {"motifs": "1"}, "roll"),
        "motif": (query(EXAMPLES[1]), {"model": "jsb_transformer"}, "roll"),
        "distance": (query(replace(start, farthest=0)), head, "roll", "change"),  # other music, with a telling note of its own
        "skew": ("", {**note, "skew": "open"}, ""),
        "arcs": ("", note, "roll"),
    }
    if "piano" in styles():
        del shown["motif"]
        shown["motif_piano"] = (query(PIANO[0]), {"model": "relative"}, "roll")
    if about.beyond():
        del shown["arcs"]
        shown["lengths"] = ("", {**note, "lengths": "open"}, "")
    return guided(texts, shown)
