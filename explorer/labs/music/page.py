"""The page of Music Transformer: what it is asked, what it draws, what may be changed. Its texts stand in texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.declared import lab_of, program_of
from explorer.lab import FIGURE, READ_AGAIN, part
from explorer.labs.music import about, change, deeper, texts, views
from explorer.program import Change, Program
from explorer.views import View, noted, on_stage
from explorer.widgets import figure
from models.music.records import CHORALES, EXAMPLES, PIANO, Explanation, Request, melody, styles

GENERATE = "models.music.explain:generate"


def program() -> Program[Request, Explanation]:
    """What the page declares; which models are there is looked up when it is built."""
    titles = views.titles()
    return program_of(
        texts,
        views,
        about,
        explain=GENERATE,
        kind=Request,
        controls=(*views.asked(), *change.knobs()),
        views=(
            on_stage("roll", views.rolls_of, texts.ROLLS, picture="music/roll", grow=views.rolls_growing),
            View("standings", lambda _value: [figure.figure(standing) for standing in about.standings()]),
            noted(texts, at="wide"),
            on_stage("heads", views.heads_of, texts.HEADS, picture="music/heads", at="beside"),
            *deeper.panels(),
        ),
        change=Change(change.difference, "models.music.explain:measure", change.again),
        examples=tuple(zip(EXAMPLES, (title for title, _ in titles), strict=True)),
        shorts=tuple(short for _, short in titles),
    )


def probes() -> list[Request]:
    """Of each style one event to make, which loads its models."""
    short = {"chorale": Request("chorale", "harmonise", melody((72,))), "piano": Request("piano", "continue", length=4)}
    return [short[style] for style in styles()]


CHANGED = replace(CHORALES[3], length=16)  # so little of it is made that a change is seen at once

LAB = lab_of(
    "music",
    GENERATE,
    program,
    EXAMPLES,
    texts,
    views,
    year=2018,
    paper="Music Transformer: Generating Music with Long-Term Structure",
    authors="Huang et al.",
    arxiv="1809.04281",
    licence="Apache-2.0 for the chorale models: Bach's music is in the public domain, its encoding names no licence. The piano models "
    "learned from ASAP (Foscarin et al., 2020): CC BY-NC-SA 4.0, not for commercial use",
    ancestors=("translation",),
    changed="input",
    network=(
        part("notes given", "给定的音符", "ask"),
        part("query by distance", "查询乘距离", "skew", skew="open"),
        part("relative attention", "相对注意力", "roll"),
        part("next note", "下一个音符", "standings"),
    ),
    interventions={
        "silence": replace(CHANGED, silenced=(("jsb_relative", 1, 1),)),
        "relative": replace(CHANGED, farthest=0),
        "distance": replace(CHANGED, farthest=16),
        "transpose": replace(CHANGED, semitones=5),
        "stretch": replace(PIANO[0], length=16, stretch=2.0),
    },
    exports={
        "roll": ("PNG", "SVG", "HTML", "CSV", "MIDI", "WAV", "events", "NPZ"),
        "skew": FIGURE,
        "lengths": FIGURE,
        "change": READ_AGAIN,
    },
    probes=probes,
)
