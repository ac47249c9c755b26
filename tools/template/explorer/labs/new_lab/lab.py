"""The page of the new lab: its input, its pictures and its changes. Its texts stand in texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.components import figure
from explorer.contract.lab import FIGURE, NUMBERS, name_part
from explorer.labs.new_lab import texts, views
from explorer.page.declared import lab_of, program_of
from explorer.page.program import Change, Program
from explorer.page.views import View, view_notes, view_on_stage
from models.new_lab.records import EVERY_HEAD, EXAMPLES, Explanation, Request

EXPLAIN, MEASURE = "models.new_lab.explain:explain", "models.new_lab.explain:measure"


def program() -> Program[Request, Explanation]:
    """Return what the page declares; the shipped model is looked up when it is built."""
    return program_of(
        texts,
        views,
        views,
        explain=EXPLAIN,
        kind=Request,
        controls=views.controls(),
        views=(
            view_on_stage("attention", views.maps),
            View("lengths", lambda _value: figure.place_figure(views.by_length()), at="side"),
            view_notes(texts),
        ),
        change=Change(views.difference, MEASURE),
        examples=tuple(zip(EXAMPLES, texts.EXAMPLES, strict=True)),
    )


LAB = lab_of(
    "new_lab",
    EXPLAIN,
    program,
    EXAMPLES,
    texts,
    views,
    year=2017,
    paper="Attention Is All You Need",
    authors="Vaswani et al.",
    arxiv="1706.03762",
    licence="Apache-2.0: the generator and these weights",
    ancestors=(),
    changed="input",
    network=(
        name_part("what is given", "给定的部分", "ask"),
        name_part("attention", "注意力", "attention"),
        name_part("the answer", "回答", "lengths"),
    ),
    interventions={
        "silence": replace(EXAMPLES[0], silenced=EVERY_HEAD),
        "layers": replace(EXAMPLES[0], layers=1),
    },
    exports={"attention": FIGURE, "change": NUMBERS},
)
