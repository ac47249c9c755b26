"""The page of Transformer-XL: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.components import figure
from explorer.contract.lab import FIGURE, READ_AGAIN, name_part
from explorer.labs.transformer_xl import about, change, panels, texts, views
from explorer.page.declared import lab_of, program_of
from explorer.page.program import Change, Program
from explorer.page.views import View, view_in_bertviz, view_notes, view_on_stage
from explorer.panels import passages
from models.transformer_xl.records import EXAMPLES, Explanation, Request

GENERATE = "models.transformer_xl.explain:generate"
MEASURE = "models.transformer_xl.explain:measure"


def program() -> Program[Request, Explanation]:
    """Return what the page declares."""
    return program_of(
        texts,
        views,
        about,
        explain=GENERATE,
        kind=Request,
        controls=(*views.list_controls(), *change.list_controls()),
        views=(
            view_on_stage(
                "segments",
                views.draw_border,
                texts.SEGMENTS,
                picture="transformer_xl/segments",
                grow=views.draw_growing_border,
            ),
            *passages.list_views(views.draw_text, views.draw_growing_text),
            View(
                "wave",
                lambda _value: figure.place_measured_figure(about.draw_border_loss(), "wave"),
            ),
            view_on_stage("attention", views.draw_heads, {"empty": texts.NO_ATTENTION}, at="below"),
            *panels.PANELS,
            View(
                "speed", lambda _value: figure.place_measured_figure(about.draw_speed()), at="below"
            ),
            view_in_bertviz(("head", "model"), views.list_for_bertviz),
            view_notes(texts),
        ),
        change=Change(change.compare_readings, MEASURE, change.ask_to_reread),
        examples=tuple(zip(EXAMPLES, (title for title, _ in texts.EXAMPLES), strict=True)),
        shorts=tuple(short for _, short in texts.EXAMPLES),
        run=passages.RUN,
    )


# so few characters are written that a change shows at once
CHANGED = replace(EXAMPLES[0], length=16)

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
        name_part("the segment", "片段", "ask"),
        name_part("memory", "记忆", "segments"),
        name_part("four terms", "四项之和", "terms", terms="open"),
        name_part("attention", "注意力", "attention"),
        name_part("next character", "下一个字符", "reading"),
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
