"""The page of the language model: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.components import figure
from explorer.contract.lab import FIGURE, READ_AGAIN, name_part
from explorer.labs.language_model import about, labels, texts, views
from explorer.page.declared import lab_of, program_of
from explorer.page.program import Change, Program
from explorer.page.views import View, view_in_bertviz, view_in_figure, view_notes, view_on_stage
from explorer.panels import passages
from explorer.panels.label_curve import draw_label_curve
from explorer.panels.query_key_plane import place_plane
from models.explaining.query_key_plane import Head
from models.language_model.records import EXAMPLES, KINDS, VARIANTS, Explanation, Request

GENERATE = "models.language_model.explain:generate"
WRITES = "characters pieces"
PLANES = "models.language_model.plane:planes"
MEASURE = "models.language_model.explain:measure"


def program() -> Program[Request, Explanation]:
    """Return what the page declares; the shipped models are looked up when it is built."""

    sizes = {KINDS[0]: about.read_size(VARIANTS[0])}
    plane = place_plane(
        PLANES, {KINDS[0]: texts.KIND[KINDS[0]]}, sizes, Head(KINDS[0], 1, 1), name="language-model"
    )
    return program_of(
        texts,
        views,
        about,
        explain=GENERATE,
        kind=Request,
        controls=views.controls(),
        views=(
            view_on_stage("tower", views.draw_tower, texts.TOWER, task=WRITES),
            view_on_stage(
                "tree",
                views.draw_tree,
                texts.TREE,
                picture="language_model/tree",
                at="beside",
                task=WRITES,
            ),
            *passages.list_views(views.draw_text, views.draw_growing_text, task=KINDS[0]),
            view_on_stage(
                "surprise",
                views.draw_pieces,
                texts.SURPRISE,
                picture="language_model/surprise",
                grow=views.draw_growing_pieces,
                task=KINDS[1],
            ),
            View(
                "learning",
                lambda _value: figure.place_measured_figure(about.draw_standing(), "learning"),
                task=WRITES,
            ),
            view_in_figure(
                "labels",
                labels.draw_label_curve,
                main=True,
                grow=labels.draw_partial_curve,
                task="labels",
            ),
            View(
                "labelled",
                lambda _value: figure.place_measured_figure(
                    draw_label_curve(about.SLUG), "labelled"
                ),
                task="labels",
            ),
            view_on_stage("attention", views.draw_attention, at="below", task=WRITES),
            replace(plane, task=KINDS[0]),
            replace(view_in_bertviz(("head", "model"), views.list_for_bertviz), task=WRITES),
            view_notes(texts, links={views.find_comparison(): texts.BESIDE}),
        ),
        change=Change(views.difference, MEASURE, views.ask_to_reread),
        examples=tuple((request, title) for request, (title, _) in views.list_examples()),
        shorts=tuple(short for _, (_, short) in views.list_examples()),
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
        name_part("the text", "文本", "ask"),
        name_part("attention", "注意力", "attention"),
        name_part("layers", "各层", "tower"),
        name_part("next symbol", "下一个符号", "tree"),
        name_part("verdict", "判断", "labels"),
    ),
    interventions={
        "temperature": replace(EXAMPLES[0], length=16, temperature=1.6),
        "silenced": replace(
            EXAMPLES[0], length=16, silenced=tuple((KINDS[0], 0, head) for head in range(4))
        ),
        "skipped": replace(EXAMPLES[0], length=16, skipped=("1",)),
        "positions": replace(EXAMPLES[0], length=16, positions=False),
    },
    exports={
        **dict.fromkeys(
            ("tower", "tree", "surprise", "reading", "reach", "attention", "labels"), FIGURE
        ),
        "change": READ_AGAIN,
    },
    probes=lambda: (Request("It was late.", length=2),),
)
