"""The page of adaptive computation time: its input, its pictures and its changes. Its texts stand
in texts.py."""

from __future__ import annotations

from explorer.contract.lab import FIGURE, NUMBERS, name_part
from explorer.labs.act_rnn import about, texts, views
from explorer.page.declared import lab_of, program_of
from explorer.page.program import Program
from explorer.page.views import view_in_figure, view_notes, view_on_stage
from explorer.panels import adaptive_computation
from models.act_rnn.records import EXAMPLES, Explanation, Request

EXPLAIN = "models.act_rnn.explain:explain"

PROGRAM: Program[Request, Explanation] = program_of(
    texts,
    views,
    about,
    explain=EXPLAIN,
    kind=Request,
    controls=views.CONTROLS,
    views=(
        view_on_stage("ponder", views.draw_ponder, texts.PONDER),
        view_notes(texts, at="wide"),
        view_in_figure(
            "difficulty",
            views.draw_hardness,
            first=lambda: about.draw_difficulty(EXAMPLES[0].task),
            at="side",
        ),
    ),
    change=adaptive_computation.declare_change(
        "models.act_rnn.explain:measure", views.WORDS, text=""
    ),
    examples=tuple(zip(EXAMPLES, texts.EXAMPLES, strict=True)),
)


LAB = lab_of(
    "act_rnn",
    EXPLAIN,
    lambda: PROGRAM,
    EXAMPLES,
    texts,
    views,
    year=2016,
    paper="Adaptive Computation Time for Recurrent Neural Networks",
    authors="Graves",
    arxiv="1603.08983",
    licence=texts.LICENCE["en"],
    ancestors=(),
    changed="depth",
    network=(
        name_part("the input", "输入", "ask"),
        name_part("one cell, again", "同一单元反复", "ponder"),
        name_part("halting unit", "停止单元", "change"),
        name_part("the answer", "回答", "difficulty"),
    ),
    interventions=adaptive_computation.list_interventions(EXAMPLES[0]),
    exports={"ponder": FIGURE, "difficulty": FIGURE, "change": NUMBERS},
    probes=lambda: (Request("parity", "1"), Request("addition", "1+1")),
)
