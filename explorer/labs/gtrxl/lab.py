"""The page of the gated Transformer-XL: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.contract.lab import FIGURE, NUMBERS, name_part
from explorer.labs.gtrxl import about, texts, views
from explorer.labs.gtrxl.exercises import EXERCISES
from explorer.page.card_facts import fill_card
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import (
    view_in_figure,
    view_in_folded_panel,
    view_notes,
    view_on_stage,
)
from models.gtrxl.records import EXAMPLES, PLACES, Explanation, Request

EXPLAIN = "models.gtrxl.explain:explain"
START = EXAMPLES[0]


LAB: Lab[Request, Explanation] = Lab(
    slug="gtrxl",
    paper=Paper(
        2019,
        "Stabilizing Transformers for Reinforcement Learning",
        "Parisotto et al.",
        "1910.06764",
    ),
    licence=texts.LICENCE["en"],
    ancestors=("transformer_xl",),
    changed="memory",
    texts=texts,
    network=(
        name_part("nine cells in view", "眼前九格", "ask"),
        name_part("attention to memory", "对记忆的注意力", "walk"),
        name_part("gates", "门", "gates"),
        name_part("policy and value", "策略与价值", "walk"),
    ),
    request=Request,
    explain=EXPLAIN,
    controls=views.list_controls,
    views=(
        view_on_stage("walk", views.draw_walk, texts.WALK, picture="gtrxl/walk"),
        view_on_stage("switches", views.draw_switches, texts.SWITCHES, picture="gtrxl/switches"),
        view_on_stage("gates", views.draw_gates, texts.GATES, picture="gtrxl/gates"),
        view_on_stage("own", views.draw_own, texts.OWN, picture="gtrxl/own"),
        view_in_figure("cliff", views.draw_cliff, first=about.draw_cliff, at="side"),
        view_in_folded_panel("rates", texts.RATES_TITLE, views.draw_rates, needs="request"),
        view_notes(texts),
    ),
    bar=AnswerBar(
        texts.REGION,
        run=texts.RUN,
        answer=views.answer,
        describe_warning=views.describe_warning,
        pick=views.pick,
    ),
    about=About(
        texts.KICKER, texts.SPOKEN, about.pairs, fill_card(about.SLUG, about.facts), about.curves
    ),
    change=Change(views.draw_difference, "models.gtrxl.explain:measure"),
    examples=EXAMPLES,
    titles=texts.EXAMPLES,
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "covered": replace(START, covered=True),
        "memory": replace(START, memory=8),
        "silenced": replace(START, silenced=tuple(("gtrxl", 1, head) for head in range(4))),
        "forced": replace(START, forced=("2a",)),
        "z": replace(START, forced=PLACES, z=1.0),
    },
    exercises=EXERCISES,
    exports={
        "walk": FIGURE,
        "switches": FIGURE,
        "gates": FIGURE,
        "own": FIGURE,
        "cliff": FIGURE,
        "change": NUMBERS,
    },
    probes=(Request(length=2),),
)
