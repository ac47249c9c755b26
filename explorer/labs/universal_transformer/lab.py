"""The page of the Universal Transformer: its input, its pictures and its changes. Its texts stand
in texts.py."""

from __future__ import annotations

from explorer.contract import shared_texts as shared
from explorer.contract.lab import FIGURE, NUMBERS, name_part, name_shared_part
from explorer.figures.bertviz import VIEWS
from explorer.labs.universal_transformer import about, texts, views
from explorer.labs.universal_transformer.exercises import EXERCISES
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar
from explorer.page.views import (
    view_in_bertviz,
    view_in_figure,
    view_measured,
    view_notes,
    view_on_stage,
)
from explorer.panels import adaptive_computation
from explorer.panels.query_key_plane import place_plane
from models.explaining.query_key_plane import Head
from models.universal_transformer.records import EXAMPLES, LIMIT, TASKS, Explanation, Request

EXPLAIN = "models.universal_transformer.explain:explain"
VECTORS = "models.universal_transformer.explain:vectors"
PLANES = "models.universal_transformer.explain:planes"
STEPS = dict.fromkeys(TASKS, (LIMIT, 4))  # steps at most, and heads


LAB: Lab[Request, Explanation] = Lab(
    slug="universal_transformer",
    paper=Paper(2019, "Universal Transformers", "Dehghani et al.", "1807.03819"),
    licence=(
        "Apache-2.0: the stories, words and sums are made by this project's own seeded "
        "code, and so are the weights"
    ),
    ancestors=("translation", "act_rnn"),
    changed="depth",
    texts=texts,
    network=(
        name_part("position and step", "位置与步", "ask"),
        name_shared_part(shared.SELF_ATTENTION, "attention"),
        name_part("halting", "停止", "ponder"),
        name_shared_part(shared.THE_ANSWER, "difficulty"),
    ),
    request=Request,
    explain=EXPLAIN,
    controls=views.CONTROLS,
    views=(
        view_on_stage("ponder", views.draw_ponder, texts.PONDER),
        view_in_figure("difficulty", views.draw_hardness, at="side"),
        view_on_stage("attention", views.draw_heads, {"empty": texts.NO_ATTENTION}, at="below"),
        view_measured("lengths", about.draw_longer, at="below"),
        place_plane(
            PLANES,
            {"self": texts.KIND},
            STEPS,
            Head("stories.self", 2, 1),
            name="universal-transformer",
            of="task",
        ),
        view_in_bertviz(VIEWS, views.list_for_bertviz, neuron=VECTORS),
        view_notes(texts),
    ),
    bar=AnswerBar(texts.REGION, answer=views.answer, describe_warning=views.describe_warning),
    about=About(texts.KICKER, texts.SPOKEN, about.pairs, about.prose, about.curves),
    change=adaptive_computation.declare_change(
        "models.universal_transformer.explain:measure", views.WORDS, text="", question=""
    ),
    examples=EXAMPLES,
    titles=texts.EXAMPLES,
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions=adaptive_computation.list_interventions(EXAMPLES[0]),
    exercises=EXERCISES,
    exports={"ponder": FIGURE, "attention": FIGURE, "difficulty": FIGURE, "change": NUMBERS},
    probes=(Request("copy", "a", ""),),
)
