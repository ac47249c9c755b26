"""The page of the Music Transformer: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.components import figure
from explorer.contract import shared_texts as shared
from explorer.contract.lab import FIGURE, READ_AGAIN, name_part, name_shared_part
from explorer.labs.music import about, change, panels, texts, views
from explorer.labs.music.exercises import EXERCISES
from explorer.page.lab import Lab, Paper, select_titles
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import view_notes, view_on_stage, view_placed
from models.music.records import (
    CHORALES,
    EXAMPLES,
    PIANO,
    Explanation,
    Request,
    Step,
    melody,
    styles,
)

GENERATE = "models.music.explain:generate"


def list_probes() -> list[Request]:
    """Return the requests that load the models: one event for each style."""
    short = {
        "chorale": Request("chorale", "harmonise", melody((72,))),
        "piano": Request("piano", "continue", length=4),
    }
    return [short[style] for style in styles()]


CHANGED = replace(CHORALES[3], length=16)  # so few cells are generated that a change shows at once

LAB: Lab[Request, Explanation, views.Run, Step] = Lab(
    slug="music",
    paper=Paper(
        2018,
        "Music Transformer: Generating Music with Long-Term Structure",
        "Huang et al.",
        "1809.04281",
    ),
    licence="Apache-2.0 for the chorale models: Bach's music is in the public domain, its encoding"
    " names no licence. The piano models learned from ASAP (Foscarin et al., 2020): CC BY-NC-SA"
    " 4.0, not for commercial use",
    ancestors=("translation",),
    changed="input",
    texts=texts,
    network=(
        name_part("notes given", "给定的音符", "ask"),
        name_part("query by distance", "查询乘距离", "skew", skew="open"),
        name_shared_part(shared.RELATIVE_ATTENTION, "roll"),
        name_part("next note", "下一个音符", "standings"),
    ),
    request=Request,
    explain=GENERATE,
    controls=lambda: (*views.list_controls(), *change.list_controls()),
    views=(
        view_on_stage(
            "roll",
            views.draw_rolls,
            texts.ROLLS,
            picture="music/roll",
            grow=views.draw_growing_rolls,
        ),
        view_placed(
            "standings",
            lambda: [figure.place_figure(standing) for standing in about.draw_standings()],
        ),
        view_notes(texts, at="wide"),
        view_on_stage("heads", views.draw_heads, texts.HEADS, picture="music/heads", at="beside"),
        *panels.PANELS,
    ),
    bar=AnswerBar(
        texts.REGION,
        notice=views.notice,
        lines=views.lines,
        describe_endings=views.describe_endings,
        pick=lambda run, _request: run.pick,
        progress=views.progress,
    ),
    about=About(texts.KICKER, texts.SPOKEN, about.pairs, about.prose, about.curves),
    change=Change(change.difference, "models.music.explain:measure", change.ask_to_reread),
    examples=EXAMPLES,
    titles=select_titles((*CHORALES, *PIANO), texts.EXAMPLES, EXAMPLES),
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "silence": replace(CHANGED, silenced=(("jsb_relative", 1, 1),)),
        "relative": replace(CHANGED, farthest=0),
        "distance": replace(CHANGED, farthest=16),
        "transpose": replace(CHANGED, semitones=5),
        "stretch": replace(PIANO[0], length=16, stretch=2.0),
    },
    exercises=EXERCISES,
    exports={
        "roll": ("PNG", "SVG", "HTML", "CSV", "MIDI", "WAV", "events", "NPZ"),
        "skew": FIGURE,
        "lengths": FIGURE,
        "change": READ_AGAIN,
    },
    prepare=views.prepare,
    probes=list_probes,
)
