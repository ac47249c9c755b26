"""The input bar and the panel of changes of the music lab on a page of a few lines: no music is
made, and changes are made up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.components.change_panel import Rolls
from explorer.figures.rollpairs import MusicSide, RollPair
from explorer.labs.music import change, texts, views
from explorer.page.program import AnswerBar, Change, Program
from explorer.page.runs import StoredRun
from models.music import chorales
from models.music.records import Request, melody, motif, spell_events
from tests.explorer.small_lab import ABOUT, HOSTILE, Seen, nothing_made, text

SEVEN = 7  # semitones that the model refuses
# sixteenths of S A T B
FOUR = np.array([[72, 67, 64, 48], [72, 67, 64, 48], [-1, 65, 62, 43], [71, -1, -1, -1]])
EXAMPLES = (
    Request(motif=melody((72, 71, 0, 69, 71))),
    Request(mode="continue", motif=spell_events(chorales.cells_of(FOUR)), length=128, seed=3),
    Request("piano", "continue", motif((60, 64, 67)), 512, temperature=0.9),
)
TITLES = (
    text("Chorale", "众赞歌"),
    text("Four voices", "四声部"),
    text("Broken chords", "分解和弦"),
)


def side(pitches: Sequence[int], name: str) -> MusicSide:
    """A melody of whole bars of which the first is given, with the address of its sound."""
    notes = np.array([(16 * i, 16 * i + 16, pitch, 0) for i, pitch in enumerate(pitches)], np.int32)
    sound = {
        "wav": f"/sound/{name}.wav",
        "midi": f"/sound/{name}.mid",
        "source": "sine",
        "seconds": 8.0,
    }
    return MusicSide(notes, np.arange(len(notes)) == 0, 16 * len(notes), sound)


def difference(_seen: object, _measured: object, request: Request, _what: object) -> Rolls:
    """Of each model that is reached the third of four notes comes out differently, moved with the
    motif."""
    pairs = [
        RollPair(
            key,
            side((60, 62, 64, 65), f"{key}-before"),
            side([pitch + request.semitones for pitch in (60, 62, 67, 65)], f"{key}-after"),
            (1.86, 2.13),
            moved=request.semitones,
            compared=request.stretch == 1,
            voices=request.style == "chorale",
            grid=125 if request.style == "chorale" else 10,
        )
        for key in change.list_changed_variants(request)
    ]
    said = text("Without it, ⟦o:3 notes⟧ stay " + HOSTILE, "去掉之后，⟦o:3 个音⟧保留")
    return Rolls(pairs, texts.NAMES, said)


PROGRAM: Program[Request, Seen] = Program(
    explain=nothing_made(
        lambda request: request.semitones == SEVEN,
        en=f"Seven is refused. {HOSTILE}",
        zh="七被拒绝。",
    ),
    kind=Request,
    controls=(*views.list_controls(), *change.list_controls()),
    views=(),
    change=Change(difference),
    examples=tuple(zip(EXAMPLES, TITLES, strict=True)),
    shorts=TITLES,
    first=lambda: StoredRun(EXAMPLES[0], Seen(7), 812.0, "cpu"),
    about=ABOUT,
    bar=AnswerBar(
        texts.REGION,
        pick=lambda _seen, request: {
            "model": "jsb_relative" if request.style == "chorale" else "relative",
            "head": "2.3",
            "note": 3,
        },
    ),
)
