"""The page of Transformer-XL: what it is asked, what it draws, what may be changed. Its texts stand in texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.declared import lab_of, program_of
from explorer.lab import FIGURE, READ_AGAIN, part
from explorer.labs import passages
from explorer.labs.transformer_xl import about, change, deeper, texts, views
from explorer.program import Change, Program
from explorer.views import View, in_bertviz, noted, on_stage
from explorer.widgets import figure
from models.transformer_xl.records import EXAMPLES, Explanation, Request

GENERATE = "models.transformer_xl.explain:generate"
MEASURE = "models.transformer_xl.explain:measure"


def program() -> Program[Request, Explanation]:
    """What the page declares."""
    return program_of(
        texts,
        views,
        about,
        explain=GENERATE,
        kind=Request,
        controls=(*views.asked(), *change.knobs()),
        views=(
            on_stage("segments", views.border, texts.SEGMENTS, picture="transformer_xl/segments", grow=views.border_growing),
            *passages.views(views.text_of, views.text_growing),
            View("wave", lambda _value: figure.measured(about.wave(), "wave")),
            on_stage("attention", views.heads, {"empty": texts.NO_ATTENTION}, at="below"),
            *deeper.PANELS,
            View("speed", lambda _value: figure.measured(about.speed()), at="below"),
            in_bertviz(("head", "model"), views.bertviz),
            noted(texts),
        ),
        change=Change(change.readings, MEASURE, change.again),
        examples=tuple(zip(EXAMPLES, (title for title, _ in texts.EXAMPLES), strict=True)),
        shorts=tuple(short for _, short in texts.EXAMPLES),
        run=passages.RUN,
    )


CHANGED = replace(EXAMPLES[0], length=16)  # so little of it is written that a change is seen at once

LAB = lab_of(
    "transformer_xl",
    GENERATE,
    program,
    EXAMPLES,
    texts,
    views,
    year=2019,
    paper="Transformer-XL: Attentive Language Models Beyond a Fixed-Length Context",
    authors="Dai et al.",
    arxiv="1901.02860",
    licence="Apache-2.0: the books that the models learned from are in the public domain",
    ancestors=("translation", "music"),
    changed="memory",
    network=(
        part("the segment", "片段", "ask"),
        part("memory", "记忆", "segments"),
        part("four terms", "四项之和", "terms", terms="open"),
        part("attention", "注意力", "attention"),
        part("next character", "下一个字符", "reading"),
    ),
    interventions={
        "memory": replace(CHANGED, memory=0),
        "cut": replace(CHANGED, intervention="cut"),
        "shuffled": replace(CHANGED, intervention="shuffled"),
        "foreign": replace(CHANGED, intervention="foreign"),
        "segment": replace(CHANGED, segment=64),
    },
    exports={
        **dict.fromkeys(("segments", "reading", "reach", "attention", "terms", "memories"), FIGURE),
        "change": READ_AGAIN,
    },
    probes=lambda: (Request(text="It was late.", length=2),),
)
