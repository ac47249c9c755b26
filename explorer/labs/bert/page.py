"""The page of BERT: what it is asked, what it draws, what may be changed. Its texts stand in texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.declared import lab_of, program_of
from explorer.figures.bertviz import VIEWS
from explorer.lab import FIGURE, NUMBERS, part
from explorer.labs.about import sizes
from explorer.labs.bert import about, texts, views
from explorer.labs.plane import in_one_plane
from explorer.program import Change, Program
from explorer.views import View, in_bertviz, in_figure, noted, on_stage
from explorer.widgets.figure import measured
from models.bert.records import EXAMPLES, OFFERED, Explanation, Request
from models.plane import Head

EXPLAIN = "models.bert.explain:explain"
PLANES = "models.bert.explain:planes"
FIRST = (Head("mlm", 1, 1), Head("minilm", 1, 1))  # of whose queries the plane tells most


def program() -> Program[Request, Explanation]:
    """What the page declares; which networks are there is looked up when it is built."""

    return program_of(
        texts,
        views,
        about,
        explain=EXPLAIN,
        kind=Request,
        controls=views.controls(),
        views=(
            on_stage("arrows", views.arrows, texts.ARROWS, picture="bert/arrows", at="above", task="mlm"),
            on_stage("finder", views.finder, texts.FINDER, picture="bert/finder", at="above", task="minilm"),
            on_stage("attention", views.maps),
            in_figure("sink", views.sink, at="beside", task="minilm"),
            View("labelled", lambda _value: measured(about.judging(), "labelled"), task="mlm"),
            in_figure("similarity", views.similarity, task="minilm"),
            in_one_plane(PLANES, texts.NAMES, sizes(about.facts()), *FIRST, name="bert", of="variant"),
            in_bertviz(VIEWS, lambda seen: views.kinds(seen)[:1], neuron="models.bert.explain:vectors"),
            noted(texts),
        ),
        change=Change(views.difference),
        examples=tuple((request, {"en": request.text, "zh": request.text}) for request in EXAMPLES),
    )


LAB = lab_of(
    "bert",
    EXPLAIN,
    program,
    EXAMPLES,
    texts,
    views,
    year=2018,
    paper="BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
    authors="Devlin et al.",
    arxiv="1810.04805",
    licence="Apache-2.0 for the weights; research and teaching only: the images behind the captions",
    ancestors=("translation",),
    changed="reading",
    network=(
        part("the sentence", "句子", "ask"),
        part("attention", "注意力", "attention"),
        part("heads", "注意力头", "finder"),
        part("hidden words", "遮住的词", "arrows"),
        part("the sentence's vector", "句子向量", "similarity"),
    ),
    interventions={
        "side": replace(OFFERED[0], side="left"),
        "positions": replace(OFFERED[0], positions=False),
        "silenced": replace(OFFERED[0], silenced=tuple(("mlm", 3, head) for head in range(4))),
    },
    exports={**dict.fromkeys(("arrows", "finder", "sink", "similarity", "attention"), FIGURE), "change": NUMBERS},
)
