"""The page of adaptive attention span: what it is asked, what it draws, what may be changed. Its texts stand in texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.declared import lab_of, program_of
from explorer.lab import FIGURE, READ_AGAIN, part
from explorer.labs import passages
from explorer.labs.adaptive_span import about, change, deeper, texts, views
from explorer.program import Change, Program
from explorer.views import View, in_bertviz, noted, on_stage
from explorer.widgets import figure
from models.adaptive_span.records import EVERY, EXAMPLES, Explanation, Request

GENERATE = "models.adaptive_span.explain:generate"
MEASURE = "models.adaptive_span.explain:measure"


def program() -> Program[Request, Explanation]:
    """What the page declares; which models are there is looked up when it is built."""
    return program_of(
        texts,
        views,
        about,
        explain=GENERATE,
        kind=Request,
        controls=(*views.asked(), *change.knobs(*about.size())),
        views=(
            on_stage("masks", views.spans_of, texts.MASKS, picture="adaptive_span/masks"),
            *passages.views(views.text_of, views.text_growing),
            on_stage("attention", views.heads, {"empty": texts.NO_ATTENTION}, at="below"),
            *deeper.PANELS,
            View("standing", lambda _value: figure.measured(about.standing()), at="below"),
            in_bertviz(("head", "model"), views.bertviz),
            noted(texts),
        ),
        change=Change(change.readings, MEASURE, change.again),
        examples=tuple((request, title) for request, (title, _) in views.offered()),
        shorts=tuple(short for _, (_, short) in views.offered()),
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
        part("the text", "文本", "ask"),
        part("soft mask", "软掩码", "masks"),
        part("attention", "注意力", "attention"),
        part("next character", "下一个字符", "reading"),
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
