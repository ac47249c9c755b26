"""The views of the models of music, from explanations to values of the widgets: pure functions of
records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from explorer.components import input_bar
from explorer.contract.control_kinds import (
    ChoiceControl,
    Control,
    MenuControl,
    MotifControl,
    SeedControl,
    SliderControl,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, MapPicture
from explorer.contract.labels import SIZES, Text, fill_text
from explorer.labs.music import about, rolls, texts
from explorer.labs.music.figures import roll
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.panels import passages
from models.explaining.shared_records import LIMIT
from models.music import chorales
from models.music.records import (
    EXAMPLES,
    GRID,
    MAX_MADE,
    MAX_MOTIF,
    MODELS,
    PIANO,
    Explanation,
    Made,
    Request,
    Step,
    styles,
)
from models.music.weights import look

Value = dict[str, object]

# lowest and highest MIDI pitch of the keyboard on the page
KEYS = {"chorale": (48, chorales.HIGHEST), "piano": (36, 96)}
UPLOAD = "/music/"  # prefix of the address that reads MIDI files; the style follows
BAR = 64  # cells of a bar of a chorale
SHOWN = 48  # sixteenths of the first example on the family map
LOUD = {True: 130, False: 255}  # levels of the map's picture: given notes, generated notes


first = runs.load_first_once("music", EXAMPLES[0], Explanation)


# ---- the input bar


@dataclass(frozen=True)
class Score:
    """The way to write a motif of one style. most: events or cells that may be given. grid:
    milliseconds of a step. keys: the lowest and the highest MIDI pitch of the keyboard, white keys
    both. upload: the address that reads a file. models: how many continue the motif."""

    most: int
    grid: int
    keys: tuple[int, int]
    upload: str
    models: int


@dataclass(frozen=True)
class Motifs:
    """The motifs that a request may hold, by its `style`; its `mode` says whether it is a melody.
    file: largest size of a MIDI file in bytes."""

    styles: Mapping[str, Score]
    file: int = 256 << 10


def list_models(style: str) -> tuple[str, ...]:
    """Return the models of a style that are shipped, in the order of the page."""
    known = about.facts()
    return tuple(variant for variant in MODELS[style] if variant in known)


def list_controls() -> tuple[Control, ...]:
    """Return the controls of a motif, of its continuation, and of how it is generated: for the
    styles whose models are shipped, for chorales alone while none is."""
    known = styles() or ("chorale",)
    several = len(known) > 1
    scores = {
        style: Score(
            MAX_MOTIF[style], GRID[style], KEYS[style], UPLOAD + style, len(list_models(style))
        )
        for style in known
    }
    lengths = []
    for style in known:
        offered = [MAX_MADE[style] * eighths // 8 for eighths in (1, 2, 4, 6, 8)]
        names = {
            n: (
                fill_text(texts.BARS, n=n // BAR)
                if style == "chorale"
                else fill_text(texts.EVENTS[style], n=f"{n:,}")
            )
            for n in offered
        }
        when = ({"style": (style,)} if several else {}) | (
            {"mode": ("continue",)} if style == "chorale" else {}
        )
        lengths.append(
            MenuControl(
                "length",
                texts.LENGTH,
                names=names,
                unit=texts.EVENTS[style],
                hint=texts.LENGTH_HINT,
                when=when,
            )
        )
    chorale = {"style": ("chorale",)} if several else {}
    named = {style: texts.STYLES[style] for style in known}
    return (
        *([ChoiceControl("style", texts.STYLE, names=named)] if several else []),
        *(
            [
                ChoiceControl(
                    "mode",
                    texts.MODE,
                    names=texts.MODES,
                    hint=texts.MODE_HINT,
                    when=chorale,
                )
            ]
            if "chorale" in known
            else []
        ),
        MotifControl("motif", texts.MOTIF, script="labs/music/motif.js", own=Motifs(scores)),
        *lengths,
        SliderControl("temperature", texts.TEMPERATURE, hint=texts.TEMPERATURE_HINT, step=0.1),
        SeedControl("seed", texts.SEED_LABEL, hint=texts.SEED_HINT),
    )


def notice(request: Request, _seen: Explanation) -> Text | None:
    """Return a note where notes are not drawn from the model's own distribution; None for small
    changes."""
    return passages.warn_of_temperature(request.temperature, texts.HOT)


def lines(explanation: Explanation, request: Request) -> list[Text]:
    """Return the lines of a run's text file: for each model the number of notes it generated, and
    its cost of an event."""
    return [
        fill_text(
            texts.MADE,
            name=texts.NAMES[made.variant],
            n=int((~made.given[made.at]).sum()),
            nats=f"{made.nats[~made.given].mean() if not made.given.all() else 0:.3f}",
            event=texts.EVENT[request.style],
        )
        for made in explanation.made
    ]


def describe_endings(explanation: Explanation, request: Request) -> list[Value]:
    """Return why generation ends: the requested number of events is reached, or every note of the
    melody has its chord."""
    unit = SIZES["cells" if request.style == "chorale" else "events"]
    return [
        input_bar.describe_ending(LIMIT, int((~made.given).sum()), unit, texts.NAMES[made.variant])
        for made in explanation.made
    ]


# ---- a run


def progress(steps: Sequence[Step], request: Request) -> Text:
    """Return the sentence that says how far all models together have come."""
    of = rolls.count_events(request) * len(list_models(request.style))
    return fill_text(
        texts.PROGRESS[request.style],
        at=f"{sum(len(step.events) for step in steps):,}",
        of=f"{of:,}",
    )


def draw_growing_rolls(steps: Sequence[Step], request: Request) -> Value:
    """Draw the rolls while music is generated. steps: all so far, of all models."""
    return rolls.draw_growing_roll(
        request, steps, spell_query(request), names=texts.NAMES, about=texts.ABOUT
    )


@dataclass(frozen=True)
class Run:
    """A run with its selection on arrival."""

    seen: Explanation
    pick: Value | None


def prepare(explanation: Explanation, request: Request) -> Run:
    """Prepare a run with its selection on arrival: its telling note."""
    return Run(explanation, roll.find_telling_note(explanation.made, look, request.style))


def draw_rolls(run: Run, request: Request, state: str) -> Value:
    """Draw the rolls."""
    how: dict[str, Any] = {
        "names": texts.NAMES,
        "about": texts.ABOUT,
        "licence": texts.find_licence(request.style),
    }
    return rolls.draw_finished_roll(
        run.seen, request, spell_query(request), state=state, pick=run.pick, **how
    )


def draw_heads(run: Run, request: Request, state: str) -> Value:
    """Draw the picture of all heads."""
    return rolls.draw_heads(
        run.seen, request, spell_query(request), names=texts.NAMES, state=state, pick=run.pick
    )


# ---- the family map and the guided steps


@cache
def find_telling_note() -> Mapping[str, Any] | None:
    """Return the telling note of the stored first result: {"model", "head", "note"}; None where
    none is stored."""
    kept = first()
    return (
        None if kept is None else roll.find_telling_note(kept.seen.made, look, kept.request.style)
    )


def thumbnail(explanation: Explanation) -> MapPicture | None:
    """Draw the first roll of the stored result up to its telling note, which is outlined with the
    note that it looks at most."""
    pick = find_telling_note()
    if pick is None:
        return None
    made = next(one for one in explanation.made if one.variant == pick["model"])
    note = int(pick["note"])
    layer, head = (int(part) - 1 for part in str(pick["head"]).split("."))
    weights = roll.sum_by_note(
        look(made, layer, head, [int(made.at[note])]),
        roll.find_owners(made, EXAMPLES[0].style),
        len(made.notes),
    )[0]
    # the note itself, held on, does not count as a look back
    weights[made.notes[:, 0] >= made.notes[note, 0]] = 0
    key = int(weights.argmax())
    end = max(SHOWN, int(made.notes[note, 1]) + 1)
    start = max(0, min(end - SHOWN, int(made.notes[key, 0]) - 1))
    return draw_notes(made, (note, key), start, end)


def draw_notes(made: Made, asks: tuple[int, int], start: int, end: int) -> MapPicture:
    """Draw the notes from step `start` to step `end`, a row for each semitone. asks: the note that
    looks, and the one that it looks at."""
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
    outlines = tuple(
        (role, _add_margin(box(number), rows, columns))
        for role, number in (("query", asks[0]), ("key", asks[1]))
    )
    return MapPicture(levels, np.ones(levels.shape, bool), outlines)


def _add_margin(
    box: tuple[int, int, int, int], rows: int, columns: int
) -> tuple[int, int, int, int]:
    """Return a box with a margin of a cell on every side, inside the picture."""
    top, left, bottom, right = box
    return max(0, top - 1), max(0, left - 1), min(rows, bottom + 1), min(columns, right + 1)


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views in which the stored run shows
    the point.

    Steps that need the models of piano, or their measurements, use chorales while these are not
    shipped.
    """
    start = EXAMPLES[0]
    here = dict(find_telling_note() or {"model": "jsb_relative", "head": "1.1", "note": 0})
    note = {key: str(value) for key, value in here.items()}
    head = {"model": note["model"], "head": note["head"]}
    goes_on = next(example for example in EXAMPLES if example.mode == "continue")
    shown: dict[str, Shown] = {
        "language": ("", head, "roll"),
        "motifs": (spell_query(goes_on), {"motifs": "1"}, "roll"),
        "motif": (spell_query(EXAMPLES[1]), {"model": "jsb_transformer"}, "roll"),
        # other music, with a telling note of its own
        "distance": (spell_query(replace(start, farthest=0)), head, "roll", "change"),
        "skew": ("", {**note, "skew": "open"}, ""),
        "arcs": ("", note, "roll"),
    }
    if "piano" in styles():
        del shown["motif"]
        shown["motif_piano"] = (spell_query(PIANO[0]), {"model": "relative"}, "roll")
    if about.is_measured_beyond():
        del shown["arcs"]
        shown["lengths"] = ("", {**note, "lengths": "open"}, "")
    return build_steps(texts, shown)
