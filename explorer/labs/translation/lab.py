"""The page of the translation Transformer: its input, its pictures and its changes. Its texts stand
in texts.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import gradio as gr

from explorer.components.bertviz import ENCODER_DECODER
from explorer.components.figure import place_run_figure
from explorer.contract import shared_texts as shared
from explorer.contract.lab import FIGURE, READ_AGAIN, name_part, name_shared_part
from explorer.contract.labels import quote_text
from explorer.figures.bertviz import VIEWS
from explorer.labs.translation import about, change, panels, texts, views
from explorer.labs.translation.exercises import EXERCISES
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import View, view_in_bertviz, view_on_stage
from explorer.panels.query_key_plane import place_plane
from explorer.panels.translation import LICENCE
from models.explaining.query_key_plane import Head
from models.translation.records import EXAMPLES, Explanation, Request, Step

GENERATE = "models.translation.explain:generate"
MEASURE = "models.translation.explain:measure"
VECTORS = "models.translation.vectors:vectors"
PLANES = "models.translation.vectors:planes"
FIRST = Head("encoder", 1, 0)  # the head whose query–key plane shows most


def place_roles(value: Mapping[str, object] | None) -> gr.HTML:
    """Place the figure of who did what to whom, as wide as the page."""
    with gr.Column(elem_classes=["tfe-bench"]):
        return place_run_figure("roles", value or None)


LAB: Lab[Request, Explanation, Explanation, Step] = Lab(
    slug="translation",
    paper=Paper(2017, "Attention Is All You Need", "Vaswani et al.", "1706.03762"),
    licence=LICENCE,
    ancestors=("rnn_attention",),
    changed="input",
    texts=texts,
    network=(
        (
            name_part("English, positions", "英文与位置", "positions", positions="open"),
            name_shared_part(shared.SELF_ATTENTION, "attention", kind="encoder"),
        ),
        (
            name_part("German so far", "已写的德文", "forced", forced="open"),
            name_shared_part(shared.SELF_ATTENTION, "attention", kind="decoder"),
            name_shared_part(shared.CROSS_ATTENTION, "attention", kind="cross"),
            name_part("next word", "下一个词", "beam", beam="open"),
        ),
    ),
    request=Request,
    explain=GENERATE,
    controls=views.controls,
    views=(
        view_on_stage("attention", views.draw_attention, at="above"),
        View("roles", place_roles, views.draw_roles, at="below"),
        *panels.PANELS,
        place_plane(PLANES, texts.KINDS, about.list_head_sizes, FIRST, name="translation"),
        view_in_bertviz(VIEWS, views.list_for_bertviz, note=ENCODER_DECODER, neuron=VECTORS),
    ),
    bar=AnswerBar(
        texts.REGION,
        run=texts.RUN,
        answer=views.answer,
        describe_warning=views.describe_warning,
        lines=views.lines,
        describe_endings=views.describe_endings,
        pick=views.pick,
        items=views.items,
        progress=views.progress,
        draw_partial_answer=views.draw_partial_answer,
    ),
    about=About(texts.KICKER, texts.SPOKEN, about.pairs, about.prose, about.curves),
    change=Change(change.difference, MEASURE, change.ask_to_translate_again),
    examples=EXAMPLES,
    titles=[quote_text(one.sentence) for one in EXAMPLES],
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "silence": replace(EXAMPLES[0], silenced=(("cross", 0, 1),)),
        "hide": replace(EXAMPLES[0], hidden=(1,)),
        "parts": replace(EXAMPLES[0], without=("position",)),
    },
    exercises=EXERCISES,
    exports={
        **dict.fromkeys(("attention", "weight", "beam", "forced"), FIGURE),
        "change": READ_AGAIN,
        "positions": FIGURE * 3,
    },
    probes=(Request("A dog runs."),),
)
