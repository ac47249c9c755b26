"""The page of adaptive computation time: what it is asked, what it draws, what may be changed. Its texts stand in texts.py."""

from __future__ import annotations

from explorer.declared import lab_of, program_of
from explorer.lab import FIGURE, NUMBERS, part
from explorer.labs import adaptive_depth
from explorer.labs.act_rnn import about, texts, views
from explorer.program import Program
from explorer.views import in_figure, noted, on_stage
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
        on_stage("ponder", views.mechanism, texts.PONDER),
        noted(texts, at="wide"),
        in_figure("difficulty", views.hard, first=lambda: about.difficulty(EXAMPLES[0].task), at="side"),
    ),
    change=adaptive_depth.changes("models.act_rnn.explain:measure", views.WORDS, text=""),
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
        part("the input", "输入", "ask"),
        part("one cell, again", "同一单元反复", "ponder"),
        part("halting unit", "停止单元", "change"),
        part("the answer", "回答", "difficulty"),
    ),
    interventions=adaptive_depth.interventions(EXAMPLES[0]),
    exports={"ponder": FIGURE, "difficulty": FIGURE, "change": NUMBERS},
    probes=lambda: (Request("parity", "1"), Request("addition", "1+1")),
)
