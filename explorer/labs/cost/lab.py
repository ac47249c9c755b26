"""The page of the cost lab: its experiments, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from explorer.contract.lab import FIGURE, NUMBERS, name_part
from explorer.labs.cost import about, clock, heads, scale, texts, views
from explorer.labs.cost.change import describe_change
from explorer.page.declared import lab_of, program_of
from explorer.page.program import Change, Program
from explorer.page.views import Draw, View, view_in_figure, view_notes
from models.cost.records import EXAMPLES, Explanation, Request

EXPLAIN = "models.cost.explain:explain"


def program() -> Program[Request, Explanation]:
    """Return what the page declares; pictures and the family's measurement are read when it is
    built."""

    def place_figure_view(
        name: str, task: str, at: str, draw: Draw, grow: Any = None
    ) -> View[Request, Explanation]:
        return view_in_figure(name, draw, main=True, grow=grow, at=at, task=task)

    return program_of(
        texts,
        views,
        about,
        explain=EXPLAIN,
        kind=Request,
        controls=views.controls(),
        views=(
            place_figure_view("clock", "clock", "wide", clock.draw_clock, clock.draw_partial_clock),
            place_figure_view("paper", "clock", "beside", clock.draw_operations),
            place_figure_view("far", "clock", "side", clock.draw_path_lengths),
            place_figure_view("hardens", "scale", "wide", scale.draw_entropy),
            place_figure_view("rows", "scale", "wide", scale.draw_rows),
            place_figure_view("slopes", "scale", "beside", scale.draw_gradients),
            place_figure_view("scores", "scale", "side", scale.draw_scores),
            place_figure_view("filtered", "heads", "wide", heads.draw_filtered),
            place_figure_view("shifts", "heads", "wide", heads.draw_reach),
            place_figure_view("each", "heads", "beside", heads.draw_maps),
            place_figure_view("errors", "heads", "side", heads.draw_errors),
            *(
                view_in_figure(what, None, partial(about.draw_chart, what), main=True)
                for what in ("seconds", "bytes")
            ),
            view_notes(texts),
        ),
        change=Change(describe_change),
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
        name_part("length and width", "长度与宽度", "ask"),
        name_part("path", "路径", "far"),
        name_part("operations", "运算", "paper"),
        name_part("time", "时间", "clock"),
        name_part("scores", "分数", "scores"),
        name_part("softmax", "softmax", "hardens"),
        name_part("heads", "头", "filtered"),
        name_part("the whole family", "整个家族", "seconds"),
    ),
    interventions={
        "window": Request(length=256, width=64, window=256),
        "fused": Request(length=256, width=64, fused=False),
        "power": replace(EXAMPLES[1], power=0.0),
        "alpha": replace(EXAMPLES[3], alpha=1.0),
        "without": replace(EXAMPLES[3], without=4),
    },
    exports={
        **dict.fromkeys(
            (
                "clock",
                "paper",
                "far",
                "hardens",
                "rows",
                "slopes",
                "scores",
                "filtered",
                "shifts",
                "each",
                "errors",
            ),
            FIGURE,
        ),
        **dict.fromkeys(("seconds", "bytes"), FIGURE),
        "change": NUMBERS,
    },
    probe=None,
)
