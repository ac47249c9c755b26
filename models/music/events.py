"""Expressive piano as a sequence of 388 kinds of event (Simon and Oore, 2017), on a grid of 10 ms.

There are 128 note-ons, 128 note-offs, 100 time shifts of 10 ms to 1 s, and 32 velocities; a
velocity holds for the notes that start after it. At one moment, notes end before others start, both
from the lowest pitch up; time shifts are as long as possible, and a velocity appears only when it
changes. A list of notes on the grid therefore has exactly one sequence, which decodes to the same
notes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PITCHES = 128
STEP = 10  # milliseconds of a step of the grid
SHIFTS = 100  # time shifts: 1 … 100 steps
VELOCITIES = 32  # kinds of velocity
WIDTH = 128 // VELOCITIES  # MIDI velocities of each kind
# The first event of each kind.
NOTE_ON, NOTE_OFF, SHIFT, VELOCITY = 0, PITCHES, 2 * PITCHES, 2 * PITCHES + SHIFTS
EVENTS = VELOCITY + VELOCITIES  # 388
START = EVENTS  # precedes the first event: read, never generated

Events = NDArray[np.int64]
NOTE = np.dtype(
    [("onset", np.int64), ("end", np.int64), ("pitch", np.int64), ("velocity", np.int64)]
)
# An array of type NOTE: onset and end in steps of the grid, the pitch, the kind of velocity 0 … 31.
Notes = NDArray[Any]


class Played(NamedTuple):
    """The notes of a sequence of events.

    at: the event that starts each note, (note,). steps: the duration of the whole.
    """

    notes: Notes
    at: NDArray[np.int64]
    steps: int


def notes_of(
    onset: NDArray[Any], end: NDArray[Any], pitch: NDArray[Any], velocity: NDArray[Any]
) -> Notes:
    """Return notes on the grid, ordered by onset and pitch, from times in milliseconds and MIDI
    velocities 1 … 127.

    A note lasts at least a step, and ends at the latest when the same key is struck again; struck
    twice in one step, it sounds once, with the later end. Raise ValueError for a pitch, velocity or
    time outside the range of MIDI.
    """
    found = np.zeros(len(onset), NOTE)
    found["onset"] = np.rint(np.asarray(onset, np.float64) / STEP)
    found["end"] = np.maximum(np.rint(np.asarray(end, np.float64) / STEP), found["onset"] + 1)
    found["pitch"], found["velocity"] = pitch, np.asarray(velocity, np.int64) // WIDTH
    for name, most in (("pitch", PITCHES), ("velocity", VELOCITIES)):
        if len(found) and (found[name].min() < 0 or found[name].max() >= most):
            raise ValueError(f"{name} outside 0 … {127}")
    if len(found) and found["onset"].min() < 0:
        raise ValueError("a note begins before the music does")
    return _cut(found)


def _cut(notes: Notes) -> Notes:
    """Shorten notes so that no key sounds twice at once."""
    order = np.lexsort((notes["end"], notes["onset"], notes["pitch"]))
    notes = notes[order]
    same = (notes["pitch"][1:] == notes["pitch"][:-1]) & (notes["onset"][1:] == notes["onset"][:-1])
    notes = notes[np.append(~same, True)] if len(notes) else notes
    again = notes["pitch"][1:] == notes["pitch"][:-1]
    notes["end"][:-1] = np.where(
        again, np.minimum(notes["end"][:-1], notes["onset"][1:]), notes["end"][:-1]
    )
    return notes[np.lexsort((notes["pitch"], notes["onset"]))]


def events_of(notes: Notes) -> Events:
    """Return the one sequence of events for the notes of `notes_of`, without silence before the
    first note, (event,)."""
    if not len(notes):
        return np.zeros(0, np.int64)
    count = len(notes)
    time = np.concatenate((notes["onset"], notes["end"])) - notes["onset"].min()
    kind = np.repeat((1, 0), count)  # ends come before starts
    pitch = np.concatenate((notes["pitch"], notes["pitch"]))
    order = np.lexsort((pitch, kind, time))
    time, kind, pitch = time[order], kind[order], pitch[order]
    velocity = np.concatenate((notes["velocity"], notes["velocity"]))[order]

    gap = np.diff(time, prepend=0)
    whole, rest = np.divmod(gap, SHIFTS)
    shifts = whole + (rest > 0)
    begins = np.flatnonzero(kind)
    told = np.zeros(2 * count, np.int64)
    told[begins] = np.diff(velocity[begins], prepend=-1) != 0

    places = np.cumsum(shifts + told + 1) - 1  # the place of each note-on or note-off
    events = np.full(places[-1] + 1, SHIFT + SHIFTS - 1, np.int64)
    events[places] = np.where(kind == 1, NOTE_ON, NOTE_OFF) + pitch
    changed = told > 0
    events[places[changed] - 1] = VELOCITY + velocity[changed]
    short = rest > 0
    events[(places - told - 1)[short]] = SHIFT + rest[short] - 1
    return events


def notes_from(events: Events) -> Played:
    """Return the notes of any sequence of events, ordered by onset and pitch.

    A generated sequence may be irregular: a note without a velocity before it has the middle one; a
    key struck again ends its note; a note-off of a silent key is ignored; notes that still sound at
    the end stop there, at least a step after their onset. Raise ValueError for a number that is no
    event.
    """
    now, velocity = 0, VELOCITIES // 2
    open_: dict[int, tuple[int, int, int]] = {}
    found: list[tuple[int, int, int, int]] = []
    begun: list[int] = []

    def close(pitch: int) -> None:
        onset, loud, at = open_.pop(pitch)
        if now > onset:
            found.append((onset, now, pitch, loud))
            begun.append(at)

    for place, event in enumerate(events.tolist()):
        if not 0 <= event < EVENTS:
            raise ValueError(f"event {event}; expected 0 … {EVENTS - 1}")
        if event < NOTE_OFF:
            if event in open_:
                close(event)
            open_[event] = (now, velocity, place)
        elif event < SHIFT:
            if event - NOTE_OFF in open_:
                close(event - NOTE_OFF)
        elif event < VELOCITY:
            now += event - SHIFT + 1
        else:
            velocity = event - VELOCITY
    last = now
    for pitch in list(open_):
        now = max(last, open_[pitch][0] + 1)
        close(pitch)
    notes = np.array(found, NOTE)
    order = np.lexsort((notes["pitch"], notes["onset"]))
    return Played(
        notes[order],
        np.array(begun, np.int64)[order],
        max(last, int(notes["end"].max()) if len(notes) else 0),
    )


def onsets(events: Events) -> NDArray[np.int64]:
    """Return the step at which each event takes place, (event,); for a time shift, the step to
    which it leads."""
    shift = np.where((events >= SHIFT) & (events < VELOCITY), events - SHIFT + 1, 0)
    found: NDArray[np.int64] = np.cumsum(shift)
    return found


def milliseconds(events: Events) -> int:
    """Return the duration of a sequence in milliseconds."""
    return int(onsets(events)[-1]) * STEP if len(events) else 0
