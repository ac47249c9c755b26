"""The page of the new lab: what it is asked, what it draws, what may be changed. Its texts stand in texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.declared import lab_of, program_of
from explorer.lab import FIGURE, NUMBERS, part
from explorer.labs.new_lab import texts, views
from explorer.program import Change, Program
from explorer.views import View, noted, on_stage
from explorer.widgets import figure
from models.new_lab.records import EVERY_HEAD, EXAMPLES, Explanation, Request

EXPLAIN, MEASURE = "models.new_lab.explain:explain", "models.new_lab.explain:measure"


def program() -> Program[Request, Explanation]:
    """What the page declares; which model is there is looked up when it is built."""
    return program_of(
        texts,
        views,
        views,
        explain=EXPLAIN,
        kind=Request,
        controls=views.controls(),
        views=(
            on_stage("attention", views.maps),
            View("lengths", lambda _value: figure.figure(views.by_length()), at="side"),
            noted(texts),
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
    network=(part("what is given", "给定的部分", "ask"), part("attention", "注意力", "attention"), part("the answer", "回答", "lengths")),
    interventions={
        "silence": replace(EXAMPLES[0], silenced=EVERY_HEAD),
        "layers": replace(EXAMPLES[0], layers=1),
    },
    exports={"attention": FIGURE, "change": NUMBERS},
)
