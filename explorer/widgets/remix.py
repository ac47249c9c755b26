"""What changes if …, for music: the relative term left out or cut short, heads silenced, the motif moved or stretched; then each model's
roll before, after, the difference, one number, and both to hear.

The value it draws is one JSON object, built with `idle`, `running`, `done` and `refused`:

    state: "empty" | "running" | "done" | "refused"
    request: the request in view, interventions included; None before there is one
    pick: {model, head} looked at on arrival, head as "3.2" counted from 1
    models: keys of those that made what is in view; a knob or a head of another one waits
    rolls: [{key, before, after, number: {before, after}, own, moved, compared, grid}]: nats per event; `own` as in `Pair`;
        before, after: {notes, given, kept: packed (note, 4), (note,), (note,); steps, sound}
    sentence: {en, zh}, parts in ⟦q:…⟧, ⟦k:…⟧, ⟦o:…⟧ wear the colour of query, key and output
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import gradio as gr
import numpy as np
from numpy.typing import NDArray

from explorer.figures import theme
from explorer.packing import pack
from explorer.widgets.base import widget

Text = Mapping[str, str]
Value = dict[str, object]

EVENTS = ("ask",)  # not "change": Gradio fires that itself whenever a value changes


@dataclass(frozen=True)
class Limits:
    """How far the knobs go. semitones: up and down; stretch: the smallest and the largest factor of a piano motif's times."""

    semitones: int
    stretch: tuple[float, float]


@dataclass(frozen=True)
class Side:
    """One model's music. notes: (note, 4) onset and end in steps of the grid, MIDI pitch, velocity or voice; given: (note,) bool.

    steps: how long it lasts. sound: {"wav": address, "midi": address, "source": "piano" | "sine", "seconds": number}, None where there is
    nothing to hear.
    """

    notes: NDArray[np.int32]
    given: NDArray[np.bool_]
    steps: int
    sound: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        if self.notes.ndim != 2 or self.notes.shape[1] != 4 or self.given.shape != self.notes.shape[:1]:
            raise ValueError(f"notes {self.notes.shape} and given {self.given.shape}; (note, 4) and (note,) are meant")


@dataclass(frozen=True)
class Pair:
    """One model before and after. numbers: nats per event as trained and under the intervention, of what was made before where the
    intervention changes how the model reads; where it changes the motif alone (`own`), of what was made each time.

    moved: semitones by which the second motif stands higher; its notes are compared after moving them back. compared: False where times
    were stretched, so that there is no difference note by note. voices: the fourth column of notes tells voices, which are compared too.
    grid: milliseconds of a step.
    """

    key: str
    before: Side
    after: Side
    numbers: tuple[float, float]
    own: bool = False
    moved: int = 0
    compared: bool = True
    voices: bool = False
    grid: int = 125

    def kept(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """(note,) of before and of after: those that begin at the same time, at the same pitch, in the same voice, in both."""
        columns = [0, 2, 3] if self.voices else [0, 2]
        moved = self.after.notes - np.array([0, 0, self.moved, 0], np.int32)
        first, second = ([tuple(note) for note in notes[:, columns].tolist()] for notes in (self.before.notes, moved))
        was, became = set(first), set(second)
        return np.array([note in became for note in first], bool), np.array([note in was for note in second], bool)


def remix(
    value: Value, *, names: Mapping[str, Text], heads: Mapping[str, tuple[int, int]], distances: Mapping[str, int], limits: Limits
) -> gr.HTML:
    """Place the panel. Its event `ask` brings the whole request as it shall be.

    names: of the models. heads: key -> its layers and heads, of those that have any. distances: key -> how many distances it learned an
    embedding of, of those that have a relative term.
    """
    return widget(
        "remix",
        value,
        events=EVENTS,
        names={key: dict(name) for key, name in names.items()},
        heads={key: list(count) for key, count in heads.items()},
        distances=dict(distances),
        limits={"semitones": limits.semitones, "stretch": list(limits.stretch)},
        signed={mode: list(stops) for mode, stops in theme.SIGNED.items()},
    )


def idle(request: Value | None = None, models: Sequence[str] = (), pick: Value | None = None) -> Value:
    """Nothing is changed: the knobs alone."""
    return {"state": "empty", "request": request, "models": list(models), "pick": pick}


def running() -> Value:
    """The models play again; the last rolls stay, dimmed."""
    return {"state": "running"}


def refused(text: Text | None) -> Value:
    """The intervention was refused, in one sentence; without one, nothing came of it and the input bar says why."""
    return {"state": "refused", "error": dict(text) if text else None}


def done(request: Value, models: Sequence[str], pairs: Sequence[Pair], sentence: Text, pick: Value | None = None) -> Value:
    """An answer. models: all that made what is in view; pairs: of those that the intervention reaches."""
    return {
        "state": "done",
        "request": request,
        "models": list(models),
        "pick": pick,
        "rolls": [_roll(pair) for pair in pairs],
        "sentence": dict(sentence),
    }


def _roll(pair: Pair) -> Value:
    was, became = pair.kept()
    return {
        "key": pair.key,
        "before": _side(pair.before, was),
        "after": _side(pair.after, became),
        "number": {"before": float(pair.numbers[0]), "after": float(pair.numbers[1])},
        "own": pair.own,
        "moved": pair.moved,
        "compared": pair.compared,
        "voices": pair.voices,
        "grid": pair.grid,
    }


def _side(side: Side, kept: NDArray[np.bool_]) -> Value:
    return {
        "notes": pack(side.notes),
        "given": pack(side.given),
        "kept": pack(kept),
        "steps": int(side.steps),
        "sound": None if side.sound is None else dict(side.sound),
    }
