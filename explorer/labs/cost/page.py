"""The page of the cost laboratory: what is measured, what it draws, what may be changed. Its texts stand in texts.py."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from explorer.declared import lab_of, program_of
from explorer.lab import FIGURE, NUMBERS, part
from explorer.labs.cost import about, clock, heads, scale, texts, views
from explorer.labs.cost.change import changed
from explorer.program import Change, Program
from explorer.views import Draw, View, in_figure, noted
from models.cost.records import EXAMPLES, Explanation, Request

EXPLAIN = "models.cost.explain:explain"


def program() -> Program[Request, Explanation]:
    """What the page declares; pictures and the family's measurement are read when it is built."""

    def drawn(name: str, task: str, at: str, draw: Draw, grow: Any = None) -> View[Request, Explanation]:
        return in_figure(name, draw, main=True, grow=grow, at=at, task=task)

    return program_of(
        texts,
        views,
        about,
        explain=EXPLAIN,
        kind=Request,
        controls=views.controls(),
        views=(
            drawn("clock", "clock", "wide", clock.clock, clock.growing),
            drawn("paper", "clock", "beside", clock.paper),
            drawn("far", "clock", "side", clock.far),
            drawn("hardens", "scale", "wide", scale.hardens),
            drawn("rows", "scale", "wide", scale.rows),
            drawn("slopes", "scale", "beside", scale.slopes),
            drawn("scores", "scale", "side", scale.scores),
            drawn("filtered", "heads", "wide", heads.filtered),
            drawn("shifts", "heads", "wide", heads.reach),
            drawn("each", "heads", "beside", heads.maps),
            drawn("errors", "heads", "side", heads.errors),
            *(in_figure(what, None, partial(about.chart, what), main=True) for what in ("seconds", "bytes")),
            noted(texts),
        ),
        change=Change(changed),
        examples=tuple(zip(EXAMPLES, texts.EXAMPLES, strict=True)),
        progress=clock.progress,
    )


LAB = lab_of(
    "cost",
    EXPLAIN,
    program,
    EXAMPLES,
    texts,
    views,
    year=2017,
    paper="Attention Is All You Need, table 1",
    authors="Vaswani et al.",
    arxiv="1706.03762",
    licence=texts.LICENCE,
    ancestors=("translation",),
    changed="measured",
    network=(
        part("length and width", "长度与宽度", "ask"),
        part("path", "路径", "far"),
        part("operations", "运算", "paper"),
        part("time", "时间", "clock"),
        part("scores", "分数", "scores"),
        part("softmax", "softmax", "hardens"),
        part("heads", "头", "filtered"),
        part("the whole family", "整个家族", "seconds"),
    ),
    interventions={
        "window": Request(length=256, width=64, window=256),
        "fused": Request(length=256, width=64, fused=False),
        "power": replace(EXAMPLES[1], power=0.0),
        "alpha": replace(EXAMPLES[3], alpha=1.0),
        "without": replace(EXAMPLES[3], without=4),
    },
    exports={
        **dict.fromkeys(("clock", "paper", "far", "hardens", "rows", "slopes", "scores", "filtered", "shifts", "each", "errors"), FIGURE),
        **dict.fromkeys(("seconds", "bytes"), FIGURE),
        "change": NUMBERS,
    },
    probe=None,
)
