"""The page of truncated self-attention: its sound, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.contract.lab import FIGURE, NUMBERS, name_part
from explorer.labs.speech import about, texts, views
from explorer.labs.speech.exercises import EXERCISES
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import view_in_figure, view_notes, view_on_stage
from models.speech.records import EXAMPLES, Explanation, Request

EXPLAIN = "models.speech.explain:explain"
START = EXAMPLES[0]


LAB: Lab[Request, Explanation] = Lab(
    slug="speech",
    paper=Paper(
        2019,
        "Transformer-Transducer: End-to-End Speech Recognition with Self-Attention",
        "Yeh et al.",
        "1910.12977",
    ),
    licence=texts.LICENCE["en"],
    ancestors=("sparse_transformer",),
    changed="reading",
    texts=texts,
    network=(
        name_part("sound, 40 ms a frame", "声音，每帧 40 毫秒", "stream"),
        name_part("attention in a window", "窗口内的注意力", "bands"),
        name_part("digit or blank", "数字或空白", "path"),
        name_part("written while heard", "边听边写", "waits"),
    ),
    request=Request,
    explain=EXPLAIN,
    controls=views.list_controls,
    views=(
        view_on_stage(
            "stream", views.draw_stream, texts.STREAM, picture="speech/stream", at="above"
        ),
        view_on_stage("path", views.draw_path, texts.PATH, picture="speech/path"),
        view_on_stage("bands", views.draw_bands, texts.BANDS, picture="speech/bands"),
        view_on_stage("waits", views.draw_waits, texts.WAITS, picture="speech/waits"),
        view_notes(texts, at="wide"),
        view_in_figure(
            "window",
            views.draw_window,
            first=lambda: about.draw_window_error(START.left, START.right),
            at="side",
        ),
        view_in_figure(
            "voices",
            views.draw_voices,
            first=lambda: about.draw_voice_error(START.voice),
            at="side",
        ),
    ),
    bar=AnswerBar(
        texts.REGION, run=texts.RUN, answer=views.answer, describe_warning=views.describe_warning
    ),
    about=About(texts.KICKER, texts.SPOKEN, about.pairs, about.prose, about.curves),
    change=Change(
        views.difference,
        "models.speech.explain:measure",
        # the request's own sound plays no part
        lambda request, _before: replace(
            request, source="number", digits="", sound="", seed=0, piece=START.piece
        ),
    ),
    examples=EXAMPLES,
    titles=texts.EXAMPLES,
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "left": replace(START, left=2),
        "noise": replace(START, noise=6),
        "speed": replace(START, speed=1.5),
        "silence": replace(START, silenced=tuple(("speech", layer, 0) for layer in range(4))),
    },
    exercises=EXERCISES,
    exports={
        "stream": (*FIGURE[:4], "WAV", "CTC", "TXT", "NPZ"),
        **dict.fromkeys(("path", "bands", "waits", "window", "voices"), FIGURE),
        "change": NUMBERS,
    },
    probes=(Request(digits="1"),),
)
