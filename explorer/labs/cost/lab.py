"""The page of the cost lab: its experiments, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from explorer.components.figure import place_run_figure
from explorer.contract import shared_texts as shared
from explorer.contract.control_kinds import Value
from explorer.contract.lab import FIGURE, NUMBERS, name_part, name_shared_part
from explorer.labs.cost import about, clock, heads, scale, texts, views
from explorer.labs.cost.change import describe_change
from explorer.labs.cost.exercises import EXERCISES
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import At, view_in_figure, view_notes, view_placed
from models.cost.records import EXAMPLES, Explanation, Point, Request

EXPLAIN = "models.cost.explain:explain"
MainFigure: TypeAlias = tuple[str, Callable[[Explanation, Request, str], Value | None], At]


TASKS: Mapping[str, tuple[MainFigure, ...]] = {
    "clock": (
        ("clock", clock.draw_clock, "wide"),
        ("paper", clock.draw_operations, "beside"),
        ("far", clock.draw_path_lengths, "side"),
    ),
    "scale": (
        ("hardens", scale.draw_entropy, "wide"),
        ("rows", scale.draw_rows, "wide"),
        ("slopes", scale.draw_gradients, "beside"),
        ("scores", scale.draw_scores, "side"),
    ),
    "heads": (
        ("filtered", heads.draw_filtered, "wide"),
        ("shifts", heads.draw_reach, "wide"),
        ("each", heads.draw_maps, "beside"),
        ("errors", heads.draw_errors, "side"),
    ),
}
FAMILY = ("seconds", "bytes")


def place_chart(name: str) -> object:
    """Place a chart of the whole family, which no run changes."""
    return place_run_figure(name, about.draw_chart(name), main=True)


LAB: Lab[Request, Explanation, Explanation, Point] = Lab(
    slug="cost",
    paper=Paper(2017, "Attention Is All You Need, table 1", "Vaswani et al.", "1706.03762"),
    licence=texts.LICENCE,
    ancestors=("translation",),
    changed="measured",
    texts=texts,
    network=(
        name_part("length and width", "长度与宽度", "ask"),
        name_shared_part(shared.PATH, "far"),
        name_part("operations", "运算", "paper"),
        name_part("time", "时间", "clock"),
        name_part("scores", "分数", "scores"),
        name_part("softmax", "softmax", "hardens"),
        name_part("heads", "头", "filtered"),
        name_part("the whole family", "整个家族", "seconds"),
    ),
    request=Request,
    explain=EXPLAIN,
    controls=views.controls,
    views=(
        *(
            view_in_figure(
                name,
                draw,
                main=True,
                at=at,
                task=task,
                grow=clock.draw_partial_clock if name == "clock" else None,
            )
            for task, figures in TASKS.items()
            for name, draw, at in figures
        ),
        *(view_placed(what, partial(place_chart, what)) for what in FAMILY),
        view_notes(texts),
    ),
    bar=AnswerBar(texts.REGION, run=texts.RUN, progress=clock.progress),
    about=About(texts.KICKER, texts.SPOKEN, about.pairs, about.prose),
    change=Change(describe_change),
    examples=EXAMPLES,
    titles=texts.EXAMPLES,
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "window": Request(length=256, width=64, window=256),
        "fused": Request(length=256, width=64, fused=False),
        "power": replace(EXAMPLES[1], power=0.0),
        "alpha": replace(EXAMPLES[3], alpha=1.0),
        "without": replace(EXAMPLES[3], without=4),
    },
    exercises=EXERCISES,
    exports={
        **{name: FIGURE for figures in TASKS.values() for name, *_ in figures},
        **dict.fromkeys(FAMILY, FIGURE),
        "change": NUMBERS,
    },
    probes=(),
)
