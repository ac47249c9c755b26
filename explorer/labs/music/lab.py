"""The page of the Music Transformer: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.components import figure
from explorer.contract.lab import FIGURE, READ_AGAIN, name_part
from explorer.labs.music import about, change, panels, texts, views
from explorer.page.declared import lab_of, program_of
from explorer.page.program import Change, Program
from explorer.page.views import View, view_notes, view_on_stage
from models.music.records import CHORALES, EXAMPLES, PIANO, Explanation, Request, melody, styles

GENERATE = "models.music.explain:generate"


def program() -> Program[Request, Explanation]:
    """Return what the page declares; the shipped models are looked up when it is built."""
    titles = views.list_titles()
    return program_of(
        texts,
        views,
        about,
        explain=GENERATE,
        kind=Request,
        controls=(*views.list_controls(), *change.list_controls()),
        views=(
            view_on_stage(
                "roll",
                views.draw_rolls,
                texts.ROLLS,
                picture="music/roll",
                grow=views.draw_growing_rolls,
            ),
            View(
                "standings",
                lambda _value: [
                    figure.place_figure(standing) for standing in about.draw_standings()
                ],
            ),
            view_notes(texts, at="wide"),
            view_on_stage(
                "heads", views.draw_heads, texts.HEADS, picture="music/heads", at="beside"
            ),
            *panels.list_panels(),
        ),
        change=Change(change.difference, "models.music.explain:measure", change.ask_to_reread),
        examples=tuple(zip(EXAMPLES, (title for title, _ in titles), strict=True)),
        shorts=tuple(short for _, short in titles),
    )


def list_probes() -> list[Request]:
    """Return the requests that load the models: one event for each style."""
    short = {
        "chorale": Request("chorale", "harmonise", melody((72,))),
        "piano": Request("piano", "continue", length=4),
    }
    return [short[style] for style in styles()]


CHANGED = replace(CHORALES[3], length=16)  # so few cells are generated that a change shows at once

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
    licence=(
        "Apache-2.0 for the chorale models: Bach's music is in the public domain, its encoding"
        " names no licence. The piano models learned from ASAP (Foscarin et al., 2020): CC BY-NC-SA"
        " 4.0, not for commercial use"
    ),
    ancestors=("translation",),
    changed="input",
    network=(
        name_part("notes given", "给定的音符", "ask"),
        name_part("query by distance", "查询乘距离", "skew", skew="open"),
        name_part("relative attention", "相对注意力", "roll"),
        name_part("next note", "下一个音符", "standings"),
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
    probes=list_probes,
)
