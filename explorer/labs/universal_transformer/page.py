"""The page of the Universal Transformer: what it is asked, what it draws, what may be changed. Its texts stand in texts.py."""

from __future__ import annotations

from explorer.declared import lab_of, program_of
from explorer.figures.bertviz import VIEWS
from explorer.lab import FIGURE, NUMBERS, part
from explorer.labs import adaptive_depth
from explorer.labs.plane import in_one_plane
from explorer.labs.universal_transformer import about, texts, views
from explorer.program import Program
from explorer.views import View, in_bertviz, in_figure, noted, on_stage
from explorer.widgets import figure
from models.plane import Head
from models.universal_transformer.records import EXAMPLES, LIMIT, TASKS, Explanation, Request

EXPLAIN = "models.universal_transformer.explain:explain"
VECTORS = "models.universal_transformer.explain:vectors"
PLANES = "models.universal_transformer.explain:planes"
STEPS = dict.fromkeys(TASKS, (LIMIT, 4))  # and heads

PROGRAM: Program[Request, Explanation] = program_of(
    texts,
    views,
    about,
    explain=EXPLAIN,
    kind=Request,
    controls=views.CONTROLS,
    views=(
        on_stage("ponder", views.thinking, texts.PONDER),
        in_figure("difficulty", views.hard, at="side"),
        on_stage("attention", views.heads, {"empty": texts.NO_ATTENTION}, at="below"),
        View("lengths", lambda _value: figure.measured(about.longer()), at="below"),
        in_one_plane(PLANES, {"self": texts.KIND}, STEPS, Head("stories.self", 2, 1), name="universal-transformer", of="task"),
        in_bertviz(VIEWS, views.bertviz, neuron=VECTORS),
        noted(texts),
    ),
    change=adaptive_depth.changes("models.universal_transformer.explain:measure", views.WORDS, text="", question=""),
    examples=tuple(zip(EXAMPLES, texts.EXAMPLES, strict=True)),
)


LAB = lab_of(
    "universal_transformer",
    EXPLAIN,
    lambda: PROGRAM,
    EXAMPLES,
    texts,
    views,
    year=2019,
    paper="Universal Transformers",
    authors="Dehghani et al.",
    arxiv="1807.03819",
    licence="Apache-2.0: the stories, words and sums are made by this project's own seeded code, and so are the weights",
    ancestors=("translation", "act_rnn"),
    changed="depth",
    network=(
        part("position and step", "位置与步", "ask"),
        part("self-attention", "自注意力", "attention"),
        part("halting", "停止", "ponder"),
        part("the answer", "回答", "difficulty"),
    ),
    interventions=adaptive_depth.interventions(EXAMPLES[0]),
    exports={"ponder": FIGURE, "attention": FIGURE, "difficulty": FIGURE, "change": NUMBERS},
    probes=lambda: (Request("copy", "a", ""),),
)
