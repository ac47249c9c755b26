"""The page of self-similarity: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from explorer.contract.control_kinds import Value
from explorer.contract.lab import FIGURE, NUMBERS, Text, name_part
from explorer.labs.self_similarity import about, texts, views
from explorer.labs.self_similarity.change import describe_change
from explorer.labs.self_similarity.exercises import EXERCISES
from explorer.page.card_facts import fill_card
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import At, view_notes, view_on_stage
from models.self_similarity.records import EXAMPLES, SLUG, Explanation, Request

EXPLAIN = "models.self_similarity.explain:explain"
Draw: TypeAlias = Callable[[Explanation, Request, str], Value | None]
STAGES: tuple[tuple[str, Draw, Mapping[str, Text], str, At], ...] = (
    ("likes", views.draw_likes, texts.LIKES, "denoise", "wide"),
    ("denoised", views.draw_denoised, texts.DENOISED, "denoise", "wide"),
    ("grown", views.draw_grown, texts.GROWN, "grow", "wide"),
    ("matrix", views.draw_matrix, texts.MATRIX, "", "wide"),
)


LAB: Lab[Request, Explanation] = Lab(
    slug=SLUG,
    paper=Paper(
        2005,
        "A non-local algorithm for image denoising; Non-local Neural Networks",
        "Buades, Coll and Morel; Wang et al., 2018",
        "1711.07971",
    ),
    licence=texts.LICENCE["en"],
    ancestors=(),
    changed="input",
    texts=texts,
    network=(
        name_part("noisy picture", "含噪图片", "ask"),
        name_part("patches that look alike", "相像的图块", "likes"),
        name_part("their mean", "它们的平均", "denoised"),
        name_part("a texture that grows", "生长的纹理", "grown"),
        name_part("parts against parts", "块与块比较", "matrix"),
    ),
    request=Request,
    explain=EXPLAIN,
    controls=views.controls,
    views=(
        *(
            view_on_stage(name, draw, words, picture=f"{SLUG}/{name}", task=task, at=at)
            for name, draw, words, task, at in STAGES
        ),
        view_notes(texts, links=texts.LINKS),
    ),
    bar=AnswerBar(texts.REGION, run=texts.RUN, describe_warning=views.describe_warning),
    about=About(
        texts.KICKER, texts.SPOKEN, about.pairs, fill_card(about.SLUG, about.facts), about.curves
    ),
    change=Change(describe_change),
    examples=EXAMPLES,
    titles=texts.EXAMPLES,
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "bias": replace(EXAMPLES[0], bias=False),
        "block": replace(EXAMPLES[0], block=False),
        "heat": replace(EXAMPLES[0], heat=400),
        "window": replace(EXAMPLES[3], window=5),
    },
    exercises=EXERCISES,
    exports={**{name: FIGURE for name, *_ in STAGES}, "change": NUMBERS},
)
