"""The page of the training laboratory: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.contract.lab import FIGURE, NUMBERS, name_part
from explorer.labs.twins import about, texts, views
from explorer.page.declared import lab_of, program_of
from explorer.page.program import Change, Program
from explorer.page.views import view_in_figure, view_notes, view_on_stage
from models.twins.records import EXAMPLES, Explanation, Request

EXPLAIN = "models.twins.explain:explain"
SMALL = Request(length=4, width=16, batch=4, steps=50)


def program() -> Program[Request, Explanation]:
    """Return what the page declares; the stored runs are read when it is built."""
    return program_of(
        texts,
        views,
        about,
        explain=EXPLAIN,
        kind=Request,
        controls=views.controls(),
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
            view_on_stage(
                "field", views.draw_field, texts.FIELD, picture="twins/field", at="below"
            ),
            view_in_figure("knobs", about.draw_knobs, main=True),
            view_in_figure("prices", about.draw_prices, main=True),
            view_notes(texts, at="side"),
        ),
        change=Change(views.describe_change),
        examples=tuple(zip(EXAMPLES, texts.EXAMPLES, strict=True)),
        others=views.others,
    )


LAB = lab_of(
    "twins",
    EXPLAIN,
    program,
    EXAMPLES,
    texts,
    views,
    year=2017,
    paper="Attention Is All You Need",
    authors="Vaswani et al.",
    arxiv="1706.03762",
    licence="Apache-2.0; no weights are shipped",
    ancestors=("translation",),
    changed="measured",
    network=(
        name_part("sequences", "序列", "ask"),
        name_part("layers and norms", "层与归一化", "inside"),
        name_part("rate and loss", "学习率与损失", "curves"),
        name_part("where it breaks", "何处失败", "field"),
        name_part("which techniques help", "哪些技巧有用", "knobs"),
    ),
    interventions={
        change: replace(SMALL, change=change)
        for change in ("constant", "norm", "residual", "batch", "sgd")
    }
    | {"factor": replace(SMALL, factor=10.0)},
    exports={
        "curves": (*FIGURE, "PY 1", "PY 2"),
        "inside": FIGURE,
        "field": FIGURE,
        "knobs": FIGURE,
        "prices": FIGURE,
        "change": NUMBERS,
    },
    probes=lambda: (SMALL,),
)
