"""The page of the language model: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from explorer.contract import shared_texts as shared
from explorer.contract.lab import FIGURE, READ_AGAIN, name_part, name_shared_part
from explorer.labs.language_model import about, change, labels, texts, views
from explorer.labs.language_model.exercises import EXERCISES
from explorer.page.card_facts import fill_card
from explorer.page.lab import Lab, Paper, select_titles
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import (
    view_in_bertviz,
    view_in_figure,
    view_measured,
    view_notes,
    view_on_stage,
)
from explorer.panels import passages
from explorer.panels.label_curve import draw_label_curve
from explorer.panels.query_key_plane import place_plane
from models.explaining.query_key_plane import Head
from models.language_model.records import (
    EXAMPLES,
    KINDS,
    OFFERED,
    VARIANTS,
    Explanation,
    Request,
    Step,
)

GENERATE = "models.language_model.explain:generate"
WRITES = "characters pieces"
PLANES = "models.language_model.plane:planes"
MEASURE = "models.language_model.explain:measure"


PLANE = place_plane(
    PLANES,
    {KINDS[0]: texts.KIND[KINDS[0]]},
    lambda: {KINDS[0]: about.read_size(VARIANTS[0])},
    Head(KINDS[0], 1, 1),
    name="language-model",
)

LAB: Lab[Request, Explanation, Explanation, Step] = Lab(
    slug="language_model",
    paper=Paper(
        2018,
        "Character-Level Language Modeling with Deeper Self-Attention",
        "Al-Rfou et al.",
        "1808.04444",
    ),
    licence="Apache-2.0: the books that the models learned from are in the public domain",
    ancestors=("translation",),
    changed="input",
    texts=texts,
    network=(
        name_shared_part(shared.THE_TEXT, "ask"),
        name_shared_part(shared.ATTENTION, "attention"),
        name_shared_part(shared.LAYERS, "tower"),
        name_part("next symbol", "下一个符号", "tree"),
        name_part("verdict", "判断", "labels"),
    ),
    request=Request,
    explain=GENERATE,
    controls=views.controls,
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
        view_measured("learning", about.draw_standing, anchor="learning", task=WRITES),
        view_in_figure(
            "labels",
            labels.draw_label_curve,
            main=True,
            grow=labels.draw_partial_curve,
            task="labels",
        ),
        view_measured(
            "labelled", partial(draw_label_curve, about.SLUG), anchor="labelled", task="labels"
        ),
        view_on_stage("attention", views.draw_attention, at="below", task=WRITES),
        replace(PLANE, task=KINDS[0]),
        replace(view_in_bertviz(("head", "model"), views.list_for_bertviz), task=WRITES),
        view_notes(texts, links={views.find_comparison(): texts.BESIDE}),
    ),
    bar=AnswerBar(
        texts.REGION,
        run=texts.RUN,
        notice=views.notice,
        lines=views.lines,
        describe_endings=views.describe_endings,
        pick=views.pick,
        progress=views.progress,
    ),
    about=About(
        texts.KICKER, texts.SPOKEN, about.pairs, fill_card(about.SLUG, about.facts), about.curves
    ),
    change=Change(change.difference, MEASURE, change.ask_to_reread),
    examples=EXAMPLES,
    titles=select_titles(OFFERED, texts.EXAMPLES, EXAMPLES),
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "temperature": replace(EXAMPLES[0], length=16, temperature=1.6),
        "silenced": replace(
            EXAMPLES[0], length=16, silenced=tuple((KINDS[0], 0, head) for head in range(4))
        ),
        "skipped": replace(EXAMPLES[0], length=16, skipped=("1",)),
        "positions": replace(EXAMPLES[0], length=16, positions=False),
    },
    exercises=EXERCISES,
    exports={
        **dict.fromkeys(
            ("tower", "tree", "surprise", "reading", "reach", "attention", "labels"), FIGURE
        ),
        "change": READ_AGAIN,
    },
    others=(views.learned,),
    probes=(Request("It was late.", length=2),),
)
