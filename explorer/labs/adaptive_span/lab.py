"""The page of adaptive attention span: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.components import figure
from explorer.contract.lab import FIGURE, READ_AGAIN, name_part
from explorer.labs.adaptive_span import about, change, panels, texts, views
from explorer.page.declared import lab_of, program_of
from explorer.page.program import Change, Program
from explorer.page.views import View, view_in_bertviz, view_notes, view_on_stage
from explorer.panels import passages
from models.adaptive_span.records import EVERY, EXAMPLES, Explanation, Request

GENERATE = "models.adaptive_span.explain:generate"
MEASURE = "models.adaptive_span.explain:measure"


def program() -> Program[Request, Explanation]:
    """Return what the page declares; the shipped models are looked up when it is built."""
    return program_of(
        texts,
        views,
        about,
        explain=GENERATE,
        kind=Request,
        controls=(*views.list_controls(), *change.list_controls(*about.read_size())),
        views=(
            view_on_stage("masks", views.draw_spans, texts.MASKS, picture="adaptive_span/masks"),
            *passages.list_views(views.draw_text, views.draw_growing_text),
            view_on_stage("attention", views.draw_heads, {"empty": texts.NO_ATTENTION}, at="below"),
            *panels.PANELS,
            View(
                "standing",
                lambda _value: figure.place_measured_figure(about.draw_standing()),
                at="below",
            ),
            view_in_bertviz(("head", "model"), views.list_for_bertviz),
            view_notes(texts),
        ),
        change=Change(change.compare_readings, MEASURE, change.ask_to_reread),
        examples=tuple((request, title) for request, (title, _) in views.list_examples()),
        shorts=tuple(short for _, (_, short) in views.list_examples()),
        run=passages.RUN,
    )


LAB = lab_of(
    "adaptive_span",
    GENERATE,
    program,
    EXAMPLES,
    texts,
    views,
    year=2019,
    paper="Adaptive Attention Span in Transformers",
    authors="Sukhbaatar et al.",
    arxiv="1905.07799",
    licence="Apache-2.0: the books that the models learned from are in the public domain",
    ancestors=("transformer_xl",),
    changed="cost",
    network=(
        name_part("the text", "文本", "ask"),
        name_part("soft mask", "软掩码", "masks"),
        name_part("attention", "注意力", "attention"),
        name_part("next character", "下一个字符", "reading"),
    ),
    interventions={
        "spans": replace(EXAMPLES[0], length=16, spans=((EVERY, EVERY, 16.0),)),
    },
    exports={
        **dict.fromkeys(("masks", "reading", "reach", "attention", "saving"), FIGURE),
        "change": READ_AGAIN,
    },
    probes=lambda: (Request(text="It was late.", length=2),),
)
