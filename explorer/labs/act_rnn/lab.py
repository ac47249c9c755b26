"""The page of adaptive computation time: its input, its pictures and its changes. Its texts stand
in texts.py."""

from __future__ import annotations

from explorer.contract import shared_texts as shared
from explorer.contract.lab import FIGURE, NUMBERS, name_part, name_shared_part
from explorer.labs.act_rnn import about, texts, views
from explorer.labs.act_rnn.exercises import EXERCISES
from explorer.page.card_facts import fill_card
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar
from explorer.page.views import view_in_figure, view_notes, view_on_stage
from explorer.panels import adaptive_computation
from models.act_rnn.records import EXAMPLES, Explanation, Request

EXPLAIN = "models.act_rnn.explain:explain"


LAB: Lab[Request, Explanation] = Lab(
    slug="act_rnn",
    paper=Paper(
        2016, "Adaptive Computation Time for Recurrent Neural Networks", "Graves", "1603.08983"
    ),
    licence=texts.LICENCE["en"],
    ancestors=(),
    changed="depth",
    texts=texts,
    network=(
        name_part("the input", "输入", "ask"),
        name_part("one cell, again", "同一单元反复", "ponder"),
        name_part("halting unit", "停止单元", "change"),
        name_shared_part(shared.THE_ANSWER, "difficulty"),
    ),
    request=Request,
    explain=EXPLAIN,
    controls=views.CONTROLS,
    views=(
        view_on_stage("ponder", views.draw_ponder, texts.PONDER),
        view_notes(texts, at="wide"),
        view_in_figure(
            "difficulty",
            views.draw_hardness,
            first=lambda: about.draw_difficulty(EXAMPLES[0].task),
            at="side",
        ),
    ),
    bar=AnswerBar(texts.REGION, answer=views.answer),
    about=About(
        texts.KICKER, texts.SPOKEN, about.pairs, fill_card(about.SLUG, about.facts), about.curves
    ),
    change=adaptive_computation.declare_change(
        "models.act_rnn.explain:measure", views.WORDS, text=""
    ),
    examples=EXAMPLES,
    titles=texts.EXAMPLES,
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions=adaptive_computation.list_interventions(EXAMPLES[0]),
    exercises=EXERCISES,
    exports={"ponder": FIGURE, "difficulty": FIGURE, "change": NUMBERS},
    probes=(Request("parity", "1"), Request("addition", "1+1")),
)
