"""The page of the training laboratory: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.contract.lab import FIGURE, NUMBERS, name_part
from explorer.labs.twins import about, texts, views
from explorer.labs.twins.exercises import EXERCISES
from explorer.page.card_facts import fill_card
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import view_in_figure, view_notes, view_on_stage
from models.twins.records import EXAMPLES, Explanation, Frame, Request

SMALL = Request(length=4, width=16, batch=4, steps=50)

LAB: Lab[Request, Explanation, Explanation, Frame] = Lab(
    slug="twins",
    paper=Paper(2017, "Attention Is All You Need", "Vaswani et al.", "1706.03762"),
    licence="Apache-2.0; no weights are shipped",
    ancestors=("translation",),
    changed="measured",
    texts=texts,
    network=(
        name_part("sequences", "序列", "ask"),
        name_part("layers and norms", "层与归一化", "inside"),
        name_part("rate and loss", "学习率与损失", "curves"),
        name_part("where it breaks", "何处失败", "field"),
        name_part("which techniques help", "哪些技巧有用", "knobs"),
    ),
    request=Request,
    explain="models.twins.explain:explain",
    controls=views.controls,
    views=(
        view_on_stage(
            "curves",
            views.draw_curves,
            texts.CURVES,
            picture="twins/curves",
            grow=views.draw_partial_curves,
        ),
        view_on_stage(
            "inside",
            views.draw_inside,
            texts.INSIDE,
            picture="twins/inside",
            grow=views.draw_partial_inside,
        ),
        view_on_stage("field", views.draw_field, texts.FIELD, picture="twins/field", at="below"),
        view_in_figure("knobs", about.draw_knobs, main=True),
        view_in_figure("prices", about.draw_prices, main=True),
        view_notes(texts, at="side"),
    ),
    bar=AnswerBar(texts.REGION, run=texts.RUN, notice=views.notice, progress=views.progress),
    about=About(texts.KICKER, texts.SPOKEN, about.pairs, fill_card(about.SLUG, about.facts)),
    change=Change(views.describe_change),
    examples=EXAMPLES,
    titles=texts.EXAMPLES,
    first=views.first,
    others=views.others,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        change: replace(SMALL, change=change)
        for change in ("constant", "norm", "residual", "batch", "sgd")
    }
    | {"factor": replace(SMALL, factor=10.0)},
    exercises=EXERCISES,
    exports={
        "curves": (*FIGURE[:4], "PY 1", "PY 2", "NPZ"),
        "inside": FIGURE,
        "field": FIGURE,
        "knobs": FIGURE,
        "prices": FIGURE,
        "change": NUMBERS,
    },
    probes=(SMALL,),
)
