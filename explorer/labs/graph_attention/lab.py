"""The page of attention on graphs: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from explorer.contract import shared_texts as shared
from explorer.contract.lab import FIGURE, NUMBERS, name_part, name_shared_part
from explorer.labs.graph_attention import about, texts, views
from explorer.labs.graph_attention.exercises import EXERCISES
from explorer.page.card_facts import fill_card
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import view_in_figure, view_notes, view_on_stage
from models.graph_attention.records import EXAMPLES, Explanation, Request

EXPLAIN = "models.graph_attention.explain:explain"


LAB: Lab[Request, Explanation] = Lab(
    slug="graph_attention",
    paper=Paper(2018, "Graph Attention Networks", "Veličković et al.", "1710.10903"),
    licence=texts.LICENCE["en"],
    ancestors=("translation",),
    changed="input",
    texts=texts,
    network=(
        name_part("the graph", "图", "ask"),
        name_part("attention over neighbours", "邻居上的注意力", "neighbours"),
        name_part("ranking of keys", "键的排序", "ranking"),
        name_part("bias by distance", "距离偏置", "bias"),
        name_shared_part(shared.THE_ANSWER, "change"),
    ),
    request=Request,
    explain=EXPLAIN,
    controls=views.CONTROLS,
    views=(
        view_on_stage(
            "neighbours",
            views.draw_neighbours,
            texts.NEIGHBOURS,
            picture="graph_attention/neighbours",
            at="above",
            task=" ".join(views.GRAPHS),
        ),
        view_on_stage(
            "ranking",
            views.draw_ranking,
            texts.RANKING,
            picture="graph_attention/ranking",
            at="above",
            task="dictionary",
        ),
        view_in_figure("bias", views.draw_bias, task="distance"),
        view_notes(texts, at="wide"),
    ),
    bar=AnswerBar(
        texts.REGION, answer=views.answer, notice=views.notice, pick=views.pick, items=views.items
    ),
    about=About(
        texts.KICKER, texts.SPOKEN, about.pairs, fill_card(about.SLUG, about.facts), about.curves
    ),
    change=Change(views.difference, "models.graph_attention.explain:measure"),
    examples=EXAMPLES,
    titles=texts.EXAMPLES,
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions=views.list_interventions(),
    exercises=EXERCISES,
    exports={
        **dict.fromkeys(("neighbours", "ranking", "bias"), FIGURE),
        "change": NUMBERS,
    },
    probes=EXAMPLES[:4],
)
