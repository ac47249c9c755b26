"""The page of self-similarity: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.contract.lab import FIGURE, NUMBERS, name_part
from explorer.labs.self_similarity import about, texts, views
from explorer.labs.self_similarity.change import describe_change
from explorer.page.declared import lab_of, program_of
from explorer.page.program import Change, Program
from explorer.page.views import view_notes, view_on_stage
from models.self_similarity.records import EXAMPLES, SLUG, Explanation, Request

EXPLAIN = "models.self_similarity.explain:explain"
STAGES = (
    ("likes", views.draw_likes, texts.LIKES, "denoise", "wide"),
    ("denoised", views.draw_denoised, texts.DENOISED, "denoise", "wide"),
    ("grown", views.draw_grown, texts.GROWN, "grow", "wide"),
    ("matrix", views.draw_matrix, texts.MATRIX, "", "wide"),
)


def program() -> Program[Request, Explanation]:
    """Return what the page declares; its pictures are read when it is built."""
    return program_of(
        texts,
        views,
        about,
        explain=EXPLAIN,
        kind=Request,
        controls=views.controls(),
        views=(
            *(
                view_on_stage(name, draw, words, picture=f"{SLUG}/{name}", task=task, at=at)
                for name, draw, words, task, at in STAGES
            ),
            view_notes(texts, links=texts.LINKS),
        ),
        change=Change(describe_change),
        examples=tuple(zip(EXAMPLES, texts.EXAMPLES, strict=True)),
    )


LAB = lab_of(
    SLUG,
    EXPLAIN,
    program,
    EXAMPLES,
    texts,
    views,
    year=2005,
    paper="A non-local algorithm for image denoising; Non-local Neural Networks",
    authors="Buades, Coll and Morel; Wang et al., 2018",
    arxiv="1711.07971",
    licence=texts.LICENCE["en"],
    ancestors=(),
    changed="input",
    network=(
        name_part("noisy picture", "含噪图片", "ask"),
        name_part("patches that look alike", "相像的图块", "likes"),
        name_part("their mean", "它们的平均", "denoised"),
        name_part("a texture that grows", "生长的纹理", "grown"),
        name_part("parts against parts", "块与块比较", "matrix"),
    ),
    interventions={
        "bias": replace(EXAMPLES[0], bias=False),
        "block": replace(EXAMPLES[0], block=False),
        "heat": replace(EXAMPLES[0], heat=400),
        "window": replace(EXAMPLES[3], window=5),
    },
    exports={**{name: FIGURE for name, *_ in STAGES}, "change": NUMBERS},
)
