"""The page of the self-attention GAN: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.contract.lab import FIGURE, NUMBERS, name_part
from explorer.labs.sagan import about, texts, views
from explorer.page.declared import lab_of, program_of
from explorer.page.program import Change, Program
from explorer.page.views import view_notes, view_on_stage
from models.sagan.records import EXAMPLES, Explanation, Request

EXPLAIN = "models.sagan.explain:explain"


def program() -> Program[Request, Explanation]:
    """Return what the page declares; the shipped pictures are read when it is built."""
    return program_of(
        texts,
        views,
        about,
        explain=EXPLAIN,
        kind=Request,
        controls=views.list_controls(),
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
        change=Change(
            views.draw_change,
            "models.sagan.explain:measure",
            lambda request, _seen: Request(gamma_g=request.gamma_g, gamma_d=request.gamma_d),
        ),
        examples=tuple(zip(EXAMPLES, texts.EXAMPLES, strict=True)),
    )


LAB = lab_of(
    "sagan",
    EXPLAIN,
    program,
    EXAMPLES,
    texts,
    views,
    year=2018,
    paper="Self-Attention Generative Adversarial Networks",
    authors="Zhang et al.",
    arxiv="1805.08318",
    licence="MIT: Fashion-MNIST (Zalando SE); Apache-2.0: these weights",
    ancestors=("translation",),
    changed="input",
    network=(
        name_part("noise and class", "噪声与类别", "ask"),
        name_part("generator", "生成器", "strips"),
        name_part("attention times γ", "注意力乘以 γ", "glance"),
        name_part("discriminator", "判别器", "verdict"),
    ),
    interventions={
        "generator": replace(EXAMPLES[0], gamma_g=0.0),
        "discriminator": replace(EXAMPLES[0], gamma_d=0.0),
    },
    exports={
        "glance": FIGURE,
        "verdict": FIGURE,
        "strips": FIGURE,
        "replay": FIGURE,
        "change": NUMBERS,
    },
)
