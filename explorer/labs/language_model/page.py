"""The page of the language model: what it is asked, what it draws, what may be changed. Its texts stand in texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.declared import lab_of, program_of
from explorer.lab import FIGURE, READ_AGAIN, part
from explorer.labs import passages
from explorer.labs.labelled import labelled
from explorer.labs.language_model import about, labels, texts, views
from explorer.labs.plane import in_one_plane
from explorer.program import Change, Program
from explorer.views import View, in_bertviz, in_figure, noted, on_stage
from explorer.widgets import figure
from models.language_model.records import EXAMPLES, KINDS, VARIANTS, Explanation, Request
from models.plane import Head

GENERATE = "models.language_model.explain:generate"
WRITES = "characters pieces"
PLANES = "models.language_model.plane:planes"
MEASURE = "models.language_model.explain:measure"


def program() -> Program[Request, Explanation]:
    """What the page declares; which models are there is looked up when it is built."""

    sizes = {KINDS[0]: about.size(VARIANTS[0])}
    plane = in_one_plane(PLANES, {KINDS[0]: texts.KIND[KINDS[0]]}, sizes, Head(KINDS[0], 1, 1), name="language-model")
    return program_of(
        texts,
        views,
        about,
        explain=GENERATE,
        kind=Request,
        controls=views.controls(),
        views=(
            on_stage("tower", views.tower, texts.TOWER, task=WRITES),
            on_stage("tree", views.tree, texts.TREE, picture="language_model/tree", at="beside", task=WRITES),
            *passages.views(views.text_of, views.text_growing, task=KINDS[0]),
            on_stage("surprise", views.pieces, texts.SURPRISE, picture="language_model/surprise", grow=views.pieces_growing, task=KINDS[1]),
            View("learning", lambda _value: figure.measured(about.standing(), "learning"), task=WRITES),
            in_figure("labels", labels.drawn, main=True, grow=labels.growing, task="labels"),
            View("labelled", lambda _value: figure.measured(labelled(about.SLUG), "labelled"), task="labels"),
            on_stage("attention", views.maps, at="below", task=WRITES),
            replace(plane, task=KINDS[0]),
            replace(in_bertviz(("head", "model"), views.bertviz), task=WRITES),
            noted(texts, links={views.beside(): texts.BESIDE}),
        ),
        change=Change(views.difference, MEASURE, views.again),
        examples=tuple((request, title) for request, (title, _) in views.offered()),
        shorts=tuple(short for _, (_, short) in views.offered()),
        others=(views.learned,),
    )


LAB = lab_of(
    "language_model",
    GENERATE,
    program,
    EXAMPLES,
    texts,
    views,
    year=2018,
    paper="Character-Level Language Modeling with Deeper Self-Attention",
    authors="Al-Rfou et al.",
    arxiv="1808.04444",
    licence="Apache-2.0: the books that the models learned from are in the public domain",
    ancestors=("translation",),
    changed="input",
    network=(
        part("the text", "文本", "ask"),
        part("attention", "注意力", "attention"),
        part("layers", "各层", "tower"),
        part("next symbol", "下一个符号", "tree"),
        part("verdict", "判断", "labels"),
    ),
    interventions={
        "temperature": replace(EXAMPLES[0], length=16, temperature=1.6),
        "silenced": replace(EXAMPLES[0], length=16, silenced=tuple((KINDS[0], 0, head) for head in range(4))),
        "skipped": replace(EXAMPLES[0], length=16, skipped=("1",)),
        "positions": replace(EXAMPLES[0], length=16, positions=False),
    },
    exports={
        **dict.fromkeys(("tower", "tree", "surprise", "reading", "reach", "attention", "labels"), FIGURE),
        "change": READ_AGAIN,
    },
    probes=lambda: (Request("It was late.", length=2),),
)
