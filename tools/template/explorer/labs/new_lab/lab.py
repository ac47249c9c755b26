"""The page of the new lab: its input, its pictures and its changes. Its texts stand in texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.components import figure
from explorer.contract.lab import FIGURE, NUMBERS, name_part
from explorer.labs.new_lab import texts, views
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import view_notes, view_on_stage, view_placed
from models.new_lab.records import EVERY_HEAD, EXAMPLES, Explanation, Request

LAB: Lab[Request, Explanation] = Lab(
    slug="new_lab",
    paper=Paper(2017, "Attention Is All You Need", "Vaswani et al.", "1706.03762"),
    licence="Apache-2.0: the generator and these weights",
    ancestors=(),
    changed="input",
    texts=texts,
    network=(
        name_part("what is given", "给定的部分", "ask"),
        name_part("attention", "注意力", "attention"),
        name_part("the answer", "回答", "lengths"),
    ),
    request=Request,
    explain="models.new_lab.explain:explain",
    controls=views.controls,
    views=(
        view_on_stage("attention", views.maps),
        view_placed("lengths", lambda: figure.place_figure(views.by_length()), at="side"),
        view_notes(texts),
    ),
    bar=AnswerBar(texts.REGION, answer=views.answer),
    about=About(texts.KICKER, texts.SPOKEN, views.pairs, views.prose, views.curves),
    change=Change(views.difference, "models.new_lab.explain:measure"),
    examples=EXAMPLES,
    titles=texts.EXAMPLES,
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "silence": replace(EXAMPLES[0], silenced=EVERY_HEAD),
        "layers": replace(EXAMPLES[0], layers=1),
    },
    exports={"attention": FIGURE, "change": NUMBERS},
)
