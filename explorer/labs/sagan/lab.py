"""The page of the self-attention GAN: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.contract.lab import FIGURE, NUMBERS, name_part
from explorer.labs.sagan import about, texts, views
from explorer.labs.sagan.exercises import EXERCISES
from explorer.page.card_facts import fill_card
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import view_notes, view_on_stage
from models.sagan.records import EXAMPLES, Explanation, Request

EXPLAIN = "models.sagan.explain:explain"


LAB: Lab[Request, Explanation] = Lab(
    slug="sagan",
    paper=Paper(
        2018, "Self-Attention Generative Adversarial Networks", "Zhang et al.", "1805.08318"
    ),
    licence="MIT: Fashion-MNIST (Zalando SE); Apache-2.0: these weights",
    ancestors=("translation",),
    changed="input",
    texts=texts,
    network=(
        name_part("noise and class", "噪声与类别", "ask"),
        name_part("generator", "生成器", "strips"),
        name_part("attention times γ", "注意力乘以 γ", "glance"),
        name_part("discriminator", "判别器", "verdict"),
    ),
    request=Request,
    explain=EXPLAIN,
    controls=views.list_controls,
    views=(
        view_on_stage("glance", views.draw_glance, texts.GLANCE, picture="sagan/glance"),
        view_on_stage("verdict", views.draw_verdict, texts.VERDICT, picture="sagan/verdict"),
        view_on_stage(
            "strips", views.draw_strips, texts.STRIPS, picture="sagan/strips", task="make"
        ),
        view_on_stage(
            "replay", views.draw_replay, texts.REPLAY, picture="sagan/replay", at="below"
        ),
        view_notes(texts, at="side"),
    ),
    bar=AnswerBar(texts.REGION),
    about=About(texts.KICKER, texts.SPOKEN, about.pairs, fill_card(about.SLUG, about.facts)),
    change=Change(
        views.draw_change,
        "models.sagan.explain:measure",
        lambda request, _seen: Request(gamma_g=request.gamma_g, gamma_d=request.gamma_d),
    ),
    examples=EXAMPLES,
    titles=texts.EXAMPLES,
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "generator": replace(EXAMPLES[0], gamma_g=0.0),
        "discriminator": replace(EXAMPLES[0], gamma_d=0.0),
    },
    exercises=EXERCISES,
    exports={
        "glance": FIGURE,
        "verdict": FIGURE,
        "strips": FIGURE,
        "replay": FIGURE,
        "change": NUMBERS,
    },
)
